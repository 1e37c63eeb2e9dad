import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import type { ContractCases } from '@concordat/plugin-kit/testing'
import { failing } from './failing-store.ts'
import { createOrder, expectRefusal, expectReplay, type HttpScene, heldHandler, retryWhile } from './service.ts'

/** Cases of rows 12 and 18 for claims with a lease: the owner is lost, or has lost its claim. */
export const lostOwnerCases: ContractCases<HttpScene> = {
  'row 12: when the owner is lost, a retry runs the handler as the second attempt': async ({ serve }) => {
    const { handler, begun } = heldHandler()
    const lost = await serve({
      handler,
      options: { leaseSeconds: 0.5 },
      through: (store) => failing(store, (method) => method !== 'begin')
    })
    const args: unknown[] = []
    const next = await serve({
      handler: async (request, reply) => {
        args.push(request.idempotency?.attempt)
        return createOrder(request, reply)
      }
    })
    void lost.send()
    await begun
    expectRefusal(await next.send(), 409, 'IDEMPOTENCY_IN_PROGRESS')
    const response = await retryWhile(409, () => next.send())
    expectReplay(response, await next.send())
    deepStrictEqual([response.status, args], [201, [2]])
  },
  'row 12: when the owner is lost and the route refuses a second run, a retry gets 409': async ({ serve }) => {
    const { handler, begun } = heldHandler()
    const lost = await serve({
      handler,
      options: { leaseSeconds: 0.5 },
      through: (store) => failing(store, (method) => method !== 'begin')
    })
    const next = await serve({ route: { whenOutcomeUnknown: 'refuse' } })
    void lost.send()
    await begun
    let response = await next.send()
    while (response.code === 'IDEMPOTENCY_IN_PROGRESS') response = await next.send()
    expectRefusal(response, 409, 'IDEMPOTENCY_OUTCOME_UNKNOWN')
    strictEqual(next.runs(), 0)
  },
  'a handler that runs longer than its lease keeps its claim': async ({ serve }) => {
    const { handler, begun, letGo } = heldHandler()
    let renewed = 0
    const many = Promise.withResolvers<void>()
    const { send, runs } = await serve({
      handler,
      options: { leaseSeconds: 0.5 },
      through: (store) => ({
        ...store,
        async renew(...args) {
          renewed += 1
          if (renewed === 4) many.resolve()
          return store.renew(...args)
        }
      })
    })
    const first = send()
    await begun
    await many.promise
    strictEqual((await send()).status, 409)
    letGo()
    expectReplay(await first, await send())
    strictEqual(runs(), 1)
  },
  'row 18: an owner that lost its claim responds with what the new owner stored, and its signal has aborted': async ({ serve }) => {
    const { handler, begun, letGo } = heldHandler()
    const aborted = Promise.withResolvers<void>()
    const slow = await serve({
      options: { leaseSeconds: 0.1 },
      through: (store) => failing(store, (method) => method === 'renew'),
      handler(request, reply) {
        request.idempotency?.signal.addEventListener('abort', () => aborted.resolve())
        reply.header('set-cookie', 'slow=1').header('content-language', 'es')
        return handler.call(this, request, reply)
      }
    })
    const next = await serve()
    // Long enough to be stored compressed.
    const body = { note: 'x'.repeat(10_000) }
    const first = slow.send({ body })
    await begun
    await aborted.promise
    const won = await retryWhile(409, () => next.send({ body }))
    letGo()
    const args = await first
    expectReplay(won, args)
    deepStrictEqual([args.headers['set-cookie'], args.headers['content-language']], [undefined, undefined])
    expectReplay(won, await slow.send({ body }))
    deepStrictEqual([slow.runs(), next.runs()], [1, 1])
  },
  'row 18: an owner that lost its claim to an owner that still runs responds with 409': async ({ serve }) => {
    const [one, two] = [heldHandler(), heldHandler()]
    const slow = await serve({
      handler: one.handler,
      options: { leaseSeconds: 0.1 },
      through: (store) => failing(store, (method) => method === 'renew')
    })
    const next = await serve({ handler: two.handler })
    const first = slow.send()
    await one.begun
    const second = retryWhile(409, () => next.send())
    await two.begun
    one.letGo()
    expectRefusal(await first, 409, 'IDEMPOTENCY_IN_PROGRESS')
    two.letGo()
    expectReplay(await second, await slow.send())
  },
  'row 18: an owner whose record was lost stores its response again': async ({ serve }) => {
    let isLost = false
    const { send, runs } = await serve({
      through: (store) => ({
        ...store,
        async complete(claim, ...args) {
          if (!isLost) await store.release(claim)
          isLost = true
          return store.complete(claim, ...args)
        }
      })
    })
    expectReplay(await send(), await send())
    strictEqual(runs(), 1)
  },
  'row 18: an owner whose key now belongs to another request sends its own response': async ({ serve }) => {
    const other = await serve()
    const { send } = await serve({
      through: (store) => ({
        ...store,
        async complete(claim, ...args) {
          await store.release(claim)
          await other.send({ body: {} })
          return store.complete(claim, ...args)
        }
      })
    })
    const first = await send()
    deepStrictEqual([first.status, first.headers['idempotency-replayed']], [201, undefined])
    expectRefusal(await send(), 422, 'IDEMPOTENCY_KEY_REUSED')
  },
  'row 18: an owner that lost its claim responds with 409 while the store is down': async ({ serve }) => {
    let isDown = false
    const { send } = await serve({
      through: (store) =>
        failing(
          {
            ...store,
            complete() {
              isDown = true
              return 'lost'
            }
          },
          (method) => method === 'begin' && isDown
        )
    })
    strictEqual((await send()).status, 409)
  },
  'a handler that runs longer than maxRunSeconds loses its claim, and its signal aborts': async ({ serve }) => {
    const aborted = Promise.withResolvers<void>()
    const slow = await serve({
      options: { leaseSeconds: 0.3, maxRunSeconds: 1 },
      handler: async (request, reply) => {
        const { signal } = request.idempotency ?? {}
        signal?.addEventListener('abort', () => aborted.resolve())
        await aborted.promise
        await next.promise
        return createOrder(request, reply)
      }
    })
    const next = Promise.withResolvers<void>()
    const other = await serve()
    const first = slow.send()
    await aborted.promise
    const won = await retryWhile(409, () => other.send())
    next.resolve()
    expectReplay(won, await first)
  }
}
