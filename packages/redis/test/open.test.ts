import { openRedis } from '@concordat/redis/open'
import { redisRateLimitStore } from '@concordat/redis/rate-limits'
import { ownRedis } from '@concordat/test-harness/own-redis'
import { until } from '@concordat/test-harness/until'
import t from 'tap'
import { freshPrefix, onServer, server } from './server.ts'

t.test('opens a Redis by its URL for the stores', onServer, async (t) => {
  const prefix = freshPrefix(t)
  const opened = await openRedis(server, { prefix })
  t.teardown(() => opened.close())
  await t.resolves(opened.check())
  const store = redisRateLimitStore(opened.redis, { prefix })
  t.match(await store.add('client', 1, 10, 60_000), { count: 1 })
})

t.test('a Redis that is not available is reported once, and used as soon as it is back', async (t) => {
  const errors: unknown[] = []
  const opened = await openRedis('redis://127.0.0.1:1', { onError: (error) => errors.push(error) })
  t.teardown(() => opened.close())
  t.equal(errors.length, 1)
  t.match(errors, [{ code: 'ECONNREFUSED' }])
  for (let attempt = 0; attempt < 3; attempt += 1) await t.rejects(opened.check())
  t.equal(errors.length, 1)
  await t.rejects(openRedis('redis://127.0.0.1:1', { prefx: 'a' } as never), {
    message: 'redis: options.prefx is unknown. Did you mean options.prefix?'
  })
})

t.test('anything but a redis:// or rediss:// URL is refused, without its text', async (t) => {
  for (const url of ['', 'redis://', '127.0.0.1:6379', '/run/redis.sock', 'http://:secret@127.0.0.1/']) {
    await t.rejects(openRedis(url), {
      name: 'TypeError',
      message: 'redis: openRedis: url must be a redis:// or rediss:// URL, not another text.'
    })
  }
  for (const url of [undefined, null, 6379, true]) {
    await t.rejects(openRedis(url as never), {
      name: 'TypeError',
      message: `redis: openRedis: url must be a redis:// or rediss:// URL, not ${url}.`
    })
  }
})

t.test('each outage of a Redis is reported once', async (t) => {
  const own = await ownRedis()
  if (own === undefined) return t.comment('not run: Redis is not installed here')
  const errors: unknown[] = []
  const silent = await openRedis(own.url)
  const opened = await openRedis(own.url, { onError: (error) => errors.push(error) })
  t.teardown(() => [silent, opened].forEach((one) => one.close()))
  await t.resolves(opened.check())
  await own.stop()
  await until(() => errors.length > 0)
  await t.rejects(opened.check())
  await t.rejects(silent.check())
  return t.equal(errors.length, 1)
})
