import { revocationFeed } from '@concordat/authentication'
import { revocationStoreContract } from '@concordat/authentication/testing'
import { fromIoredis, fromNodeRedis } from '@concordat/redis'
import { redisRateLimitStore } from '@concordat/redis/rate-limits'
import { redisRevocationStore } from '@concordat/redis/revocations'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { until } from '@concordat/test-harness/until'
import { Cluster, Redis as Ioredis } from 'ioredis'
import { createClient } from 'redis'
import t, { type Test } from 'tap'
import { clients, freshPrefix, onServer, server } from './server.ts'

const hour = 3_600_000

for (const [name, connect] of Object.entries(clients)) {
  t.test(`stores revocations with ${name} and announces them to another client`, onServer, async (t) => {
    const prefix = freshPrefix(t)
    const [one, two] = [await connect(t), await connect(t)]
    revocationStoreContract(
      casesOf(t),
      () => redisRevocationStore(one.redis, { prefix }),
      () => redisRevocationStore(two.redis, { prefix })
    )
  })

  t.test(`announces a revocation to another client within a second, by the message alone (${name}) [U4]`, onServer, async (t) => {
    const prefix = freshPrefix(t)
    const feedOn = async () => {
      const feed = revocationFeed({ store: redisRevocationStore((await connect(t)).redis, { prefix }), pollSeconds: 60 })
      t.teardown(() => feed.close())
      await feed.start()
      return feed
    }
    const [here, there] = [await feedOn(), await feedOn()]
    const started = performance.now()
    await here.revoke({ kind: 'session', id: 's1', until: Date.now() + hour })
    await until(() => there.isRevoked({ sub: 'u1', iat: 0, sid: 's1' }))
    t.comment(`${Math.round(performance.now() - started)} ms`)
  })

  t.test(`receives messages after subscribing again when the connection was killed (${name})`, onServer, async (t) => {
    const prefix = freshPrefix(t)
    const [whole, cut] = [await connect(t), await connect(t)]
    const store = redisRevocationStore(cut.redis, { prefix })
    const lost = Promise.withResolvers<void>()
    const end = await store.subscribe(() => {}, lost.resolve)
    await cut.kill()
    await lost.promise
    await end()
    const woken = Promise.withResolvers<void>()
    let endAgain: (() => Promise<void>) | undefined
    await until(async () => {
      endAgain = await store.subscribe(woken.resolve, () => {}).catch(() => undefined)
      return endAgain !== undefined
    })
    await redisRevocationStore(whole.redis, { prefix }).revoke({ kind: 'token', id: 'a', until: Date.now() + hour })
    await woken.promise
    await endAgain?.()
  })
}

t.test('reads all revocations for an older cursor after Redis has lost its data', onServer, async (t) => {
  const prefix = freshPrefix(t)
  const { redis } = await (clients['ioredis'] as (t: Test) => ReturnType<(typeof clients)[string]>)(t)
  const store = redisRevocationStore(redis, { prefix })
  for (const id of ['a', 'b', 'c']) await store.revoke({ kind: 'token', id, until: Date.now() + hour })
  const { cursor } = await store.read()
  const admin = new Ioredis(server)
  await admin.del(...(await admin.keys(`{${prefix}:*`)))
  admin.disconnect()
  await store.revoke({ kind: 'token', id: 'd', until: Date.now() + hour })
  t.match((await store.read(cursor)).revocations, [{ id: 'd' }])
})

t.test('deletes expired revocations at the next revocation', onServer, async (t) => {
  const prefix = freshPrefix(t)
  const { redis } = await (clients['ioredis'] as (t: Test) => ReturnType<(typeof clients)[string]>)(t)
  const revocations = redisRevocationStore(redis, { prefix })
  const soon = Date.now() + 20
  await revocations.revoke({ kind: 'token', id: 'a', until: soon })
  await until(() => Date.now() > soon)
  await revocations.revoke({ kind: 'token', id: 'b', until: Date.now() + hour })
  const admin = new Ioredis(server)
  t.teardown(() => admin.disconnect())
  t.strictSame(await admin.hkeys(`{${prefix}:revocations}:terms`), ['token b'])
})

t.test('stores all keys of one script in one slot of a cluster', onServer, async (t) => {
  const prefix = freshPrefix(t)
  const { redis } = await (clients['ioredis'] as (t: Test) => ReturnType<(typeof clients)[string]>)(t)
  const until = Date.now() + hour
  await redisRevocationStore(redis, { prefix }).revoke({ kind: 'token', id: 'a', until })
  const admin = new Ioredis(server)
  t.teardown(() => admin.disconnect())
  const keys = await admin.keys(`{${prefix}:*`)
  // The text between the first braces determines the slot (Redis Cluster Specification, Hash tags).
  const tags = keys.map((key) => /^\{(.+?)\}/.exec(key)?.[1])
  t.ok(keys.length > 1, `${keys.length} keys`)
  t.strictSame([...new Set(tags)], [`${prefix}:revocations`])
})

const never = () => {
  throw new Error('not called')
}
const whole = async (source: string) => (source.includes("'INCRBY'") ? [7, 1000] : '')

async function received(failure: string) {
  const byName = async () => Promise.reject(new Error(failure))
  const stores = [
    fromIoredis({ evalsha: byName, eval: whole, duplicate: never }),
    fromNodeRedis({ evalSha: byName, eval: whole, duplicate: never })
  ].map((redis) => redisRateLimitStore(redis))
  return Promise.all(stores.map(async (store) => store.add('a', 1, 10, 1000)))
}

t.test('sends the source of a script that Redis does not have, and rejects for other errors', async (t) => {
  t.strictSame(await received('NOSCRIPT No matching script.'), [
    { count: 7, resetMs: 1000 },
    { count: 7, resetMs: 1000 }
  ])
  await t.rejects(received('READONLY You cannot write against a read only replica.'), /READONLY/)
})

t.test('rejects listen when the client cannot subscribe', async (t) => {
  const nowhere = 'redis://127.0.0.1:1'
  const ioredis = new Ioredis(nowhere, { lazyConnect: true })
  const redis = createClient({ url: nowhere })
  const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true, clusterRetryStrategy: () => null })
  for (const client of [fromIoredis(ioredis), fromNodeRedis(redis), fromIoredis(cluster)]) {
    await t.rejects(client.listen('news', { onMessage: () => {}, onLost: () => t.fail('The subscription never began.') }))
  }
})

t.test('throws for a prefix that must consist of letters', async (t) => {
  const redis = { run: async () => 1, listen: async () => async () => {} }
  for (const prefix of ['', 'a}b', '{a', 'a b', 'a'.repeat(65)]) {
    t.throws(() => redisRevocationStore(redis, { prefix }), /must consist of letters/)
    t.throws(() => redisRateLimitStore(redis, { prefix }), TypeError)
  }
  t.doesNotThrow(() => redisRevocationStore(redis))
  t.doesNotThrow(() => redisRateLimitStore(redis))
})
