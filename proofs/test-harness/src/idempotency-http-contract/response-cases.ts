import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ContractCases } from '@concordat/plugin-kit/testing'
import { createOrder, expectRefusal, expectReplay, type HttpScene, heldHandler, leave, retryWhile, type ServiceInput } from './service.ts'

/** Cases of rows 7 to 11, 15 and 19 to 21: what is stored and what a retry gets, on every store. */
export const responseCases: ContractCases<HttpScene> = {
  'row 7: the response is stored before its first byte is sent': async ({ serve }) => {
    const order: string[] = []
    const { send } = await serve({
      // A new PGlite on a busy machine takes longer than the default, after which the response is sent without being stored.
      options: { storeTimeoutSeconds: 60 },
      through: (store) => ({
        ...store,
        async complete(...args) {
          const outcome = await store.complete(...args)
          for (let turn = 0; turn < 20; turn += 1) await nextTurn()
          order.push('stored')
          return outcome
        }
      })
    })
    await send()
    order.push('sent')
    deepStrictEqual(order, ['stored', 'sent'])
  },
  'row 8: a retry gets status, body and Location of the first response, marked as replayed, without a run': async ({ serve }) => {
    const { send, runs } = await serve()
    const first = await send()
    for (let n = 0; n < 3; n += 1) expectReplay(first, await send())
    strictEqual(runs(), 1)
  },
  'row 8: a retry on another process gets the same response': async ({ serve }) => {
    const [here, there] = [await serve(), await serve()]
    const first = await here.send()
    expectReplay(first, await there.send())
    strictEqual(there.runs(), 0)
  },
  'row 8: a replay has the header fields of the response, and not those of the time or the client': async ({ serve }) => {
    const fields = {
      'content-type': 'application/vnd.order+json; charset=utf-8',
      'content-language': 'es',
      'content-location': '/orders/1',
      etag: '"1"',
      'last-modified': 'Sat, 21 Nov 2026 10:00:00 GMT',
      link: '</orders/1>; rel="self", </x>; rel="y"',
      'x-total': '12'
    }
    const { send } = await serve({
      options: { replayedFields: ['x-total'] },
      prepare: (app) =>
        app.addHook('onRequest', async (request, reply) => void reply.header('request-id', `${request.id} ${randomUUID()}`)),
      async handler(_request, reply) {
        reply.headers(fields).header('set-cookie', 'session=1').header('x-moment', 'now')
        return { id: 1 }
      }
    })
    const [first, retry] = [await send(), await send()]
    expectReplay(first, retry)
    for (const [name, value] of Object.entries(fields)) strictEqual(retry.headers[name], value)
    deepStrictEqual([retry.headers['set-cookie'], retry.headers['x-moment']], [undefined, undefined])
    ok(first.headers['request-id'] !== retry.headers['request-id'])
  },
  'row 8: text, bytes, an empty body and no body come back byte for byte': async ({ serve }) => {
    const bodies: Record<string, unknown> = {
      text: 'Ñandú\n',
      bytes: Buffer.from([0, 255, 10, 200]),
      empty: '',
      nothing: undefined,
      null: null
    }
    for (const [name, body] of Object.entries(bodies)) {
      const { send } = await serve({
        handler: async (_request, reply) => {
          if (typeof body === 'string') reply.type('text/plain; charset=utf-8')
          else if (body === undefined || body === null) reply.code(204)
          return body
        }
      })
      const key = randomUUID()
      const [first, retry] = [await send({ key }), await send({ key })]
      expectReplay(first, retry)
      deepStrictEqual(
        [retry.headers['content-type'], retry.headers['content-length']],
        [first.headers['content-type'], first.headers['content-length']],
        name
      )
    }
  },
  'row 8: a handler can respond by callback, by a promise, or by reply.send and a promise of undefined': async ({ serve }) => {
    const inputs: ServiceInput[] = [
      { handler: (_request, reply) => void setTimeout(() => reply.code(201).send({ by: 'callback' }), 5) },
      { handler: async () => ({ by: 'promise' }) },
      { handler: async (_request, reply) => reply.send({ by: 'reply' }) },
      { handler: async (_request, reply) => void reply.send({ by: 'send alone' }) }
    ]
    for (const input of inputs) {
      const { send, runs } = await serve(input)
      const key = randomUUID()
      const [first, retry] = [await send({ key }), await send({ key })]
      ok(first.body.includes('by'))
      expectReplay(first, retry)
      strictEqual(runs(), 1)
    }
  },
  'row 10: a retry while the first request runs gets 409 with Retry-After immediately': async ({ serve }) => {
    const { handler, begun, letGo } = heldHandler()
    const { send, runs } = await serve({ handler })
    const first = send()
    await begun
    const retry = await send()
    expectRefusal(retry, 409, 'IDEMPOTENCY_IN_PROGRESS')
    const seconds = Number(retry.headers['retry-after'])
    ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 30)
    letGo()
    expectReplay(await first, await send())
    strictEqual(runs(), 1)
  },
  'row 11: a retry that waits gets the response of the first request': async ({ serve }) => {
    const { handler, begun, letGo } = heldHandler()
    const input = { handler, route: { waitSeconds: 30 } }
    const [here, there] = [await serve(input), await serve(input)]
    const first = here.send()
    await begun
    const retries = [here.send(), there.send(), there.send()]
    setTimeout(letGo, 100)
    for (const retry of retries) expectReplay(await first, await retry)
    deepStrictEqual([here.runs(), there.runs()], [1, 0])
  },
  'row 11: a retry whose wait times out gets 409': async ({ serve }) => {
    const { handler, begun, letGo } = heldHandler()
    const { send } = await serve({ handler, route: { waitSeconds: 0.12 } })
    const first = send()
    await begun
    const before = performance.now()
    expectRefusal(await send(), 409, 'IDEMPOTENCY_IN_PROGRESS')
    ok(performance.now() - before > 100)
    letGo()
    await first
  },
  'row 11: when too many retries wait for a key, the next gets 409 immediately': async ({ serve, key }) => {
    const { handler, begun, letGo } = heldHandler()
    const { send } = await serve({ handler, route: { waitSeconds: 30 } })
    const first = send({ key })
    await begun
    const statuses: number[] = []
    const three = Promise.withResolvers<void>()
    const retries = Array.from({ length: 103 }, async () => {
      if (statuses.push((await send({ key })).status) === 3) three.resolve()
    })
    await three.promise
    letGo()
    await Promise.all(retries)
    deepStrictEqual(statuses, [409, 409, 409, ...Array.from({ length: 100 }, () => 201)])
    await first
  },
  'row 11: one of many concurrent requests with the same key runs, and those that wait get its response': async ({ serve }) => {
    const input = { route: { waitSeconds: 30 } }
    const [here, there] = [await serve(input), await serve(input)]
    const responses = await Promise.all(Array.from({ length: 40 }, (_, n) => (n % 2 ? here : there).send()))
    strictEqual(new Set(responses.map(({ body }) => body)).size, 1)
    strictEqual(responses.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length, 1)
    strictEqual(here.runs() + there.runs(), 1)
  },
  'row 15: a 2xx, 3xx or 4xx response of the handler is stored': async ({ serve }) => {
    for (const status of [200, 202, 303, 402, 404, 409, 410, 422]) {
      const { send, runs } = await serve({ handler: async (_request, reply) => reply.code(status).send({ run: runs() }) })
      const key = randomUUID()
      expectReplay(await send({ key }), await send({ key }))
      strictEqual(runs(), 1)
    }
  },
  'row 15: a 4xx that the handler throws is stored': async ({ serve }) => {
    const { send, runs } = await serve({
      handler: async () => {
        throw Object.assign(new Error(`out of stock, run ${randomUUID()}`), { statusCode: 409 })
      }
    })
    expectReplay(await send(), await send())
    strictEqual(runs(), 1)
  },
  'row 15: 401, 403, 408, 412, 413, 415, 425, 428 and 429 leave the key free': async ({ serve }) => {
    for (const status of [401, 403, 408, 412, 413, 415, 425, 428, 429]) {
      const { send, runs } = await serve({
        handler: async (request, reply) => (runs() === 1 ? reply.code(status).send({}) : createOrder(request, reply))
      })
      const key = randomUUID()
      strictEqual((await send({ key })).status, status)
      const second = await send({ key })
      deepStrictEqual([second.status, second.headers['idempotency-replayed']], [201, undefined])
      expectReplay(second, await send({ key }))
      strictEqual(runs(), 2)
    }
  },
  'row 15: a handler can release the key': async ({ serve }) => {
    const { send, runs } = await serve({
      handler: async (request, reply) => {
        if (runs() === 1) request.idempotency?.release()
        return createOrder(request, reply)
      }
    })
    const [first, second] = [await send(), await send()]
    ok(first.body !== second.body)
    expectReplay(second, await send())
  },
  'row 20: when the client disconnects, the handler continues, and its response is stored': async ({ serve }) => {
    for (const form of ['promise', 'callback', 'reply', 'promise of reply', '204'] as const) {
      const begun = Promise.withResolvers<void>()
      const left = Promise.withResolvers<void>()
      const { app, send, runs } = await serve({
        handler(_request, reply) {
          begun.resolve()
          const done = left.promise.then(() => reply.header('location', `/${form}`))
          if (form === 'promise') return done.then(() => ({ form }))
          if (form === '204') return done.then(() => void reply.code(204))
          void done.then(() => reply.send({ form }))
          if (form === 'callback') return undefined
          return form === 'reply' ? reply : Promise.resolve(reply)
        }
      })
      const key = randomUUID()
      await leave(app, key, begun.promise)
      left.resolve()
      const retry = await retryWhile(409, () => send({ key, body: {} }))
      deepStrictEqual(
        [retry.status, retry.headers['location'], retry.headers['idempotency-replayed'], runs()],
        [form === '204' ? 204 : 200, `/${form}`, 'true', 1],
        form
      )
    }
  },
  'row 21: a retry gets its replay before preconditions are evaluated, and a first 412 leaves the key free': async ({ serve }) => {
    let version = 1
    const { send, runs } = await serve({
      handler: async (request, reply) => {
        if (request.headers['if-match'] !== `"${version}"`) return reply.code(412).send({})
        version += 1
        return reply.header('etag', `"${version}"`).send({ version })
      }
    })
    strictEqual((await send({ headers: { 'if-match': '"0"' } })).status, 412)
    const first = await send({ headers: { 'if-match': '"1"' } })
    strictEqual(first.status, 200)
    expectReplay(first, await send({ headers: { 'if-match': '"1"' } }))
    strictEqual(runs(), 2)
  },
  'a handler has the attempt, a token, and keys for other services that are the same at each attempt': async ({ serve, key }) => {
    const seen: unknown[][] = []
    const { send } = await serve({
      handler: async ({ idempotency }, reply) => {
        seen.push([idempotency?.key, idempotency?.attempt, idempotency?.derivedKey('charge'), idempotency?.derivedKey('mail')])
        ok((idempotency?.token ?? 0) > 0 && idempotency?.signal.aborted === false)
        idempotency.release()
        return reply.send({})
      }
    })
    await send({ key: `"${key}"` })
    await send({ key })
    deepStrictEqual(seen[0], seen[1])
    const [own, attempt, charge, mail] = seen[0] ?? []
    deepStrictEqual([own, attempt, String(charge).length, charge === mail], [key, 1, 43, false])
  },
  'request.idempotency is null in a request without a key': async ({ serve }) => {
    const { send } = await serve({ handler: async ({ idempotency }) => ({ idempotency }) })
    strictEqual((await send({ key: null, url: '/notes' })).body, '{"idempotency":null}')
  }
}
