import openapi, { type OpenapiOptions } from '@concordat/openapi'
import { breakingChanges, type OpenapiDocument } from '@concordat/openapi/diff'
import { lintDocument } from '@concordat/openapi/lint'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'

const app = Fastify()
app.register(openapi, {
  versions: { 1: { deprecatedAt: new Date(), sunsetAt: '2028-01-01T00:00:00Z' } },
  lint: 'warning',
  reference: false
})
// @ts-expect-error – a path must start with a slash
app.register(openapi, { reference: 'reference' })
// @ts-expect-error – unknown severity
app.register(openapi, { lint: 'loud' })
app.get('/v1/orders', { config: { openapi: { errors: ['INSUFFICIENT_STOCK'] } } }, () => 'here')
app.get('/v1/health', { config: { operational: true, waivers: { Q10: 'There are three.' } } }, () => 'here')
// @ts-expect-error – a waiver without a reason
app.get('/v1/health', { config: { waivers: { Q10: true } } }, () => 'here')
app.get('/v1/hidden', { config: { openapi: false } }, () => 'here')

declare const document: OpenapiDocument
expectTypeOf(lintDocument(document)[0]?.rule).toEqualTypeOf<string | undefined>()
expectTypeOf(breakingChanges(document, document)[0]?.place).toEqualTypeOf<string | undefined>()
expectTypeOf<OpenapiOptions['lint']>().toEqualTypeOf<'error' | 'warning' | 'off' | undefined>()
