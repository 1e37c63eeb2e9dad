import { once } from 'node:events'
import idempotency from '@concordat/idempotency'
import { fromIoredis } from '@concordat/redis'
import { redisIdempotencyStore } from '@concordat/redis/idempotency'
import { ownRedis } from '@concordat/test-harness/own-redis'
import { type Proxy, proxyOf } from '@concordat/test-harness/proxy'
import { until } from '@concordat/test-harness/until'
import Fastify from 'fastify'
import { Redis as Ioredis } from 'ioredis'
import t, { type Test } from 'tap'

const prefix = 'hang'

/** A server, and a service behind it whose keys are blocked for ten minutes if nothing releases them. */
async function prepared(t: Test, through: (t: Test, url: string) => Promise<string> = async (_, url) => url) {
  const own = await ownRedis()
  if (own === undefined) return undefined
  t.teardown(() => own.stop())
  const direct = new Ioredis(own.url).on('error', () => {})
  const client = new Ioredis(await through(t, own.url), { enableOfflineQueue: false, socketTimeout: 1500, retryStrategy: () => 20 })
  client.on('error', () => {})
  await once(client, 'ready')
  const app = Fastify()
  t.teardown(async () => {
    await app.close()
    for (const each of [client, direct]) each.disconnect()
  })
  const ran: unknown[] = []
  await app.register(idempotency, {
    scope: () => 'ada',
    store: redisIdempotencyStore(fromIoredis(client), { prefix }),
    leaseSeconds: 600,
    storeTimeoutSeconds: 0.5
  })
  app.post('/orders', { config: { idempotency: 'required' } }, async ({ headers }, reply) => {
    ran.push(headers['idempotency-key'])
    return reply.code(headers['prefer'] === 'fail' ? 429 : 201).send({})
  })
  const post = async (key: string, headers = {}) =>
    (await app.inject({ method: 'POST', url: '/orders', payload: {}, headers: { 'idempotency-key': key, ...headers } })).statusCode
  const records = async () => (await direct.keys(`{${prefix}:idempotency:*}:*`)).filter((name) => !name.includes(':withdrawn:'))
  // The scripts are cached from now on.
  t.equal(await post('first'), 201)
  return { own, client, post, ran, records }
}

t.test('a key whose claim Redis made while the client no longer waited is free as soon as Redis is back', async (t) => {
  const service = await prepared(t)
  if (service === undefined) return t.comment('not run: Redis is not installed here')
  const { own, client, post, ran } = service
  const keys = ['a', 'b', 'c', 'd', 'e']
  own.pause()
  t.strictSame(await Promise.all(keys.map((key) => post(key))), [503, 503, 503, 503, 503])
  // Longer than the client waits: it has closed the connection on which the claims are.
  await until(() => client.status !== 'ready')
  own.resume()
  for (const key of keys) await until(async () => (await post(key)) === 201, 20)
  return t.strictSame(ran, ['first', ...keys])
})

t.test('a claim whose response was lost is released', async (t) => {
  let proxy: Proxy | undefined
  const service = await prepared(t, async (t, url) => {
    proxy = await proxyOf(t, url)
    return proxy.url
  })
  if (service === undefined) return t.comment('not run: Redis is not installed here')
  const { post, records, client } = service
  proxy?.cutResponses()
  t.equal(await post('a'), 503)
  await until(async () => (await records()).length === 2)
  await until(() => client.status !== 'ready')
  proxy?.heal()
  await until(async () => (await records()).length === 1)
  return t.equal(await post('a'), 201)
})

t.test('a claim that arrives after its withdrawal is not made, and the claim of another is not withdrawn', async (t) => {
  const service = await prepared(t)
  if (service === undefined) return t.comment('not run: Redis is not installed here')
  const store = redisIdempotencyStore(fromIoredis(service.client), { prefix })
  const [key, client] = ['k'.repeat(43), 'c'.repeat(43)]
  const terms = { leaseMs: 60_000, lifetimeMs: 60_000, takesOver: true, client, maxClientBytes: 1e9 }
  const begin = async (claimId: string, more = {}) => store.begin(key, key, { ...terms, ...more, claimId })
  await store.withdraw?.({ key, client, claimId: 'late' })
  t.match(await begin('late'), { state: 'busy' })
  const first = await begin('mine')
  t.strictSame(await begin('mine'), first, 'a client that connects again repeats what it sent')
  await store.withdraw?.({ key, client, claimId: 'another' })
  t.match(await begin('second'), { state: 'busy' })
  await store.withdraw?.({ key, client, claimId: 'mine' })
  const short = await begin('short', { leaseMs: 1 })
  t.match(short, { state: 'claimed', claim: { attempt: 1 } })
  await until(async () => (await begin('next', { takesOver: false })).state === 'abandoned')
  t.match(await begin('next'), { claim: { attempt: 2 } })
  await store.withdraw?.({ key, client, claimId: 'next' })
  t.match(await begin('refused', { takesOver: false }), { state: 'abandoned' }, 'an earlier owner is still unaccounted for')
  const third = await begin('third')
  if (third.state !== 'claimed') throw new Error(third.state)
  const progress = { status: 200, headers: {}, body: 'half', isProgress: true }
  t.equal(await store.complete(third.claim, progress, 60_000), 'stored')
  t.match(await begin('fourth'), { state: 'claimed', progress: { body: 'half' } })
  t.match(await begin('fourth'), { state: 'claimed', progress: { body: 'half' } })
  await store.withdraw?.({ key, client, claimId: 'fourth' })
  const fifth = await begin('fifth')
  if (fifth.state !== 'claimed') throw new Error(fifth.state)
  t.match(fifth, { progress: { body: 'half' } })
  await store.complete(fifth.claim, { ...progress, isProgress: false }, 60_000)
  await store.withdraw?.({ key, client, claimId: 'fifth' })
  return t.match(await begin('sixth'), { state: 'done' })
})
