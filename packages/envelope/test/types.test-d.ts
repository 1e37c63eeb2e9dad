// Compiled, never run: each line that must not compile has a mark, and the compiler refuses a mark without an error.
import envelope from '@concordat/envelope'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'

const Order = Type.Object({ id: Type.String(), total: Type.String(), note: Type.Optional(Type.String()) })
const app = Fastify().withTypeProvider<TypeBoxTypeProvider>()
await app.register(envelope)

app.get('/', { schema: { response: { 200: Order } } }, async () => ({ id: '1', total: '2.00' }))
app.get('/list', { schema: { response: { 200: Type.Array(Order) } } }, async () => [{ id: '1', total: '2.00' }])
app.post('/', { schema: { response: { 201: Order } } }, async (_request, reply) => {
  expectTypeOf(reply.created('/orders/1', { id: '1', total: '2.00' })).toEqualTypeOf<{ id: string; total: string; note?: string }>()
  return reply.link('up', '/orders').created('/orders/1', { id: '1', total: '2.00' })
})
app.delete('/', { schema: { response: { 204: Type.Null() } } }, async (_request, reply) => reply.noContent())
app.get('/file', { config: { envelope: false } }, async () => 'text')

// @ts-expect-error – a member has the wrong type
app.get('/', { schema: { response: { 200: Order } } }, async () => ({ id: 1, total: '2.00' }))
// @ts-expect-error – a member is missing
app.get('/', { schema: { response: { 200: Order } } }, async () => ({ id: '1' }))
// @ts-expect-error – the item is not a list
app.get('/', { schema: { response: { 200: Type.Array(Order) } } }, async () => ({ id: '1', total: '2.00' }))
// @ts-expect-error – created takes the resource of the schema
app.post('/', { schema: { response: { 201: Order } } }, async (_request, reply) => reply.created('/orders/1', { id: '1' }))
// @ts-expect-error – 204 is not declared
app.delete('/', { schema: { response: { 200: Order } } }, async (_request, reply) => reply.noContent())
// @ts-expect-error – false is the only value
app.get('/', { config: { envelope: true } }, async () => 'text')
app.get('/', { schema: { response: { 200: Order } } }, async (_request, reply) => {
  // @ts-expect-error – reply.send takes the resource of the schema
  return reply.send({ id: 1 })
})
