import idempotency, { memoryStore } from '@concordat/idempotency'
import Fastify from 'fastify'

const text = { type: 'string' }
const line = { type: 'object', required: ['product', 'quantity'], properties: { product: text, quantity: { type: 'integer' } } }
const schema = {
  body: {
    type: 'object',
    required: ['customer', 'lines'],
    properties: { customer: text, note: text, lines: { type: 'array', items: line } }
  },
  response: {
    201: { type: 'object', required: ['id', 'customer'], properties: { id: text, customer: text, lines: { type: 'array', items: line } } }
  }
}

export async function serve(way: string) {
  const app = Fastify()
  if (way !== 'bare') await app.register(idempotency, { scope: () => 'ada', store: memoryStore({ maximumKeys: 1e7, maximumBytes: 4e9 }) })
  let orders = 0
  app.post<{ Body: { customer: string; lines: unknown[] } }>(
    '/orders',
    { schema, ...(way !== 'bare' && { config: { idempotency: 'required' } }) },
    async ({ body }, reply) => {
      orders += 1
      reply.code(201).header('location', `/orders/${orders}`)
      return { id: String(orders), ...body }
    }
  )
  return { app }
}
