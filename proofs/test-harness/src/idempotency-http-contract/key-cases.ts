import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import type { ContractCases } from '@concordat/plugin-kit/testing'
import type { FastifyInstance } from 'fastify'
import { expectRefusal, expectReplay, type HttpScene, heldHandler } from './service.ts'

/** Cases of rows 1 to 5: valid keys, and requests that never reach the gate. */
export const keyCases: ContractCases<HttpScene> = {
  'row 1: a missing required key gets 400, and no handler runs': async ({ serve }) => {
    const { send, runs } = await serve()
    const received = await send({ key: null })
    expectRefusal(received, 400, 'IDEMPOTENCY_KEY_REQUIRED')
    strictEqual(runs(), 0)
  },
  'row 1: an optional key may be missing, and then nothing is stored': async ({ serve }) => {
    const { send, runs } = await serve()
    for (let n = 0; n < 2; n += 1) strictEqual((await send({ url: '/notes', key: null })).status, 201)
    strictEqual(runs(), 2)
  },
  'row 2: an invalid key gets 400, and no handler runs': async ({ serve }) => {
    const { send, runs } = await serve()
    const long = 'k'.repeat(256)
    const bad = [
      '',
      ' ',
      '""',
      long,
      `"${long}"`,
      '"open',
      'open"',
      '"a"b',
      '"a", "b"',
      'a, b',
      'a b',
      'a;p=1',
      '"a\\x"',
      '"a";P=1',
      'clé',
      '"clé"'
    ]
    for (const key of bad) {
      expectRefusal(await send({ key }), 400, 'IDEMPOTENCY_KEY_INVALID')
      expectRefusal(await send({ key, url: '/notes' }), 400, 'IDEMPOTENCY_KEY_INVALID')
    }
    strictEqual(runs(), 0)
  },
  'row 2: a repeated header gets 400, also when the values join to a valid string': async ({ serve, key }) => {
    const { app, runs } = await serve()
    for (const pair of [
      [`"${key}`, `b"`],
      [`"${key}"`, `"${key}"`],
      [key, key]
    ]) {
      strictEqual(await statusOverTheWire(app, pair), 400)
    }
    strictEqual(runs(), 0)
  },
  'row 3: a key is the same quoted, quoted with parameters, and bare': async ({ serve, key }) => {
    const { send, runs } = await serve()
    const first = await send({ key: `"${key}"` })
    for (const same of [key, `"${key}";p=1`, `"${key}"; a; b="c"`]) expectReplay(first, await send({ key: same }))
    strictEqual(runs(), 1)
  },
  'row 3: a quoted key is compared after its escapes are decoded': async ({ serve, key }) => {
    const { send, runs } = await serve()
    const first = await send({ key: `"${key} \\"\\\\"` })
    expectReplay(first, await send({ key: `"${key} \\"\\\\";x` }))
    strictEqual((await send({ key: `"${key} \\\\"` })).headers['idempotency-replayed'], undefined)
    strictEqual(runs(), 2)
  },
  'row 3: keys of 255 characters are accepted, and differ when one character differs': async ({ serve, key }) => {
    const { send, runs } = await serve()
    const long = key.padEnd(255, 'x')
    expectReplay(await send({ key: long }), await send({ key: `"${long}"` }))
    strictEqual((await send({ key: `${long.slice(0, -1)}y` })).headers['idempotency-replayed'], undefined)
    strictEqual(runs(), 2)
  },
  'row 4: GET, PUT and DELETE ignore the key': async ({ serve }) => {
    let runs = 0
    const { send } = await serve({
      prepare: (app) => app.route({ method: ['GET', 'PUT', 'DELETE'], url: '/orders', handler: async () => ({ run: (runs += 1) }) })
    })
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const [one, two] = [await send({ method }), await send({ method })]
      ok(one.body !== two.body)
      strictEqual(two.headers['idempotency-replayed'], undefined)
    }
  },
  'row 5: a request that is refused before the gate leaves the key unused': async ({ serve }) => {
    const { send, runs } = await serve({
      prepare(app) {
        app.addHook('preHandler', async ({ headers }, reply) => {
          return headers['x-refuse'] === undefined ? undefined : reply.code(Number(headers['x-refuse'])).send({})
        })
        app.addHook('onRoute', (route) => {
          route.bodyLimit = 1000
          route.schema = { body: { type: 'object', properties: { count: { type: 'integer' } } } }
        })
      }
    })
    for (const status of ['401', '403', '429']) strictEqual((await send({ headers: { 'x-refuse': status } })).status, Number(status))
    strictEqual((await send({ body: { count: 'many' } })).status, 400)
    strictEqual((await send({ body: '{"count":', headers: { 'content-type': 'application/json' } })).status, 400)
    strictEqual((await send({ body: { text: 'x'.repeat(1000) } })).status, 413)
    strictEqual((await send({ body: '<count/>', headers: { 'content-type': 'text/xml' } })).status, 415)
    strictEqual(runs(), 0)
    const first = await send()
    strictEqual(first.headers['idempotency-replayed'], undefined)
    expectReplay(first, await send())
  },
  'row 9: the same key with another body, query, path or method gets 422, and the record is unchanged': async ({ serve }) => {
    const { send, runs } = await serve()
    const first = await send()
    for (const other of [
      { body: { item: 'tea', count: 3 } },
      { url: '/orders?dry=1' },
      { url: '/notes' },
      { method: 'PATCH' as const },
      { body: 0 }
    ]) {
      expectRefusal(await send(other), 422, 'IDEMPOTENCY_KEY_REUSED')
    }
    expectReplay(first, await send())
    strictEqual(runs(), 1)
  },
  'row 9: a URL is the same in every spelling of its unreserved characters': async ({ serve }) => {
    const { send, runs } = await serve()
    const first = await send({ url: '/orders?to=%c3%b1&from=a-b' })
    expectReplay(first, await send({ url: '/%6Frders?to=%C3%B1&from=a%2db' }))
    expectRefusal(await send({ url: '/orders?to=%c3%b1&from=a%26b' }), 422, 'IDEMPOTENCY_KEY_REUSED')
    strictEqual(runs(), 1)
  },
  'row 9: a body is compared by its content: the order of members and white space do not matter, the order of items does': async ({
    serve
  }) => {
    const { send, runs } = await serve()
    const headers = { 'content-type': 'application/json' }
    const first = await send({ body: '{"a":1,"b":{"c":[1,2],"d":null}}', headers })
    expectReplay(first, await send({ body: '{ "b": {"d":null, "c": [1, 2]}, "a": 1.0 }', headers }))
    for (const body of ['{"a":1,"b":{"c":[2,1],"d":null}}', '{"a":1,"b":{"c":[1,2]}}', '{"a":"1","b":{"c":[1,2],"d":null}}']) {
      expectRefusal(await send({ body, headers }), 422, 'IDEMPOTENCY_KEY_REUSED')
    }
    strictEqual(runs(), 1)
  },
  'row 9: a body is compared as it was sent, before validation writes defaults into it or converts it': async ({ serve }) => {
    const { send } = await serve({
      prepare: (app) =>
        app.addHook('onRoute', (route) => {
          route.schema = { body: { type: 'object', properties: { count: { type: 'integer', default: 1 } } } }
        })
    })
    const first = await send({ body: {} })
    strictEqual(first.status, 201)
    match(first.body, /"count":1/)
    expectReplay(first, await send({ body: {} }))
    expectRefusal(await send({ body: { count: 1 } }), 422, 'IDEMPOTENCY_KEY_REUSED')
  },
  'row 6: another client with the same key is another request': async ({ serve }) => {
    const { send, runs } = await serve()
    const [ada, ben] = [await send({ client: 'ada' }), await send({ client: 'ben' })]
    ok(ada.body !== ben.body)
    expectReplay(ada, await send({ client: 'ada' }))
    expectReplay(ben, await send({ client: 'ben' }))
    deepStrictEqual([(await send({ client: 'ben', body: {} })).status, runs()], [422, 2])
  },
  'row 9: another request with the key gets 422 or 409 while the first runs, and changes nothing': async ({ serve }) => {
    const { handler, begun, letGo } = heldHandler()
    const { send, runs } = await serve({ handler })
    const first = send()
    await begun
    ok([409, 422].includes((await send({ body: {} })).status))
    letGo()
    expectReplay(await first, await send())
    expectRefusal(await send({ body: {} }), 422, 'IDEMPOTENCY_KEY_REUSED')
    strictEqual(runs(), 1)
  }
}

async function statusOverTheWire(app: FastifyInstance, keys: readonly string[]): Promise<number> {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  // Imported here because the import alone loads a large part of Node.js.
  const http = await import('node:http')
  return new Promise((resolve, reject) => {
    const headers = ['content-type', 'application/json', ...keys.flatMap((key) => ['idempotency-key', key])]
    const request = http.request({ port, host: '127.0.0.1', path: '/orders', method: 'POST', headers, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on('error', reject)
    request.end('{}')
  })
}
