import { type Api, type CallOptions, createClient } from '@concordat/client'
import { int64Json } from '@concordat/client/int64'
import { verifyWebhook } from '@concordat/client/webhooks'
import t from 'tap'

interface Anything {
  [path: string]: { args: [input?: CallOptions & { [name: string]: unknown }]; data: unknown; code: string; result: unknown }
}
interface Operations {
  get: Anything
  post: Anything
  put: Anything
  patch: Anything
  delete: Anything
  paths: Record<'get' | 'post' | 'put' | 'patch' | 'delete' | 'list' | 'update' | 'job' | 'batch', string>
}

const large = '9007199254740993'
const most = '-9223372036854775808'
const forms = [
  ['text', (digits: string) => digits],
  ['bigint', (digits: string) => BigInt(digits)]
] as const

const order = { total: 1, items: { '*': { serial: 1 } }, parent: 'Order', either: [1, { id: 1 }] }
const tableOf = (places: Record<string, unknown>, batches: readonly string[] = []) => ({
  sent: places,
  received: places,
  types: { Order: order },
  batches
})

t.test('integers of 64 bits keep all digits, and other values stay as they are', (t) => {
  for (const [form, of] of forms) {
    const cases: Record<string, readonly [place: unknown, text: string, value: unknown]> = {
      'a small one': [1, '5', of('5')],
      'a large one': [1, large, of(large)],
      'the least one': [1, most, of(most)],
      'null and a text': [{ '*': 1 }, '[null,"a",1]', [null, 'a', of('1')]],
      'a fraction': [1, '1.5', 1.5],
      'an exponent': [1, '1e3', of('1000')],
      'a member': ['Order', `{"total":${large},"other":${2 ** 40}}`, { total: of(large), other: 2 ** 40 }],
      'a member of items': [
        'Order',
        `{"items":[{"serial":${large}},{"serial":1}]}`,
        { items: [{ serial: of(large) }, { serial: of('1') }] }
      ],
      'a member of the same type': ['Order', `{"parent":{"parent":{"total":${most}}}}`, { parent: { parent: { total: of(most) } } }],
      'one alternative': ['Order', `{"either":${large}}`, { either: of(large) }],
      'the other alternative': ['Order', `{"either":{"id":${large}}}`, { either: { id: of(large) } }],
      'an item of a tuple': [{ 1: 1 }, `[1,${large}]`, [1, of(large)]],
      'all members': [{ '*': 1 }, `{"a":${large},"b":2}`, { a: of(large), b: of('2') }],
      'a missing member': ['Order', '{}', {}],
      'another type of data': ['Order', '"a"', 'a']
    }
    for (const [name, [place, text, value]] of Object.entries(cases)) {
      const json = int64Json(form, tableOf({ '/a': place }))
      t.strictSame(json.parse(text, '/a'), value, `${form}: ${name}`)
      t.strictSame(json.stringify(value, '/a'), name === 'an exponent' ? '1000' : text, `${form}: ${name}, written`)
    }
    const json = int64Json(form, tableOf({ '/a': 1 }))
    t.equal(json.parse(large, '/b'), Number(large), 'another path has numbers')
    t.equal(json.parse('12345678901234567890123', '/b'), Number('12345678901234567890123'))
    t.equal(
      Object.getPrototypeOf(int64Json(form, tableOf({ '/a': { '*': 'Order' } })).parse('{"__proto__":{"total":1}}', '/a')),
      Object.prototype
    )
  }
  t.end()
})

t.test('calls, lists, updates and batches read and write them', async (t) => {
  for (const [form, of] of forms) {
    const sent: string[] = []
    const responses: Record<string, string> = {
      'GET /orders': `{"data":[{"total":${large}}],"_links":[],"_meta":{}}`,
      'GET /orders/1': `{"data":{"total":${large}},"_links":[],"_meta":{}}`,
      'PATCH /orders/1': `{"data":{"total":${most}},"_links":[],"_meta":{}}`,
      'POST /batches': `{"data":[{"id":"0","status":200,"body":{"data":{"total":${large}},"_meta":{}}},{"id":"1","status":204}],"_links":[],"_meta":{}}`
    }
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const { pathname, search } = new URL(input instanceof Request ? input.url : input)
      sent.push(`${init?.method} ${pathname}${search} ${init?.body as string}`)
      return new Response(responses[`${init?.method} ${pathname}`], { headers: { 'content-type': 'application/json', etag: '"1"' } })
    }
    const places = { '/orders': { data: { '*': 'Order' } }, '/orders/{id}': { data: 'Order', total: 1 }, '/search': 1 } as const
    const api: Api<Operations> = { version: '1', operations: {}, json: int64Json(form, tableOf(places, ['/batches'])) }
    const shop = createClient(api, { baseUrl: 'http://service.example', fetch })
    for await (const one of shop.list('/orders', { query: { total: of(large) } })) t.strictSame(one, { total: of(large) })
    const path = { id: '1' }
    t.strictSame(await shop.update('/orders/{id}', { path }, (current) => ({ total: (current as { total: unknown }).total }) as never), {
      total: of(most)
    })
    const [changed, deleted] = await shop.batch('/batches', (b) => [
      b.patch('/orders/{id}', { path, query: { a: 1 }, body: { total: of(large) } }),
      b.delete('/orders/{id}', { path })
    ])
    t.match(changed, { ok: true, data: { total: of(large) } })
    t.match(deleted, { ok: true })
    t.strictSame(sent, [
      `GET /orders?total=${large} undefined`,
      'GET /orders/1 undefined',
      `PATCH /orders/1 {"total":${large}}`,
      `POST /batches {"operations":[{"id":"0","method":"PATCH","path":"/orders/1?a=1","headers":{},"body":{"total":${large}}},{"id":"1","method":"DELETE","path":"/orders/1","headers":{}}]}`
    ])
  }
})

t.test('events have them too', async (t) => {
  const secret = new Uint8Array(24)
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const body = `{"type":"order.created","data":{"total":${large}}}`
  const time = String(Math.floor(Date.now() / 1000))
  const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(`a.${time}.${body}`)))
  const headers = { 'webhook-id': 'a', 'webhook-timestamp': time, 'webhook-signature': `v1,${btoa(String.fromCharCode(...signature))}` }
  const keys = [`whsec_${btoa(String.fromCharCode(...secret))}`]
  for (const [form, of] of forms) {
    const api: Api<Operations> = { version: '1', operations: {}, json: int64Json(form, tableOf({ 'order.created': { data: 'Order' } })) }
    t.match(await verifyWebhook(api, { headers, body }, { keys }), { id: 'a', type: 'order.created', data: { total: of(large) } })
  }
})

t.test('a runtime whose JSON does not have the source of numbers never rounds them', (t) => {
  const { rawJSON } = JSON as { rawJSON?: unknown }
  const { parse } = JSON
  t.teardown(() => Object.assign(JSON, { rawJSON, parse }))
  Object.assign(JSON, {
    rawJSON: undefined,
    parse: (text: string, reviver?: (key: string, value: unknown) => unknown) =>
      parse(text, reviver && ((key, value) => reviver(key, value)))
  })
  for (const [form, of] of forms) {
    const json = int64Json(form, tableOf({ '/a': { a: 1 } }))
    t.strictSame(json.parse('{"a":5}', '/a'), { a: of('5') })
    t.equal(json.stringify({ a: of('5') }, '/a'), '{"a":5}')
    t.throws(() => json.parse(`{"a":${large}}`, '/a'), /cannot be read or written with all digits\. Use a runtime with JSON\.rawJSON/)
    t.throws(() => json.stringify({ a: of(large) }, '/a'), /cannot be read or written with all digits/)
  }
  t.end()
})
