import webhooks, { type WebhooksOptions, webhooksErrors } from '@concordat/webhooks'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'

const app = Fastify()
app.register(webhooks, { maxPathLength: 512 })
// @ts-expect-error a length is a number
app.register(webhooks, { maxPathLength: '512' })
app.get('/', { config: { webhooks: false } }, () => 'here')

expectTypeOf<WebhooksOptions['maxPathLength']>().toEqualTypeOf<number | undefined>()
expectTypeOf(webhooksErrors.definitions).toBeObject()
