import authentication, { createApiKey, memoryApiKeyStore, ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import Fastify from 'fastify'

const item = {
  id: '0190d1f0-6b5c-7cc4-9d5c-1f0f3c2f9a11',
  name: 'Chai',
  unitPrice: '18.00',
  currency: 'EUR',
  unitsInStock: 39,
  discontinued: false
}
const text = { type: 'string' }
const itemSchema = {
  type: 'object',
  required: Object.keys(item),
  properties: {
    id: text,
    name: text,
    unitPrice: text,
    currency: text,
    unitsInStock: { type: 'integer' },
    discontinued: { type: 'boolean' }
  }
}

const issuer = { issuer: 'https://tokens.example.com', audience: 'products' }

export async function serve(way: string, credential: string) {
  const algorithm = (['HS256', 'RS256', 'ES256', 'EdDSA'] as const).find((name) => name === credential) ?? 'ES256'
  const kit = testKit({ ...issuer, algorithm })
  const { key, record } = createApiKey({ client: 'kiosk', permissions: ['products:read'] })
  const app = Fastify()
  if (way !== 'bare') {
    await app.register(authentication, {
      issuers: [ownTokens({ ...issuer, keys: kit.keys })],
      permissions: ['products:read'],
      revocations: { staleMs: 0, isRevoked: () => false },
      apiKeys: { store: memoryApiKeyStore([record]), permissions: ['products:read'] },
      cacheSeconds: way === 'verified' ? 0 : 60
    })
  }
  const config = way === 'public' ? { public: true } : { permissions: ['products:read'] }
  app.get('/products/:id', { config, schema: { response: { 200: itemSchema } } }, async () => item)
  const signed = () => kit.headers({ scope: 'products:read', exp: Math.floor(Date.now() / 1000) + 900 })
  return { app, headers: credential === 'API key' ? { 'x-api-key': key } : signed() }
}
