// Compiled, never run: each line that must not compile has a mark, and the compiler refuses a mark without an error.
import conventions, { serverOptions } from '@concordat/conventions'
import { collection } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { type StandardSchemaTypeProvider, withJsonSchema } from '@concordat/standard-schema'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'
import * as v from 'valibot'
import { z } from 'zod'

const app = Fastify(serverOptions()).withTypeProvider<StandardSchemaTypeProvider>()
await app.register(conventions, { publicUrl: 'https://api.example.com', versions: { 1: {} }, authentication: false })

const Order = z.object({ id: z.string(), total: z.number(), placed: z.date().transform(String).pipe(z.string()) })
const orders = collection(Order)({
  name: 'orders',
  style: 'page',
  id: 'id',
  defaultSort: ['placed'],
  sort: { keys: ['placed', 'total'] },
  filter: { total: ['gte'], placed: ['prefix'] }
})
// @ts-expect-error – the resource has no name
collection(Order)({ name: 'orders', style: 'page', id: 'id', defaultSort: ['name'], sort: { keys: ['name'] } })

const Lines = v.object({ count: v.pipe(v.string(), v.transform(Number)), note: v.optional(v.string(), '') })
const stored = [{ id: '1', total: 2, placed: new Date() }]

await app.apiVersion(1, async (v1) => {
  v1.post(
    '/zod',
    { schema: { body: z.object({ at: z.coerce.date(), n: z.int().default(1) }), response: { 201: Order } } },
    async (request, reply) => {
      expectTypeOf(request.body).toEqualTypeOf<{ at: Date; n: number }>()
      return reply.created('/orders/1', { id: '1', total: 2, placed: request.body.at })
    }
  )
  // @ts-expect-error – the schema takes a Date
  v1.get('/zod', { schema: { response: { 200: Order } } }, async () => ({ id: '1', total: 2, placed: '2026-01-01' }))
  v1.get('/zod/list', { config: { collection: orders }, schema: { response: { 200: z.array(Order) } } }, async (request, reply) => {
    const query = request.listQuery(orders)
    expectTypeOf(query.conditions[0]?.field).toEqualTypeOf<'total' | 'placed' | undefined>()
    return reply.page(runArray(stored, query))
  })
  v1.post('/valibot', { schema: { body: toStandardJsonSchema(Lines), response: { 204: { type: 'null' } } } }, async (request, reply) => {
    expectTypeOf(request.body).toEqualTypeOf<{ count: number; note: string }>()
    return reply.noContent()
  })
  v1.post(
    '/described',
    { schema: { body: withJsonSchema(Lines, () => ({})), response: { 204: { type: 'null' } } } },
    async (request, reply) => {
      expectTypeOf(request.body).toEqualTypeOf<{ count: number; note: string }>()
      return reply.noContent()
    }
  )
  v1.post('/arktype', { schema: { body: type({ name: 'string' }), response: { 204: { type: 'null' } } } }, async (request, reply) => {
    expectTypeOf(request.body).toEqualTypeOf<{ name: string }>()
    return reply.noContent()
  })
})
