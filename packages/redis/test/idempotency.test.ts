import { AsyncLocalStorage } from 'node:async_hooks'
import { hash } from 'node:crypto'
import idempotency, { idempotencyHttpContract, idempotencyStoreContract } from '@concordat/idempotency'
import { fromIoredis, type Redis } from '@concordat/redis'
import { redisIdempotency } from '@concordat/redis/idempotency'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { until } from '@concordat/test-harness/until'
import Fastify from 'fastify'
import { Redis as Ioredis } from 'ioredis'
import t, { type Test } from 'tap'
import { clients, freshPrefix, onServer, server } from './server.ts'

// Most of them wait for leases, and each has a key of its own.
const casesAtOnce = 4
const key = 'k'.repeat(43)
const terms = { leaseMilliseconds: 60_000, lifetimeMilliseconds: 60_000, takesOver: true }

for (const [name, connect] of Object.entries(clients)) {
  const storesOf = async (t: Test) => {
    const prefix = freshPrefix(t)
    const stores = [redisIdempotency((await connect(t)).redis, { prefix }), redisIdempotency((await connect(t)).redis, { prefix })] as const
    t.teardown(async () => {
      for (const store of stores) await store.close?.()
    })
    return stores
  }

  t.test(`idempotency keys by ${name}, raced by two clients`, onServer, async (t) => {
    const [one, two] = await storesOf(t)
    idempotencyStoreContract(casesOf(t, casesAtOnce), () => one, { createSecond: () => two })
  })

  t.test(`the rows over HTTP by ${name}, on two clients [S7] [I1] [I2] [I3] [I4] [I5]`, onServer, async (t) => {
    const stores = await storesOf(t)
    // The services of each case use the two clients in turn.
    const services = new AsyncLocalStorage<{ count: number }>()
    const createStore = () => {
      const own = services.getStore() as { count: number }
      own.count += 1
      // It outlives the service that it is given to.
      return { ...stores[(own.count % 2) as 0 | 1], close: async () => {} }
    }
    const test = casesOf(t, casesAtOnce)
    idempotencyHttpContract((title, run) => test(title, () => services.run({ count: 0 }, run)), {
      createServer: () => Fastify(),
      createStore
    })
  })
}

type Connect = (t: Test) => Promise<{ redis: Redis; kill: () => Promise<void> }>
const connect = clients['ioredis'] as Connect

t.test('a new key costs two round trips, and a replay one', onServer, async (t) => {
  const { redis } = await connect(t)
  let trips = 0
  const counted: Redis = {
    ...redis,
    run(...told) {
      trips += 1
      return redis.run(...told)
    }
  }
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(idempotency, { scope: () => 'ada', store: redisIdempotency(counted, { prefix: freshPrefix(t) }) })
  app.post('/orders', { config: { idempotency: 'required' } }, async () => ({}))
  await app.ready()
  const tripsOf = async () => {
    trips = 0
    t.equal((await app.inject({ method: 'POST', url: '/orders', payload: {}, headers: { 'idempotency-key': 'k' } })).statusCode, 200)
    return trips
  }
  t.strictSame([await tripsOf(), await tripsOf()], [2, 1])
})

t.test('at boot it is told what about Redis would let requests run twice: eviction, and nothing on disk', onServer, async (t) => {
  const { redis } = await connect(t)
  const configured = (policy: string, log: string): Redis => ({
    ...redis,
    run: async (...told) =>
      String(await redis.run(...told))
        .replace(/maxmemory_policy:\S+/, `maxmemory_policy:${policy}`)
        .replace(/aof_enabled:\d/, `aof_enabled:${log}`)
  })
  t.strictSame(await redisIdempotency(configured('noeviction', '1')).check?.(), [])
  t.match(await redisIdempotency(configured('allkeys-lru', '1')).check?.(), [/maxmemory-policy allkeys-lru.*Set it to noeviction/])
  t.match(await redisIdempotency(configured('noeviction', '0')).check?.(), [/Set appendonly to yes/])
  t.match(await redisIdempotency({ ...redis, run: async () => '' }).check?.(), [/maxmemory-policy unknown/, /appendonly/])
})

t.test('records lie in slots of their own, and leave Redis by themselves', onServer, async (t) => {
  const { redis } = await connect(t)
  const prefix = freshPrefix(t)
  await redisIdempotency(redis, { prefix }).begin(key, key, { ...terms, lifetimeMilliseconds: 5000 })
  const source = `return redis.call('PTTL', KEYS[1])`
  const record = `{${prefix}:idempotency:${key}}`
  const left = Number(await redis.run({ source, sha: hash('sha1', source) }, [record]))
  t.ok(left > 0 && left <= 5000)
})

t.test('who waits is told again after the connection for it broke, and looks at intervals where there is none', onServer, async (t) => {
  const { redis, kill } = await connect(t)
  const prefix = freshPrefix(t)
  const store = redisIdempotency(redis, { prefix })
  const told = async () => {
    for (;;) {
      const begun = await store.begin(key, key, terms)
      if (begun.state !== 'claimed') throw new Error(begun.state)
      const late = AbortSignal.timeout(200)
      const changed = store.changed?.(key, late)
      await store.release(begun.claim)
      await changed
      if (!late.aborted) return true
    }
  }
  t.equal(await told(), true)
  await kill()
  // Until there is a connection again, the store rejects.
  await until(() => told().catch(() => false))
  await store.close?.()
  const deaf = redisIdempotency({ ...redis, listen: () => Promise.reject(new Error('no channels here')) }, { prefix })
  await deaf.changed?.(key, AbortSignal.timeout(20))
  await deaf.changed?.(key, AbortSignal.timeout(20))
  await deaf.close?.()
  await redisIdempotency(redis, { prefix }).close?.()
})

t.test('in a cluster, what is published is heard on one of its nodes', onServer, async (t) => {
  const prefix = freshPrefix(t)
  const client = new Ioredis(server)
  t.teardown(() => client.disconnect())
  const evalsha = client.evalsha.bind(client)
  const run = client.eval.bind(client)
  const clusterOf = (nodes: readonly Ioredis[]) => fromIoredis({ evalsha, eval: run, nodes: () => nodes })
  const heard = Promise.withResolvers<string>()
  const end = await clusterOf([client]).listen(`${prefix}:channel`, { heard: heard.resolve, lost: () => {} })
  await client.publish(`${prefix}:channel`, 'news')
  t.equal(await heard.promise, 'news')
  await end()
  await t.rejects(clusterOf([]).listen('channel', { heard: () => {}, lost: () => {} }), { message: /has no node that could be heard/ })
})

t.test('a prefix that would part the keys, or that is none, is refused', async (t) => {
  t.throws(() => redisIdempotency({} as Redis, { prefix: 'a{b}' }), { message: /is no plain name/ })
})
