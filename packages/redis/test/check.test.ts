import { checkRedis, fromIoredis } from '@concordat/redis'
import { ownRedis } from '@concordat/test-harness/own-redis'
import { Redis as Ioredis } from 'ioredis'
import t from 'tap'

t.test('a check fails while the memory of Redis is full or Redis is away, and succeeds otherwise', async (t) => {
  const own = await ownRedis()
  if (own === undefined) return t.comment('not run: Redis is not installed here')
  t.teardown(() => own.stop())
  const client = new Ioredis(own.url, { maxRetriesPerRequest: 0 }).on('error', () => {})
  t.teardown(() => client.disconnect())
  const redis = fromIoredis(client)
  await t.resolves(checkRedis(redis))
  await client.config('SET', 'maxmemory', '1')
  t.equal(await client.ping(), 'PONG')
  await t.rejects(checkRedis(redis), /OOM/)
  await client.config('SET', 'maxmemory', '0')
  await t.resolves(checkRedis(redis))
  await client.acl('SETUSER', 'service', 'on', '>secret', '~{orders:*', '+@all')
  await client.auth('service', 'secret')
  await t.resolves(checkRedis(redis, { prefix: 'orders' }), 'with the rights to its own keys only')
  client.disconnect()
  return t.rejects(checkRedis(redis))
})
