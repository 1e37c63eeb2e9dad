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

// Most cases wait for leases, and each case has its own key.
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

  t.test(`stores idempotency keys with ${name} while two clients compete`, onServer, async (t) => {
    const [one, two] = await storesOf(t)
    idempotencyStoreContract(casesOf(t, casesAtOnce), () => one, { createSecond: () => two })
  })

  t.test(`satisfies the contract over HTTP with two clients of ${name} [S7] [I1] [I2] [I3] [I4] [I5]`, onServer, async (t) => {
    const stores = await storesOf(t)
    // The services of each case alternate between the two clients.
    const services = new AsyncLocalStorage<{ count: number }>()
    const createStore = () => {
      const own = services.getStore() as { count: number }
      own.count += 1
      // The store outlives the service that uses it.
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

t.test('uses two round trips for a new key and one for a replay', onServer, async (t) => {
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

t.test('reports settings of Redis that let requests run twice: eviction, and no data on disk', onServer, async (t) => {
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

t.test('stores records in separate slots, and lets Redis expire them', onServer, async (t) => {
  const { redis } = await connect(t)
  const prefix = freshPrefix(t)
  await redisIdempotency(redis, { prefix }).begin(key, key, { ...terms, lifetimeMilliseconds: 5000 })
  const source = `return redis.call('PTTL', KEYS[1])`
  const record = `{${prefix}:idempotency:${key}}`
  const left = Number(await redis.run({ source, sha: hash('sha1', source) }, [record]))
  t.ok(left > 0 && left <= 5000)
})

t.test('notifies waiting requests again after their connection was lost, and lets them poll if there is none', onServer, async (t) => {
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
  // The store rejects until it is connected again.
  await until(() => told().catch(() => false))
  await store.close?.()
  const deaf = redisIdempotency({ ...redis, listen: () => Promise.reject(new Error('no channels here')) }, { prefix })
  await deaf.changed?.(key, AbortSignal.timeout(20))
  await deaf.changed?.(key, AbortSignal.timeout(20))
  await deaf.close?.()
  await redisIdempotency(redis, { prefix }).close?.()
})

t.test('receives the messages of a cluster on one of its nodes', onServer, async (t) => {
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
  await t.rejects(clusterOf([]).listen('channel', { heard: () => {}, lost: () => {} }), { message: /has no master node to subscribe to/ })
})

t.test('throws for a prefix that is not a plain name', async (t) => {
  t.throws(() => redisIdempotency({} as Redis, { prefix: 'a{b}' }), { message: /is not a plain name/ })
})
