import { createRequire } from 'node:module'
import rateLimiting from '@concordat/rate-limiting'
import Fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify'

const require = createRequire(import.meta.url)
const official = require('@fastify/rate-limit') as FastifyPluginAsync<{ max: number; timeWindow: number }>
const limit = { limit: 1e9, windowSeconds: 3600 }
const text = { type: 'string' }
const schema = { response: { 200: { type: 'object', required: ['id', 'name'], properties: { id: text, name: text } } } }

const kinds: Readonly<Record<string, (app: FastifyInstance) => Promise<void>>> = {
  async bare() {},
  async address(app) {
    await app.register(rateLimiting, { addressLimit: limit, overload: false })
  },
  async 'address-and-client'(app) {
    await app.register(rateLimiting, { addressLimit: limit, clientLimit: limit, client: () => ({ key: 'ada' }), overload: false })
  },
  async overload(app) {
    await app.register(rateLimiting, { addressLimit: false })
  },
  async official(app) {
    await app.register(official, { max: 1e9, timeWindow: 3_600_000 })
  }
}

export async function serve(kind: string) {
  const app = Fastify()
  await kinds[kind]?.(app)
  app.get('/products/:id', { schema }, async () => ({ id: '1', name: 'Chai' }))
  return { app }
}
