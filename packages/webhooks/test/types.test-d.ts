import webhooks, { type Subscription, type WebhooksOptions, webhookRoutes } from '@concordat/webhooks'
import { createReceiver, type WebhookEvent } from '@concordat/webhooks/receiver'
import { expectTypeOf } from 'expect-type'
import Fastify, { type FastifyRequest } from 'fastify'

const app = Fastify()
const events = { 'order.created': { description: 'An order was placed.', schema: {}, example: {} } }
app.register(webhooks, { events, mayReceive: 'everyone' })
app.register(webhooks, { events, mayReceive: async (subscriptions, { type }) => subscriptions.filter(({ owner }) => owner !== type) })
// @ts-expect-error mayReceive is required
app.register(webhooks, { events })
// @ts-expect-error an event must have a schema
app.register(webhooks, { events: { 'order.created': { description: '', example: {} } }, mayReceive: 'everyone' })
app.register(webhookRoutes, { owner: (request) => request.id, routeConfig: () => ({}) })
app.register(createReceiver({ keys: [], onEvent: ({ type }) => void type }))

expectTypeOf<typeof app.webhooks>()
  .toHaveProperty('emit')
  .returns.resolves.toEqualTypeOf<{ readonly id: string; readonly deliveries: number }>()
expectTypeOf<WebhooksOptions['mayReceive']>().extract<Function>().parameter(0).toEqualTypeOf<readonly Subscription[]>()
expectTypeOf<Parameters<typeof createReceiver>[0]['onEvent']>().parameters.toEqualTypeOf<[WebhookEvent, FastifyRequest]>()
