// One server of the benchmark, started as a child process: node server.ts <kind>. It tells its parent where it listens and what
// to send, and answers each message with the processor time it has used so far.
import authentication, { createApiKey, memoryApiKeyStore, ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/test-kit'
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

const kind = process.argv[2] as string
const issuer = { issuer: 'https://tokens.example.com', audience: 'products' }
const algorithm = (['HS256', 'RS256', 'ES256', 'EdDSA'] as const).find((name) => kind.startsWith(name)) ?? 'ES256'
const kit = testKit({ ...issuer, algorithm })
const { key, record } = createApiKey({ client: 'kiosk', permissions: ['products:read'] })

const app = Fastify()
if (kind !== 'bare') {
  await app.register(authentication, {
    issuers: [ownTokens({ ...issuer, keys: kit.keys })],
    permissions: ['products:read'],
    revocations: { staleMilliseconds: 0, isRevoked: () => false },
    apiKeys: { store: memoryApiKeyStore([record]), permissions: ['products:read'] },
    cacheEntries: kind.endsWith('each time') ? 0 : 10_000
  })
}
const config = kind === 'public' ? { public: true } : { permissions: ['products:read'] }
app.get('/products/:id', { config, schema: { response: { 200: itemSchema } } }, async () => item)

const address = await app.listen({ host: '127.0.0.1', port: 0 })
const headers =
  kind === 'API key' ? { 'x-api-key': key } : kit.headers({ scope: 'products:read', exp: Math.floor(Date.now() / 1000) + 900 })
process.on('message', () => process.send?.(process.cpuUsage()))
process.on('disconnect', () => process.exit())
process.send?.({ url: `${address}/products/${item.id}`, headers })
