import type { FastifyInstance } from 'fastify'

const Product = { type: 'object', required: ['id', 'name'], properties: { id: { type: 'string' }, name: { type: 'string' } } }

/** Adds the API, which follows the conventions. */
export async function addApi(app: FastifyInstance): Promise<void> {
  await app.apiVersion(1, async (v1) => {
    v1.get('/products/:id', { config: { public: true }, schema: { response: { 200: Product } } }, async () => ({ id: '1', name: 'Tea' }))
  })
}
