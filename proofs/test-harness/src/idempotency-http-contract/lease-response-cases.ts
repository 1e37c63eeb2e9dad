import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { ContractCases } from '@concordat/plugin-kit/testing'
import { createOrder, expectRefusal, expectReplay, type HttpScene, heldHandler, leave, retryWhile } from './service.ts'

/** Cases of rows 14, 19 and 20 for claims with a lease: responses that are errors, are streams, or come too late. */
export const leaseResponseCases: ContractCases<HttpScene> = {
  'row 14: a 5xx is stored and replayed, because the request may have partly taken effect': async ({ serve }) => {
    const { send, runs } = await serve({
      handler: async () => {
        throw new Error('The other service did not respond.')
      }
    })
    const first = await send()
    strictEqual(first.status, 500)
    expectReplay(first, await send())
    strictEqual(runs(), 1)
  },
  'row 14: a 5xx leaves the key free when the route or the handler releases it': async ({ serve }) => {
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
  'row 19: a stream is sent and not stored: a retry gets 409 and never runs': async ({ serve }) => {
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
  'row 19: a body over the limit is sent and not stored: a retry gets 409 with the Location and never runs': async ({ serve }) => {
    const { send, runs } = await serve({
      route: { maxStoredBytes: 100 },
      handler: async (_request, reply) =>
        reply
          .code(201)
          .header('location', '/orders/1')
          .send({ text: 'ä'.repeat(60) })
    })
    const first = await send()
    strictEqual(first.status, 201)
    const retry = await send()
    expectRefusal(retry, 409, 'IDEMPOTENCY_RESPONSE_UNAVAILABLE')
    strictEqual(retry.headers['location'], '/orders/1')
    strictEqual(runs(), 1)
  },
  'row 19: a hijacked reply is not stored: a retry gets 409 and never runs': async ({ serve }) => {
    const { send, runs } = await serve({
      handler: async (_request, reply) => {
        reply.hijack()
        reply.raw.writeHead(202).end('hijacked')
        await once(reply.raw, 'finish')
      }
    })
    const first = await send()
    deepStrictEqual([first.status, first.body], [202, 'hijacked'])
    let retry = await send()
    while (retry.code === 'IDEMPOTENCY_IN_PROGRESS') retry = await send()
    expectRefusal(retry, 409, 'IDEMPOTENCY_RESPONSE_UNAVAILABLE')
    strictEqual(runs(), 1)
  },
  'row 20: when the client disconnects and the handler returns nothing, a retry gets 409 and never runs': async ({ serve, key }) => {
    const begun = Promise.withResolvers<void>()
    const left = Promise.withResolvers<void>()
    const { app, send, runs } = await serve({
      options: { leaseSeconds: 1 },
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
  'row 14: a timeout does not release the key while the handler may still run': async ({ serve }) => {
    for (const isAsync of [true, false]) {
      const { handler, begun, letGo } = heldHandler()
      const { send, runs } = await serve({
        options: { leaseSeconds: 0.5, maxRunSeconds: 1 },
        route: { serverErrors: 'release' },
        prepare: (app) =>
          app.addHook('onRoute', (route) => {
            route.handlerTimeout = 500
          }),
        handler(request, reply) {
          const order = Promise.resolve(handler.call(this, request, reply))
          if (isAsync || runs() > 1) return order
          void order.then((late) => reply.send(late))
          return reply
        }
      })
      const key = randomUUID()
      const first = send({ key })
      await begun
      strictEqual((await first).status, 503)
      expectRefusal(await send({ key }), 409, 'IDEMPOTENCY_IN_PROGRESS')
      letGo()
      // The end of a handler that sends its response itself is unknown, so its claim ends after the longest run.
      strictEqual((await retryWhile(409, () => send({ key }))).status, 201)
      strictEqual(runs(), 2)
    }
  },
  'row 20: a handler that responds after its request timed out changes nothing': async ({ serve }) => {
    const end = Promise.withResolvers<void>()
    const { send, runs } = await serve({
      prepare: (app) =>
        app.addHook('onRoute', (route) => {
          route.handlerTimeout = 250
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
