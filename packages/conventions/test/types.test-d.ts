// Compiled, never run: each line that must not compile has a mark, and the compiler refuses a mark without an error.
import conventions, { serverOptions } from '@concordat/conventions'
import type { FastifyPluginAsyncJsonSchemaToTs, JsonSchemaToTsProvider } from '@fastify/type-provider-json-schema-to-ts'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { expectTypeOf } from 'expect-type'
import Fastify, { type FastifyContextConfig } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'

const Order = Type.Object({ id: Type.String(), total: Type.String() })
const NewOrder = Type.Object({ quantity: Type.Integer() })

const app = Fastify({ ...serverOptions({ trustProxy: ['10.0.0.0/8'] }), logger: true }).withTypeProvider<TypeBoxTypeProvider>()
await app.register(conventions, {
  publicUrl: 'https://api.example.com',
  versions: { 1: { status: 'current' } },
  authentication: false,
  envelope: false
})
await app.apiVersion(1, async (v1) => {
  v1.post('/orders', { schema: { body: NewOrder, response: { 201: Order } } }, async (request, reply) => {
    expectTypeOf(request.body).toEqualTypeOf<{ quantity: number }>()
    expectTypeOf(request.apiVersion).toEqualTypeOf<string>()
    expectTypeOf(request.locale).toEqualTypeOf<string>()
    return reply.created('/orders/1', { id: '1', total: '2.00' })
  })
  // @ts-expect-error – the resource has no total
  v1.get('/orders/:id', { schema: { response: { 200: Order } } }, async () => ({ id: '1' }))
})

// @ts-expect-error – a version has no such status
await app.register(conventions, { versions: { 1: { status: 'beta' } } })
// @ts-expect-error – limits are numbers
serverOptions({ maxHeaderBytes: '16 KiB' })
// @ts-expect-error – proxies are named, not counted
serverOptions({ trustProxy: 1 })

// Plain JSON Schema has types with its own type provider.
const plainOrder = {
  type: 'object',
  required: ['id'],
  additionalProperties: false,
  properties: { id: { type: 'string' }, note: { type: 'string' } }
} as const
const plain = Fastify(serverOptions()).withTypeProvider<JsonSchemaToTsProvider>()
await plain.register(conventions, { publicUrl: 'https://api.example.com', versions: { 1: {} }, authentication: false })
await plain.apiVersion(1, async (v1) => {
  v1.post('/orders', { schema: { body: plainOrder, response: { 201: plainOrder } } }, async (request, reply) => {
    expectTypeOf(request.body).toEqualTypeOf<{ id: string; note?: string }>()
    return reply.created('/orders/1', request.body)
  })
  // @ts-expect-error – the resource has no id
  v1.get('/orders/:id', { schema: { response: { 200: plainOrder } } }, async () => ({ note: 'x' }))
})

// Modules of routes of a type provider are registered in a version as they are.
const zodRoutes: FastifyPluginAsyncZod = async (v1) => void v1.get('/orders', async () => [])
const plainRoutes: FastifyPluginAsyncJsonSchemaToTs = async (v1) => {
  v1.post('/orders', { schema: { body: plainOrder } }, async ({ body }) => expectTypeOf(body.id).toEqualTypeOf<string>())
}
await app.apiVersion(1, zodRoutes)
await app.apiVersion(1, plainRoutes)
await plain.apiVersion(1, plainRoutes)

// The types of Fastify accept any key in the config of a route. Where it is typed, a misspelt key or member is an error of the compiler too.
app.put('/orders/:id', { config: { audit: true, otherConfigKeys: ['audit'] } }, async () => ({}))
const rateLimit = { limit: 1, windowSeconds: 1 }
const known: FastifyContextConfig = { requireIfMatch: true, rateLimit, idempotency: { key: 'accepted' }, otherConfigKeys: ['audit'] }
void known
const wrong: FastifyContextConfig[] = [
  // @ts-expect-error – requireIfMatch
  { requireIfMach: true },
  // @ts-expect-error – maxAgeSeconds
  { cache: { public: true, maxAgeSecond: 60 } },
  // @ts-expect-error – scope
  { rateLimit: { ...rateLimit, scopes: 'client' } },
  // @ts-expect-error – waitSeconds
  { idempotency: { key: 'accepted', waitSecond: 1 } },
  // @ts-expect-error – scriptSrc
  { contentSecurityPolicy: { defaultSrc: [], scriptSrcs: ["'self'"] } },
  // @ts-expect-error – errors
  { openapi: { headers: {}, error: ['RESOURCE_NOT_FOUND'] } },
  // @ts-expect-error – id
  { projection: { id: 'id', ids: ['id'] } },
  // @ts-expect-error – a list
  { otherConfigKeys: 'audit' }
]
void wrong
