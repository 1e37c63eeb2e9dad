import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { IdempotencyStore } from '../store.ts'
import { createOrder, expectRefusal, expectReplay, type HttpScene, heldHandler, leave, retryWhile } from './service.ts'

type Case = (scene: HttpScene) => Promise<void>

async function gone(): Promise<never> {
  throw new Error('The store is down.')
}

/** A store that can't be reached while `isDown`. */
function failing(store: IdempotencyStore, isDown: (method: 'begin' | 'renew' | 'complete' | 'release') => boolean): IdempotencyStore {
  return {
    ...store,
    begin: (...told) => (isDown('begin') ? gone() : store.begin(...told)),
    renew: (...told) => (isDown('renew') ? gone() : store.renew(...told)),
    complete: (...told) => (isDown('complete') ? gone() : store.complete(...told)),
    release: (...told) => (isDown('release') ? gone() : store.release(...told))
  }
}

/** Row 16: on every store. */
export const outageCases: Readonly<Record<string, Case>> = {
  'row 16: while the store is down a request with a key is 503 with Retry-After, and nothing runs': async ({ serve }) => {
    let isDown = true
    const { send, runs } = await serve({ through: (store) => failing(store, () => isDown) })
    const answer = await send()
    expectRefusal(answer, 503, 'IDEMPOTENCY_STORE_UNAVAILABLE')
    ok(Number(answer.headers['retry-after']) >= 1)
    strictEqual(runs(), 0)
    isDown = false
    expectReplay(await send(), await send())
  },
  'row 16: while the store is down a request without a key is answered': async ({ serve }) => {
    const { send } = await serve({ through: (store) => failing(store, () => true) })
    strictEqual((await send({ url: '/notes', key: null })).status, 201)
  }
}

/** Rows 12, 14 and 16 to 19 where claims are held by a lease. */
export const leaseCases: Readonly<Record<string, Case>> = {
  'row 12: when the owner is lost a retry runs the handler, and knows that it is the second attempt': async ({ serve }) => {
    const { handler, begun } = heldHandler()
    const lost = await serve({
      handler,
      options: { leaseMilliseconds: 500 },
      through: (store) => failing(store, (method) => method !== 'begin')
    })
    const told: unknown[] = []
    const next = await serve({
      handler: async (request, reply) => {
        told.push(request.idempotency?.attempt)
        return createOrder(request, reply)
      }
    })
    void lost.send()
    await begun
    expectRefusal(await next.send(), 409, 'IDEMPOTENCY_IN_PROGRESS')
    const answer = await retryWhile(409, () => next.send())
    expectReplay(answer, await next.send())
    deepStrictEqual([answer.status, told], [201, [2]])
  },
  'row 12: where a request must not run twice, a retry is 409 when its owner is lost': async ({ serve }) => {
    const { handler, begun } = heldHandler()
    const lost = await serve({
      handler,
      options: { leaseMilliseconds: 500 },
      through: (store) => failing(store, (method) => method !== 'begin')
    })
    const next = await serve({ route: { whenOutcomeUnknown: 'refuse' } })
    void lost.send()
    await begun
    let answer = await next.send()
    while (answer.code === 'IDEMPOTENCY_IN_PROGRESS') answer = await next.send()
    expectRefusal(answer, 409, 'IDEMPOTENCY_OUTCOME_UNKNOWN')
    strictEqual(next.runs(), 0)
  },
  'a handler that runs longer than its lease keeps its claim': async ({ serve }) => {
    const { handler, begun, letGo } = heldHandler()
    let renewed = 0
    const many = Promise.withResolvers<void>()
    const { send, runs } = await serve({
      handler,
      options: { leaseMilliseconds: 500 },
      through: (store) => ({
        ...store,
        async renew(...told) {
          renewed += 1
          if (renewed === 4) many.resolve()
          return store.renew(...told)
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
  'row 14: a 5xx is stored and replayed, since the request may have half happened': async ({ serve }) => {
    const { send, runs } = await serve({
      handler: async () => {
        throw new Error('The other service did not answer.')
      }
    })
    const first = await send()
    strictEqual(first.status, 500)
    expectReplay(first, await send())
    strictEqual(runs(), 1)
  },
  'row 14: where the route says so, or the handler, a 5xx leaves the key free': async ({ serve }) => {
    const fails = [
      { route: { serverErrors: 'release' as const }, release: false },
      { route: {}, release: true }
    ]
    for (const { route, release } of fails) {
      const { send, runs } = await serve({
        route,
        handler: async (request, reply) => {
          if (runs() > 1) return createOrder(request, reply)
          if (release) request.idempotency?.release()
          throw new Error('Not now.')
        }
      })
      const key = randomUUID()
      deepStrictEqual([(await send({ key })).status, (await send({ key })).status, runs()], [500, 201, 2])
    }
  },
  'row 16: where the route allows it, a request runs without protection while the store is down, and its answer says so': async ({
    serve
  }) => {
    let isDown = true
    const { send, runs } = await serve({
      route: { whenStoreFails: 'dangerouslyBypass' },
      through: (store) => failing(store, () => isDown),
      handler: async ({ idempotency }) => ({ idempotency })
    })
    for (let n = 0; n < 2; n += 1) {
      const answer = await send()
      deepStrictEqual([answer.status, answer.body, answer.headers['idempotency-status']], [200, '{"idempotency":null}', 'bypassed'])
    }
    isDown = false
    strictEqual((await send()).headers['idempotency-status'], undefined)
    strictEqual(runs(), 3)
  },
  'row 16: a request that another is known to run does not run beside it, whatever the route allows': async ({ serve }) => {
    const { handler, begun, letGo } = heldHandler()
    const owner = await serve({ handler })
    let asked = 0
    const waiting = await serve({
      route: { whenStoreFails: 'dangerouslyBypass', waitMilliseconds: 30_000 },
      through: (store) => failing(store, (method) => method === 'begin' && (asked += 1) > 1)
    })
    const first = owner.send()
    await begun
    expectRefusal(await waiting.send(), 503, 'IDEMPOTENCY_STORE_UNAVAILABLE')
    letGo()
    await first
    strictEqual(waiting.runs(), 0)
  },
  'row 16: a store that answers too late is down, and what it claimed late is given back': async ({ serve }) => {
    const late = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    let isLate = true
    const { send } = await serve({
      options: { storeTimeoutMilliseconds: 50 },
      through: (store) => ({
        ...store,
        async begin(...told) {
          if (isLate) await late.promise
          return store.begin(...told)
        },
        async release(...told) {
          const outcome = await store.release(...told)
          released.resolve()
          return outcome
        }
      })
    })
    expectRefusal(await send(), 503, 'IDEMPOTENCY_STORE_UNAVAILABLE')
    isLate = false
    late.resolve()
    await released.promise
    strictEqual((await send()).headers['idempotency-replayed'], undefined)
  },
  'row 17: an answer that the store does not take at once is stored all the same': async ({ serve }) => {
    let failures = 3
    const { send, runs } = await serve({ through: (store) => failing(store, (method) => method === 'complete' && failures-- > 0) })
    expectReplay(await send(), await send())
    strictEqual(runs(), 1)
  },
  'row 17: an answer that the store does not take is sent; a retry is 409 until the lease ends, and then runs': async ({ serve }) => {
    let isDown = true
    const outcomes: string[] = []
    const { send, runs } = await serve({
      options: { leaseMilliseconds: 1500, storeTimeoutMilliseconds: 100, onOutcome: (outcome) => outcomes.push(outcome) },
      through: (store) => failing(store, (method) => method === 'complete' && isDown)
    })
    strictEqual((await send()).status, 201)
    deepStrictEqual(outcomes, ['answerNotStored'])
    expectRefusal(await send(), 409, 'IDEMPOTENCY_IN_PROGRESS')
    isDown = false
    expectReplay(await retryWhile(409, send), await send())
    strictEqual(runs(), 2)
  },
  'a key that the store does not release is free when its lease ends': async ({ serve }) => {
    const { send, runs } = await serve({
      options: { leaseMilliseconds: 100 },
      through: (store) => failing(store, (method) => method === 'release'),
      handler: async (request, reply) => (runs() === 1 ? reply.code(429).send({}) : createOrder(request, reply))
    })
    strictEqual((await send()).status, 429)
    strictEqual((await retryWhile(409, send)).status, 201)
  },
  'row 18: an owner that lost its claim to another answers what that one stored, and its signal has aborted': async ({ serve }) => {
    const { handler, begun, letGo } = heldHandler()
    const aborted = Promise.withResolvers<void>()
    const slow = await serve({
      options: { leaseMilliseconds: 100 },
      through: (store) => failing(store, (method) => method === 'renew'),
      handler(request, reply) {
        request.idempotency?.signal.addEventListener('abort', () => aborted.resolve())
        reply.header('set-cookie', 'slow=1').header('content-language', 'es')
        return handler.call(this, request, reply)
      }
    })
    const next = await serve()
    const first = slow.send()
    await begun
    await aborted.promise
    const won = await retryWhile(409, () => next.send())
    letGo()
    const told = await first
    expectReplay(won, told)
    deepStrictEqual([told.headers['set-cookie'], told.headers['content-language']], [undefined, undefined])
    expectReplay(won, await slow.send())
    deepStrictEqual([slow.runs(), next.runs()], [1, 1])
  },
  'row 18: an owner that lost its claim to one that still runs answers 409': async ({ serve }) => {
    const [one, two] = [heldHandler(), heldHandler()]
    const slow = await serve({
      handler: one.handler,
      options: { leaseMilliseconds: 100 },
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
  'row 18: an owner whose record was lost stores its answer anew': async ({ serve }) => {
    const outcomes: string[] = []
    const { send, runs } = await serve({
      options: { onOutcome: (outcome) => outcomes.push(outcome) },
      through: (store) => ({
        ...store,
        async complete(claim, ...told) {
          if (runs() === 1 && outcomes.length === 0) await store.release(claim)
          return store.complete(claim, ...told)
        }
      })
    })
    expectReplay(await send(), await send())
    deepStrictEqual([runs(), outcomes], [1, ['claimLost', 'replayed']])
  },
  'row 18: an owner whose key means another request by now answers what it did': async ({ serve }) => {
    const other = await serve()
    const { send } = await serve({
      through: (store) => ({
        ...store,
        async complete(claim, ...told) {
          await store.release(claim)
          await other.send({ body: {} })
          return store.complete(claim, ...told)
        }
      })
    })
    const first = await send()
    deepStrictEqual([first.status, first.headers['idempotency-replayed']], [201, undefined])
    expectRefusal(await send(), 422, 'IDEMPOTENCY_KEY_REUSED')
  },
  'row 18: an owner that lost its claim while the store is down answers 409': async ({ serve }) => {
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
  'a handler that runs longer than it may loses its claim, and its signal aborts': async ({ serve }) => {
    const aborted = Promise.withResolvers<void>()
    const slow = await serve({
      options: { leaseMilliseconds: 300, longestRunSeconds: 1 },
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
  },
  'row 19: a stream is sent and not kept: a retry is 409, and never runs': async ({ serve }) => {
    const streams = [
      () => Readable.from(['{"a":', '1}']),
      () => new Blob(['{"a":1}']).stream(),
      () => new Response('{"a":1}', { headers: { 'content-type': 'application/json' } })
    ]
    for (const stream of streams) {
      const { send, runs } = await serve({ handler: async (_request, reply) => reply.code(200).type('application/json').send(stream()) })
      const key = randomUUID()
      const first = await send({ key })
      deepStrictEqual([first.status, first.body], [200, '{"a":1}'])
      expectRefusal(await send({ key }), 409, 'IDEMPOTENCY_RESPONSE_UNAVAILABLE')
      strictEqual(runs(), 1)
    }
  },
  'row 19: a reply that was hijacked is not kept: a retry is 409, and never runs': async ({ serve }) => {
    const { send, runs } = await serve({
      handler: async (_request, reply) => {
        reply.hijack()
        reply.raw.writeHead(202).end('by hand')
        await once(reply.raw, 'finish')
      }
    })
    const first = await send()
    deepStrictEqual([first.status, first.body], [202, 'by hand'])
    let retry = await send()
    while (retry.code === 'IDEMPOTENCY_IN_PROGRESS') retry = await send()
    expectRefusal(retry, 409, 'IDEMPOTENCY_RESPONSE_UNAVAILABLE')
    strictEqual(runs(), 1)
  },
  'row 20: when the client leaves a handler that answers nothing, its retry is 409, and never runs': async ({ serve, key }) => {
    const begun = Promise.withResolvers<void>()
    const left = Promise.withResolvers<void>()
    const { app, send, runs } = await serve({
      options: { leaseMilliseconds: 1000 },
      async handler() {
        begun.resolve()
        await left.promise
      }
    })
    await leave(app, key, begun.promise)
    left.resolve()
    let retry = await send({ body: {} })
    while (retry.code === 'IDEMPOTENCY_IN_PROGRESS') retry = await send({ body: {} })
    expectRefusal(retry, 409, 'IDEMPOTENCY_RESPONSE_UNAVAILABLE')
    strictEqual(runs(), 1)
  },
  'row 20: a handler that answers after the client was told that it took too long changes nothing': async ({ serve }) => {
    const end = Promise.withResolvers<void>()
    const { send, runs } = await serve({
      prepare: (app) =>
        app.addHook('onRoute', (route) => {
          route.handlerTimeout = 50
        }),
      handler: async (request, reply) => {
        await end.promise
        return createOrder(request, reply)
      }
    })
    const first = await send()
    strictEqual(first.status, 503)
    end.resolve()
    expectReplay(first, await send())
    strictEqual(runs(), 1)
  }
}
