import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import type { ContractCases } from '@concordat/plugin-kit/testing'
import { failing } from './failing-store.ts'
import { createOrder, expectRefusal, expectReplay, type HttpScene, heldHandler, retryWhile } from './service.ts'

/** Cases of row 16 for every store. */
export const outageCases: ContractCases<HttpScene> = {
  'row 16: while the store is down, a request with a key gets 503 with Retry-After, and no handler runs': async ({ serve }) => {
    let isDown = true
    const { send, runs } = await serve({ through: (store) => failing(store, () => isDown) })
    const response = await send()
    expectRefusal(response, 503, 'IDEMPOTENCY_STORE_UNAVAILABLE')
    ok(Number(response.headers['retry-after']) >= 1)
    strictEqual(runs(), 0)
    isDown = false
    expectReplay(await send(), await send())
  },
  'row 16: while the store is down, a request without a key runs': async ({ serve }) => {
    const { send } = await serve({ through: (store) => failing(store, () => true) })
    strictEqual((await send({ url: '/notes', key: null })).status, 201)
  }
}

/** Cases of rows 16 and 17 for claims with a lease: the store is down or slow. */
export const leaseOutageCases: ContractCases<HttpScene> = {
  'row 16: a request runs without protection while the store is down if the route allows it, and its response says so': async ({
    serve
  }) => {
    let isDown = true
    const { send, runs } = await serve({
      route: { whenStoreFails: 'dangerouslyBypass' },
      through: (store) => failing(store, () => isDown),
      handler: async ({ idempotency }) => ({ idempotency })
    })
    for (let n = 0; n < 2; n += 1) {
      const response = await send()
      deepStrictEqual([response.status, response.body, response.headers['idempotency-status']], [200, '{"idempotency":null}', 'bypassed'])
    }
    isDown = false
    strictEqual((await send()).headers['idempotency-status'], undefined)
    strictEqual(runs(), 3)
  },
  'row 16: a request that is known to be in progress does not run a second time, whatever the route allows': async ({ serve }) => {
    const { handler, begun, letGo } = heldHandler()
    const owner = await serve({ handler })
    let calls = 0
    const waiting = await serve({
      route: { whenStoreFails: 'dangerouslyBypass', waitSeconds: 30 },
      through: (store) => failing(store, (method) => method === 'begin' && (calls += 1) > 1)
    })
    const first = owner.send()
    await begun
    expectRefusal(await waiting.send(), 503, 'IDEMPOTENCY_STORE_UNAVAILABLE')
    letGo()
    await first
    strictEqual(waiting.runs(), 0)
  },
  'row 16: a store that times out counts as down, and its late claim is released': async ({ serve }) => {
    const late = Promise.withResolvers<void>()
    let isLate = true
    const { send } = await serve({
      // A claim that is not released blocks the key for longer than the test lasts.
      options: { storeTimeoutSeconds: 0.05, leaseSeconds: 600 },
      through: (store) => ({
        ...store,
        async begin(...args) {
          if (isLate) await late.promise
          return store.begin(...args)
        }
      })
    })
    expectRefusal(await send(), 503, 'IDEMPOTENCY_STORE_UNAVAILABLE')
    isLate = false
    late.resolve()
    const response = await retryWhile(409, send)
    deepStrictEqual([response.status, response.headers['idempotency-replayed']], [201, undefined])
  },
  'row 17: storing a response is retried until the store accepts it': async ({ serve }) => {
    let failures = 3
    const { send, runs } = await serve({ through: (store) => failing(store, (method) => method === 'complete' && failures-- > 0) })
    expectReplay(await send(), await send())
    strictEqual(runs(), 1)
  },
  'row 17: a response that cannot be stored is sent, and stored when the store is back; until then, a retry gets 409': async ({
    serve
  }) => {
    let isDown = true
    const { send, runs } = await serve({
      options: { leaseSeconds: 600, storeTimeoutSeconds: 0.5 },
      through: (store) => failing(store, (method) => method === 'complete' && isDown)
    })
    const first = await send()
    strictEqual(first.status, 201)
    expectRefusal(await send(), 409, 'IDEMPOTENCY_IN_PROGRESS')
    isDown = false
    expectReplay(first, await retryWhile(409, send))
    strictEqual(runs(), 1)
  },
  'a key that the store fails to release is free when the store is back': async ({ serve }) => {
    let isDown = true
    const { send, runs } = await serve({
      options: { leaseSeconds: 600 },
      through: (store) => failing(store, (method) => method === 'release' && isDown),
      handler: async (request, reply) => (runs() === 1 ? reply.code(429).send({}) : createOrder(request, reply))
    })
    strictEqual((await send()).status, 429)
    expectRefusal(await send(), 409, 'IDEMPOTENCY_IN_PROGRESS')
    isDown = false
    strictEqual((await retryWhile(409, send)).status, 201)
  }
}
