// Compiled, never run: each line that must not compile has a mark, and the compiler refuses a mark without an error.
import conventions, { serverOptions } from '@concordat/conventions'
import type { JsonSchemaToTsProvider } from '@fastify/type-provider-json-schema-to-ts'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'

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
serverOptions({ maxBodyBytes: '1 MiB' })
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
