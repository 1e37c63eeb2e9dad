import { AsyncLocalStorage } from 'node:async_hooks'
import { hash } from 'node:crypto'
import idempotency from '@concordat/idempotency'
import { idempotencyStoreContract } from '@concordat/idempotency/testing'
import { fromIoredis, type Redis } from '@concordat/redis'
import { redisIdempotencyStore } from '@concordat/redis/idempotency'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { idempotencyHttpContract } from '@concordat/test-harness/idempotency-http-contract'
import { turns, until } from '@concordat/test-harness/until'
import Fastify from 'fastify'
import { Redis as Ioredis } from 'ioredis'
import t, { type Test } from 'tap'
import { clients, freshPrefix, onServer, server } from './server.ts'

// Most cases wait for leases, and each case has its own key.
const casesAtOnce = 4
const key = 'k'.repeat(43)
const client = 'c'.repeat(43)
const terms = { leaseMs: 60_000, lifetimeMs: 60_000, takesOver: true, client, maxClientBytes: 1e9 }

for (const [name, connect] of Object.entries(clients)) {
  const storesOf = async (t: Test) => {
    const prefix = freshPrefix(t)
    const stores = [
      redisIdempotencyStore((await connect(t)).redis, { prefix }),
      redisIdempotencyStore((await connect(t)).redis, { prefix })
    ] as const
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
    const create = () => {
      const own = services.getStore() as { count: number }
      own.count += 1
      // The store outlives the service that uses it.
      return { server: Fastify(), store: { ...stores[(own.count % 2) as 0 | 1], close: async () => {} } }
    }
    const test = casesOf(t, casesAtOnce)
    idempotencyHttpContract((title, run) => test(title, () => services.run({ count: 0 }, run)), create)
  })
}

type Connect = (t: Test) => Promise<{ redis: Redis; kill: () => Promise<void> }>
const connect = clients['ioredis'] as Connect

t.test('uses two round trips for a new key and one for a replay', onServer, async (t) => {
  const { redis } = await connect(t)
  let trips = 0
  const counted: Redis = {
    ...redis,
    run(...received) {
      trips += 1
      return redis.run(...received)
    }
  }
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(idempotency, { scope: () => 'ada', store: redisIdempotencyStore(counted, { prefix: freshPrefix(t) }) })
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
    run: async (...received) =>
      String(await redis.run(...received))
        .replace(/maxmemory_policy:\S+/, `maxmemory_policy:${policy}`)
        .replace(/aof_enabled:\d/, `aof_enabled:${log}`)
  })
  t.strictSame(await redisIdempotencyStore(configured('noeviction', '1')).check?.(), [])
  t.match(await redisIdempotencyStore(configured('allkeys-lru', '1')).check?.(), [
    /maxmemory-policy allkeys-lru.*Set maxmemory-policy to noeviction/
  ])
  t.match(await redisIdempotencyStore(configured('noeviction', '0')).check?.(), [/Set appendonly to yes/])
  t.match(await redisIdempotencyStore({ ...redis, run: async () => '' }).check?.(), [/maxmemory-policy unknown/, /appendonly/])
  const others = 'old_maxmemory_policy:noeviction\r\nold_aof_enabled:1\r\n'
  t.equal((await redisIdempotencyStore({ ...redis, run: async () => others }).check?.())?.length, 2, 'names that only end like a setting')
})

t.test('stores the records of each client in a slot of their own, and lets Redis expire them', onServer, async (t) => {
  const { redis } = await connect(t)
  const prefix = freshPrefix(t)
  await redisIdempotencyStore(redis, { prefix }).begin(key, key, { ...terms, lifetimeMs: 5000 })
  const source = `return redis.call('PTTL', KEYS[1])`
  const record = `{${prefix}:idempotency:${client}}:${key}`
  const left = Number(await redis.run({ source, sha: hash('sha1', source) }, [record]))
  t.ok(left > 0 && left <= 5000)
})

t.test(
  'lets Redis expire the sizes of the responses of a client, which have few fields, and are about what the records take',
  onServer,
  async (t) => {
    const { redis } = await connect(t)
    const prefix = freshPrefix(t)
    const store = redisIdempotencyStore(redis, { prefix })
    for (let n = 0; n < 300; n += 1) {
      const outcome = await store.begin(hash('sha256', `${n}`, 'base64url'), key, terms)
      if (outcome.state !== 'claimed') throw new Error(outcome.state)
      await store.complete(outcome.claim, { status: 200, headers: {}, body: 'x'.repeat(1000) }, n < 150 ? 6400 : 64_000)
    }
    const run = (command: string, record = '') => {
      const source = `return redis.call(${command}, ARGV[1])`
      return redis.run({ source, sha: hash('sha1', source) }, [`{${prefix}:idempotency:${client}}${record}`])
    }
    const sizes = (await run(`'HVALS'`)) as string[]
    t.ok(sizes.length < 70, `${sizes.length} fields`)
    const sum = sizes.reduce((sum, size) => sum + Number(size), 0)
    const taken = 300 * Number(await run(`'MEMORY', 'USAGE'`, `:${hash('sha256', '299', 'base64url')}`))
    t.ok(sum > taken * 0.75 && sum < taken * 1.5, `${sum} bytes are counted for ${taken}`)
    const left = Number(await run(`'PTTL'`))
    t.ok(left > 30_000 && left <= 65_000, `${left} ms`)
  }
)

t.test('notifies waiting requests again after their connection was lost, and lets them poll if there is none', onServer, async (t) => {
  const { redis, kill } = await connect(t)
  const prefix = freshPrefix(t)
  const store = redisIdempotencyStore(redis, { prefix })
  const received = async () => {
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
  t.equal(await received(), true)
  await kill()
  // The store rejects until it is connected again.
  await until(() => received().catch(() => false))
  await store.close?.()
  const deaf = redisIdempotencyStore({ ...redis, listen: () => Promise.reject(new Error('no channels here')) }, { prefix })
  await deaf.changed?.(key, AbortSignal.timeout(20))
  await deaf.changed?.(key, AbortSignal.timeout(20))
  await deaf.close?.()
  await redisIdempotencyStore(redis, { prefix }).close?.()
})

t.test('many requests wait for one key without a warning of the process', onServer, async (t) => {
  const store = redisIdempotencyStore((await connect(t)).redis, { prefix: freshPrefix(t) })
  t.teardown(() => store.close?.())
  const warnings: Error[] = []
  const warned = (warning: Error) => void warnings.push(warning)
  process.on('warning', warned)
  t.teardown(() => process.off('warning', warned))
  const leave = new AbortController()
  const waiting = Array.from({ length: 20 }, async () => store.changed?.(key, leave.signal))
  leave.abort()
  await Promise.all(waiting)
  await turns()
  t.strictSame(
    warnings.map(({ name }) => name),
    []
  )
})

t.test('receives the messages of a cluster on one of its nodes', onServer, async (t) => {
  const prefix = freshPrefix(t)
  const client = new Ioredis(server)
  t.teardown(() => client.disconnect())
  const evalsha = client.evalsha.bind(client)
  const run = client.eval.bind(client)
  const clusterOf = (nodes: readonly Ioredis[]) => fromIoredis({ evalsha, eval: run, nodes: () => nodes })
  const events = Promise.withResolvers<string>()
  const end = await clusterOf([client]).listen(`${prefix}:channel`, { onMessage: events.resolve, onLost: () => {} })
  await client.publish(`${prefix}:channel`, 'news')
  t.equal(await events.promise, 'news')
  await end()
  await t.rejects(clusterOf([]).listen('channel', { onMessage: () => {}, onLost: () => {} }), {
    message: /has no master node to subscribe to/
  })
})

t.test('throws for a prefix that must consist of letters', async (t) => {
  t.throws(() => redisIdempotencyStore({} as Redis, { prefix: 'a{b}' }), { message: /must consist of letters/ })
})
