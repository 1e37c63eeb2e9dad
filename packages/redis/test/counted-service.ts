// A process of the tests: node counted-service.ts <address of Redis> <prefix> <client> <what it does when the store fails>. An address has 20 requests a minute.
import rateLimiting from '@concordat/rate-limiting'
import { redisRateLimits } from '@concordat/redis/rate-limits'
import Fastify from 'fastify'
import { connected } from './connected.ts'

const [url = '', prefix = '', client = '', whenStoreFails = ''] = process.argv.slice(2)
const app = Fastify()
await app.register(rateLimiting, {
  addressLimit: { limit: 20, windowSeconds: 60 },
  store: redisRateLimits(await connected(url, client), { prefix }),
  storeTimeoutMilliseconds: 2000,
  whenStoreFails: whenStoreFails as 'countLocally' | 'refuse'
})
app.get('/orders', async () => [])

const address = await app.listen({ host: '127.0.0.1', port: 0 })
process.on('disconnect', () => process.exit())
process.send?.(address)
