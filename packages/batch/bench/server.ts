import batch from '@concordat/batch'
import Fastify from 'fastify'

const text = { type: 'string' }
const product = { type: 'object', required: ['id', 'name', 'unitPrice'], properties: { id: text, name: text, unitPrice: text } }
const change = { type: 'object', required: ['name'], properties: { name: text } }

export async function serve() {
  const app = Fastify()
  await app.register(batch)
  app.get<{ Params: { id: string } }>('/products/:id', { schema: { response: { 200: product } } }, async ({ params }) => ({
    id: params.id,
    name: 'Chai',
    unitPrice: '12.50'
  }))
  app.put<{ Params: { id: string }; Body: { name: string } }>(
    '/products/:id',
    { schema: { body: change, response: { 200: product } } },
    async ({ params, body }) => ({ id: params.id, name: body.name, unitPrice: '12.50' })
  )
  app.batch('/product-batches', { paths: ['/products'] })
  // Cost of the same operations with Fastify's own `app.inject`.
  app.post<{ Body: { operations: { method: 'GET'; path: string; body?: object }[] } }>('/injected', async ({ body }) => {
    const outcomes: unknown[] = []
    for (const { method, path, body: payload } of body.operations) {
      const { statusCode, body: response } = await app.inject({ method, url: path, ...(payload && { payload }) })
      outcomes.push({ status: statusCode, body: JSON.parse(response) as unknown })
    }
    return outcomes
  })
  return { app }
}
