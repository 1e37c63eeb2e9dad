// A process of the tests: node counted-service.ts <database> <schema> <what it does when the store fails>. An address has 20 requests a minute.
import { fromPool } from '@concordat/postgres'
import { postgresRateLimits } from '@concordat/postgres/rate-limits'
import rateLimiting from '@concordat/rate-limiting'
import Fastify from 'fastify'
import { Pool } from 'pg'

const [connectionString = '', schema = '', whenStoreFails = ''] = process.argv.slice(2)
const app = Fastify()
await app.register(rateLimiting, {
  addressLimit: { limit: 20, windowSeconds: 60 },
  store: postgresRateLimits(fromPool(new Pool({ connectionString })), { schema }),
  storeTimeoutMilliseconds: 2000,
  whenStoreFails: whenStoreFails as 'countLocally' | 'refuse'
})
app.get('/orders', async () => [])

const address = await app.listen({ host: '127.0.0.1', port: 0 })
process.on('disconnect', () => process.exit())
process.send?.(address)
