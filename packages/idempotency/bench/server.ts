// One server of the benchmark, started as a child process: node server.ts <kind>. It tells its parent where it listens, and
// answers each message with the processor time it has used so far.
import idempotency, { memoryStore } from '@concordat/idempotency'
import Fastify from 'fastify'

const kind = process.argv[2]
const app = Fastify()
if (kind !== 'bare') {
  const store = memoryStore({ maximumKeys: 1e7, maximumBytes: 4e9 })
  await app.register(idempotency, { scope: () => 'ada', store })
}
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
let orders = 0
app.post<{ Body: { customer: string; lines: unknown[] } }>(
  '/orders',
  { schema, ...(kind !== 'bare' && { config: { idempotency: 'required' } }) },
  async ({ body }, reply) => {
    orders += 1
    reply.code(201).header('location', `/orders/${orders}`)
    return { id: String(orders), ...body }
  }
)
const address = await app.listen({ host: '127.0.0.1', port: 0 })
process.on('message', () => process.send?.(process.cpuUsage()))
process.on('disconnect', () => process.exit())
process.send?.(address)
