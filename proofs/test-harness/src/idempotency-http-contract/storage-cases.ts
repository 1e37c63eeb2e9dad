import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { IdempotencyStore, StoredResponse } from '@concordat/idempotency'
import type { ContractCases } from '@concordat/plugin-kit/testing'
import type { RouteHandlerMethod } from 'fastify'
import { expectRefusal, expectReplay, type HttpScene, type ServiceInput } from './service.ts'

const products = JSON.stringify({ data: Array.from({ length: 3000 }, (_, id) => ({ id, name: `Tea ${id} – ñandú`, price: `${id}.00` })) })
const tooLarge = { text: 'ä'.repeat(60) }

/** Returns text of this length that can hardly be compressed. */
function noise(length: number): string {
  return randomBytes(length).toString('base64').slice(0, length)
}

// Every store counts more than this for the text that `sendWhatIsWanted` sends, and less than twice of it. A store that estimates counts a short
// response as 16 KiB now and then: with three of them, a client does not reach the double.
const maxClientBytes = 64_000

const links = [{ rel: 'self', href: '/orders/7', method: 'GET' }]
const meta = { version: '1' }
// With a number that JavaScript would write with other digits.
const resource = `{"id":90071992547409931,"note":"${noise(2000)}"}`
const bodies: Readonly<Record<string, string>> = {
  resource: `{"data":${resource},"_links":${JSON.stringify(links)},"_meta":${JSON.stringify(meta)}}`,
  list: `{"data":[${resource},{"id":"b"},null,${resource}],"_links":[],"_meta":{}}`,
  plain: `{"id":"7","note":"${noise(2000)}","_links":[]}`,
  value: JSON.stringify(noise(700)),
  short: '{"id":1,"name":"tea"}'
}
const reducedBodies: Readonly<Record<string, string>> = {
  resource: `{"data":{"id":90071992547409931},"_links":${JSON.stringify(links)},"_meta":${JSON.stringify(meta)}}`,
  list: '{"data":[{"id":90071992547409931},{"id":"b"},{},{"id":90071992547409931}],"_links":[],"_meta":{}}',
  plain: '{"id":"7","_links":[]}'
}

/** Sends the kind of response that the body of the request names. */
const sendWhatIsWanted: RouteHandlerMethod = async ({ body }, reply) => {
  const { send: kind = '' } = body as { send?: string }
  if (kind === 'text') return reply.type('text/plain').send(noise(88_000))
  if (kind === 'encoded')
    return reply
      .header('content-encoding', 'gzip')
      .type('application/octet-stream')
      .send(gzipSync(noise(2000)))
  if (kind === 'error') return reply.code(409).send({ code: 'SOLD_OUT', items: [noise(2000)] })
  if (kind === 'nothing') return reply.code(204).send()
  return reply.code(201).headers({ location: '/orders/7', etag: '"7"' }).type('application/json; charset=utf-8').send(bodies[kind])
}

/** Returns an option for `serve` that collects the responses that are passed to the store. */
function collecting(stored: StoredResponse[]): Pick<ServiceInput, 'through'> {
  const through = (store: IdempotencyStore): IdempotencyStore => ({
    ...store,
    complete(claim, response, lifetimeMs) {
      stored.push(response)
      return store.complete(claim, response, lifetimeMs)
    }
  })
  return { through }
}

/** Cases of rows 8 and 23 about the size of stored responses. */
export const storageCases: ContractCases<HttpScene> = {
  'row 8: long text and bytes are stored compressed, and come back byte for byte': async ({ serve }) => {
    for (const body of [products, Buffer.from(products)]) {
      const stored: StoredResponse[] = []
      const { send } = await serve({ ...collecting(stored), handler: async (_request, reply) => reply.type('application/json').send(body) })
      const key = randomUUID()
      const first = await send({ key })
      deepStrictEqual([first.status, first.body], [200, products])
      const size = stored[0]?.body?.length ?? products.length
      ok(size < products.length / 4, `${size} of ${products.length} bytes are stored`)
      const retry = await send({ key })
      expectReplay(first, retry)
      strictEqual(retry.headers['content-type'], first.headers['content-type'])
      strictEqual(retry.headers['content-encoding'], undefined)
    }
  },
  'row 8: short text and bytes that cannot be compressed are stored as they are': async ({ serve }) => {
    const noise = Buffer.from(Array.from({ length: 4000 }, () => Math.floor(Math.random() * 256)))
    for (const body of ['{"id":1}', noise]) {
      const stored: StoredResponse[] = []
      const { send } = await serve({ ...collecting(stored), handler: async (_request, reply) => reply.send(body) })
      const key = randomUUID()
      const first = await send({ key })
      strictEqual(stored[0]?.body, body)
      expectReplay(first, await send({ key }))
    }
  },
  'row 8: a response that the handler encoded is stored as it is, and comes back with its Content-Encoding': async ({ serve }) => {
    const encoded = gzipSync(products)
    const stored: StoredResponse[] = []
    const { send } = await serve({
      ...collecting(stored),
      handler: async (_request, reply) => reply.header('content-encoding', 'gzip').type('application/octet-stream').send(encoded)
    })
    const [first, retry] = [await send(), await send()]
    strictEqual(stored[0]?.body, encoded)
    expectReplay(first, retry)
    deepStrictEqual([first.headers['content-encoding'], retry.headers['content-encoding']], ['gzip', 'gzip'])
  },
  'row 23: over the limit, a response is stored without its data: a retry gets status, Location, ETag, id and links': async ({ serve }) => {
    const { send, runs } = await serve({ options: { maxClientBytes }, handler: sendWhatIsWanted })
    const client = randomUUID()
    const whole = { key: randomUUID(), client, body: { send: 'text' } }
    const { body } = await send(whole)
    for (const kind of ['resource', 'list', 'plain']) {
      const reduced = { key: randomUUID(), client, body: { send: kind } }
      const [first, retry] = [await send(reduced), await send(reduced)]
      ok(first.body.length > 2000)
      strictEqual(retry.body, reducedBodies[kind])
      deepStrictEqual([first.status, first.headers['idempotency-status']], [201, undefined])
      deepStrictEqual(
        [retry.status, retry.headers['idempotency-replayed'], retry.headers['idempotency-status']],
        [201, 'true', 'incomplete']
      )
      for (const name of ['location', 'etag', 'content-type']) strictEqual(retry.headers[name], first.headers[name], name)
    }
    strictEqual((await send(whole)).body, body)
    strictEqual(runs(), 4)
  },
  'row 23: over the limit, short bodies and errors are stored whole, and text and other JSON not at all': async ({ serve }) => {
    const { send } = await serve({ options: { maxClientBytes }, handler: sendWhatIsWanted })
    const client = randomUUID()
    await send({ key: randomUUID(), client, body: { send: 'text' } })
    for (const kind of ['short', 'error', 'nothing']) {
      const request = { key: randomUUID(), client, body: { send: kind } }
      const [first, retry] = [await send(request), await send(request)]
      expectReplay(first, retry)
      strictEqual(retry.headers['idempotency-status'], undefined)
    }
    for (const kind of ['text', 'encoded', 'value']) {
      const request = { key: randomUUID(), client, body: { send: kind } }
      const [first, retry] = [await send(request), await send(request)]
      ok(first.body.length > 600)
      deepStrictEqual([retry.status, retry.body, retry.headers['idempotency-status']], [first.status, '', 'incomplete'])
      for (const name of ['content-type', 'content-encoding']) strictEqual(retry.headers[name], undefined)
    }
  },
  'row 23: at twice the limit, a client gets 429 with Retry-After before the handler runs, and no stored body is dropped': async ({
    serve
  }) => {
    const { send, runs } = await serve({ options: { maxClientBytes }, handler: sendWhatIsWanted })
    const client = randomUUID()
    const calls: { readonly key: string; readonly body: string }[] = []
    for (;;) {
      const key = randomUUID()
      const received = await send({ key, client, body: { send: 'text' } })
      if (received.status !== 200) {
        expectRefusal(received, 429, 'IDEMPOTENCY_STORAGE_EXCEEDED')
        match(String(received.headers['retry-after']), /^[1-9]\d{0,4}$/)
        break
      }
      calls.push({ key, body: received.body })
      ok(calls.length < 1000, 'The client was never refused.')
    }
    ok(calls.length > 3, `After ${calls.length} requests, the client was refused.`)
    strictEqual(runs(), calls.length)
    for (const [index, { key, body }] of calls.slice(0, 20).entries()) {
      strictEqual((await send({ key, client, body: { send: 'text' } })).body, index === 0 ? body : '')
    }
    expectRefusal(await send({ key: calls[0]?.key, client, body: {} }), 422, 'IDEMPOTENCY_KEY_REUSED')
    strictEqual((await send({ key: randomUUID(), client, url: '/notes', body: {} })).code, 'IDEMPOTENCY_STORAGE_EXCEEDED')
    strictEqual((await send({ key: null, client, url: '/notes', body: { send: 'text' } })).status, 200)
    strictEqual((await send({ key: calls[0]?.key, client: randomUUID(), body: { send: 'text' } })).status, 200)
  }
}

/** A case of row 19 for claims in transactions. */
export const transactionStorageCases: ContractCases<HttpScene> = {
  'row 19: in a transaction, a body over the limit gets 422, and the request has no effect': async ({ serve }) => {
    const stored: StoredResponse[] = []
    const { send, runs } = await serve({
      ...collecting(stored),
      route: { maxStoredBytes: 100 },
      handler: async (_request, reply) => reply.code(201).send(runs() === 3 ? {} : tooLarge)
    })
    for (let n = 0; n < 2; n += 1) expectRefusal(await send(), 422, 'IDEMPOTENCY_RESPONSE_TOO_LARGE')
    deepStrictEqual([runs(), stored.length], [2, 0])
    const last = await send()
    strictEqual(last.status, 201)
    expectReplay(last, await send())
  }
}
