import { mock } from 'node:test'
import idempotency, { type IdempotencyStore, memoryIdempotencyStore } from '@concordat/idempotency'
import { turns } from '@concordat/test-harness/until'
import Fastify from 'fastify'
import t, { type Test } from 'tap'

async function gone(): Promise<never> {
  throw new Error('The store is down.')
}

async function service(t: Test, store: IdempotencyStore, status: number, body = 'x') {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  t.teardown(() => mock.timers.reset())
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(idempotency, { scope: () => 'ada', store, leaseSeconds: 600, storeTimeoutSeconds: 0.001, maxStoredBytes: 2 ** 24 })
  app.post('/orders', { config: { idempotency: 'required' } }, async (_, reply) => {
    // An encoded body is stored as it is, without a turn for its compression.
    if (body.length > 1000) reply.header('content-encoding', 'gzip')
    return reply.code(status).send(body)
  })
  await app.ready()
  const post = async (key: string) => (await app.inject({ method: 'POST', url: '/orders', headers: { 'idempotency-key': key } })).statusCode
  return { app, post }
}

/** Lets a second pass, in which waiting calls are repeated. */
async function second() {
  mock.timers.tick(1000)
  await turns(5)
}

t.test('a claim whose result was lost is withdrawn when the store is back, by the id of its request', async (t) => {
  const store = memoryIdempotencyStore()
  let isDown = true
  const ids: (string | undefined)[] = []
  const withdrawn: string[] = []
  const { post } = await service(
    t,
    {
      ...store,
      async begin(key, fingerprint, terms) {
        ids.push(terms.claimId)
        return isDown ? gone() : store.begin(key, fingerprint, terms)
      },
      withdraw: async ({ claimId }) => (isDown ? gone() : void withdrawn.push(claimId))
    },
    201
  )
  t.strictSame([await post('a'), await post('b')], [503, 503])
  for (let n = 0; n < 5; n += 1) await second()
  t.strictSame(withdrawn, [])
  isDown = false
  await second()
  t.strictSame(withdrawn.toSorted(), ids.toSorted())
  t.equal(new Set(ids).size, 2)
  t.equal(await post('a'), 201)
  await second()
  t.equal(withdrawn.length, 2, 'a claim with a result is not withdrawn')
})

t.test('a key that was claimed too late is released when the store is back', async (t) => {
  const store = memoryIdempotencyStore()
  const late = Promise.withResolvers<void>()
  let isDown = true
  const released: string[] = []
  const { post } = await service(
    t,
    {
      ...store,
      async begin(...input) {
        await late.promise
        return store.begin(...input)
      },
      release: async (claim) => {
        if (isDown) return gone()
        released.push(claim.key)
        return store.release(claim)
      }
    },
    201
  )
  const first = post('a')
  await turns()
  await second()
  t.equal(await first, 503)
  late.resolve()
  await turns()
  await second()
  t.strictSame(released, [])
  isDown = false
  await second()
  t.equal(released.length, 1)
})

t.test('a call that keeps failing does not delay the others, and is dropped after 1,000 attempts', async (t) => {
  const store = memoryIdempotencyStore()
  const attempts = new Map<string, number>()
  let failing: string | undefined
  const { post } = await service(
    t,
    {
      ...store,
      async release(claim) {
        failing ??= claim.key
        const attempt = (attempts.get(claim.key) ?? 0) + 1
        attempts.set(claim.key, attempt)
        return claim.key === failing || attempt === 1 ? gone() : store.release(claim)
      }
    },
    429
  )
  t.strictSame([await post('a'), await post('b')], [429, 429])
  await second()
  await second()
  t.equal(await post('b'), 429, 'b is free')
  t.equal(await post('a'), 409)
  for (let n = 0; n < 1010; n += 1) await second()
  t.equal(attempts.get(failing as string), 1001, 'that of the request, and 1,000')
})

t.test('at most 1,000 calls wait, the latest', async (t) => {
  let isDown = true
  const released = new Set<string>()
  const store = memoryIdempotencyStore()
  const { post, app } = await service(
    t,
    {
      ...store,
      async release(claim) {
        if (isDown) return gone()
        released.add(claim.key)
        return store.release(claim)
      }
    },
    429
  )
  for (let n = 0; n < 1005; n += 1) await post(`${n}`)
  isDown = false
  mock.timers.tick(1000)
  for (let n = 0; n < 1000 && released.size < 1000; n += 1) await turns(5)
  t.equal(released.size, 1000)
  t.strictSame([await post('0'), await post('4'), await post('5')], [409, 409, 429])
  isDown = true
  await post('a')
  await app.close()
  isDown = false
  await second()
  t.equal(released.size, 1000, 'nothing is repeated after the end of the service')
})

t.test('responses of at most 16 MiB wait, the latest', async (t) => {
  let isDown = true
  const stored: string[] = []
  const store = memoryIdempotencyStore()
  const { post } = await service(
    t,
    {
      ...store,
      async complete(claim, response, lifetimeMs) {
        if (isDown) return gone()
        stored.push(claim.key)
        return store.complete(claim, response, lifetimeMs)
      }
    },
    201,
    'x'.repeat(6 * 1024 * 1024)
  )
  const sent = [post('a'), post('b'), post('c')]
  for (let n = 0; n < 100; n += 1) await second()
  t.strictSame(await Promise.all(sent), [201, 201, 201])
  isDown = false
  while (stored.length < 2) await second()
  await second()
  t.equal(stored.length, 2)
})
