import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { ContractCases } from '@concordat/contract-testing'
import type { RouteHandlerMethod } from 'fastify'
import type { IdempotencyStore, StoredResponse } from '../../store.ts'
import { expectRefusal, expectReplay, type HttpScene, type ServiceInput } from './service.ts'

const products = JSON.stringify({ data: Array.from({ length: 3000 }, (_, id) => ({ id, name: `Tea ${id} – ñandú`, price: `${id}.00` })) })
const tooLarge = { text: 'ä'.repeat(60) }

/** Returns a handler that sends `length` characters, which cannot be compressed. */
function sendingNoise(length: number): RouteHandlerMethod {
  return async (_request, reply) => {
    const uuids = Array.from({ length: length / 32 }, () => randomUUID().replaceAll('-', ''))
    return reply.type('text/plain').send(uuids.join(''))
  }
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
  'row 23: a client whose stored responses have reached the limit gets 429 with Retry-After before the handler runs': async ({ serve }) => {
    const { send, runs } = await serve({ options: { maxClientBytes: 300_000 }, handler: sendingNoise(160_000) })
    const client = randomUUID()
    const calls: { readonly key: string; readonly body: string }[] = []
    for (;;) {
      const key = randomUUID()
      const received = await send({ key, client })
      if (received.status !== 200) {
        expectRefusal(received, 429, 'IDEMPOTENCY_STORAGE_EXCEEDED')
        match(String(received.headers['retry-after']), /^[1-9]\d{0,4}$/)
        break
      }
      calls.push({ key, body: received.body })
      ok(calls.length < 10, 'The client was never refused.')
    }
    strictEqual(runs(), calls.length)
    for (const { key, body } of calls) strictEqual((await send({ key, client })).body, body)
    expectRefusal(await send({ key: calls[0]?.key, client, body: {} }), 422, 'IDEMPOTENCY_KEY_REUSED')
    strictEqual((await send({ key: randomUUID(), client, url: '/notes', body: {} })).code, 'IDEMPOTENCY_STORAGE_EXCEEDED')
    strictEqual((await send({ key: null, client, url: '/notes' })).status, 200)
    strictEqual((await send({ key: calls[0]?.key, client: randomUUID() })).status, 200)
  }
}

/** A case of row 19 for claims in transactions. */
export const transactionStorageCases: ContractCases<HttpScene> = {
  'row 19: in a transaction, a body over the limit gets 422, and the request has no effect': async ({ serve }) => {
    const stored: StoredResponse[] = []
    const outcomes: string[] = []
    const { send, runs } = await serve({
      ...collecting(stored),
      options: { onOutcome: (outcome) => outcomes.push(outcome) },
      route: { maxStoredBytes: 100 },
      handler: async (_request, reply) => reply.code(201).send(runs() === 3 ? {} : tooLarge)
    })
    for (let n = 0; n < 2; n += 1) expectRefusal(await send(), 422, 'IDEMPOTENCY_RESPONSE_TOO_LARGE')
    deepStrictEqual([runs(), stored.length], [2, 0])
    const last = await send()
    strictEqual(last.status, 201)
    expectReplay(last, await send())
    deepStrictEqual(outcomes, ['responseTooLarge', 'responseTooLarge', 'ran', 'replayed'])
  }
}
