import conditionalCaching from '@concordat/conditional-caching'
import Fastify, { type FastifyInstance } from 'fastify'

const kinds: Readonly<Record<string, (app: FastifyInstance) => Promise<void>>> = {
  async bare() {},
  async caching(app) {
    await app.register(conditionalCaching)
  },
  async untagged(app) {
    await app.register(conditionalCaching, { cache: 'no-store' })
  }
}

const text = { type: 'string' }
const item = {
  id: '01937f6e-0000-7000-8000-000000000001',
  name: 'Chai',
  categoryId: '01937f6e-0000-7000-8000-000000000002',
  unitPrice: '18.00',
  currency: 'EUR',
  unitsInStock: 39,
  discontinued: false,
  createdAt: '2025-01-01T00:00:00.000Z',
  updatedAt: '2025-01-01T00:00:00.000Z'
}
const properties = {
  ...Object.fromEntries(Object.keys(item).map((name) => [name, text])),
  unitsInStock: { type: 'integer' },
  discontinued: { type: 'boolean' }
}
const product = { type: 'object', required: Object.keys(item), properties }
const list = { type: 'array', items: product }
const validator = () => ({ exists: true, etag: 7 })

const fifty = Array.from({ length: 50 }, () => ({ ...item }))
// About 20 KB.
const large = Array.from({ length: 80 }, () => ({ ...item }))

export async function serve(kind: string) {
  const app = Fastify()
  await kinds[kind]?.(app)
  app.get('/products/:id', { schema: { response: { 200: product } } }, async () => item)
  app.get('/pages/:id', { schema: { response: { 200: list } } }, async () => fifty)
  app.get('/large/:id', { schema: { response: { 200: list } } }, async () => large)
  app.get('/versioned/products/:id', { config: { validator }, schema: { response: { 200: product } } }, async () => item)
  app.get('/versioned/pages/:id', { config: { validator }, schema: { response: { 200: list } } }, async () => fifty)
  app.get(
    '/versioned/later/:id',
    { config: { validator: async () => validator() }, schema: { response: { 200: product } } },
    async () => item
  )
  return { app }
}
