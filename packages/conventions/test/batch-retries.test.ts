import { randomBytes, randomUUID } from 'node:crypto'
import { request as call } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import { memoryIdempotencyStore, type StoredResponse } from '@concordat/idempotency'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'

interface ReadOutcome {
  readonly id: string
  readonly status: number
  readonly headers: Record<string, string>
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what is being tested
  readonly body: any
}

const limit = (most: number) => ({ limit: most, windowSeconds: 3600 })
const body = { item: 'tea' }

const itemOf = ({ params }: FastifyRequest) => (params as { item: string }).item

/**
 * Starts a service without transactions. `script` has the status codes with which the handlers of an item respond, one after another, then 200;
 * `'refused'` is a 503 of a hook before the handler. The paths below `/keyed` and `/released` take keys.
 */
async function start(t: Test, script: Record<string, (number | 'refused')[]>, options: Partial<ConventionsOptions> = {}) {
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versioning: false,
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false,
    idempotency: { scope: () => 'everyone' },
    ...options
  })
  const runs: Record<string, number> = {}
  const slow = { begun: Promise.withResolvers<void>(), released: Promise.withResolvers<void>() }
  async function handle(request: FastifyRequest, reply: FastifyReply) {
    const item = itemOf(request)
    runs[item] = (runs[item] ?? 0) + 1
    if (item === 'slow') {
      slow.begun.resolve()
      await slow.released.promise
    }
    const status = script[item]?.shift() ?? 200
    if (status === 409) reply.header('retry-after', '1')
    if (typeof status === 'number' && status >= 400) throw Object.assign(new Error('as the script says'), { statusCode: status })
    return { id: item, run: runs[item] }
  }
  const refuse = async (request: FastifyRequest) => {
    const item = itemOf(request)
    if (script[item]?.[0] !== 'refused') return
    script[item].shift()
    throw Object.assign(new Error('not now'), { statusCode: 503 })
  }
  const schema = { response: { 200: Type.Object({ id: Type.String(), run: Type.Integer() }) } }
  const all = { schema, onRequest: refuse, handlerTimeout: 10_000, handler: handle }
  app.route({ method: ['GET', 'PUT', 'PATCH', 'DELETE', 'POST'], url: '/items/:item', config: { idempotency: 'off' }, ...all })
  app.post('/items/keyed/:item', { config: { idempotency: 'required' }, ...all })
  app.post('/items/released/:item', { config: { idempotency: { key: 'required', serverErrors: 'release' } }, ...all })
  app.batch('/item-batches', { paths: ['/items'], config: { idempotency: 'accepted' } })
  await app.ready()

  async function send(operations: readonly (readonly [string, string, object?])[], headers: Record<string, string> = {}) {
    const named = operations.map(([method, path, more], index) => ({ id: `n${index}`, method, path: `/items/${path}`, ...more }))
    const response = await app.inject({ method: 'POST', url: '/item-batches', headers, payload: { operations: named } })
    const outcomes = response.json<{ data?: ReadOutcome[] }>().data ?? []
    const isReplayed = response.headers['idempotency-replayed'] === 'true'
    return { response, outcomes, isReplayed, statuses: outcomes.map(({ status }) => status), named }
  }
  return { app, send, runs, slow }
}

const key = () => ({ 'idempotency-key': randomUUID() })

t.test('a batch that is sent again executes only the operations without a final outcome [I3] [B1]', async (t) => {
  const { send, runs } = await start(t, {
    limited: [429],
    unavailable: [503, 504],
    late: [504],
    busy: [409],
    missing: [404, 200],
    refused: ['refused'],
    read: [500]
  })
  const operations = [
    ['PUT', 'done', { body }],
    ['POST', 'keyed/own', { body, headers: { 'idempotency-key': 'own' } }],
    ['PUT', 'limited', { body }],
    ['DELETE', 'unavailable'],
    ['PUT', 'late', { body }],
    ['PATCH', 'busy', { body }],
    ['PATCH', 'missing', { body }],
    ['POST', 'refused', { body }],
    ['GET', 'read']
  ] as const
  const headers = key()
  const first = await send(operations, headers)
  t.strictSame(first.statuses, [200, 200, 429, 503, 504, 409, 404, 503, 500])
  const second = await send(operations, headers)
  t.strictSame(second.statuses, [200, 200, 200, 504, 200, 200, 404, 200, 200])
  t.notOk(second.isReplayed)
  for (const index of [0, 1, 6]) t.strictSame(second.outcomes[index], first.outcomes[index])
  const third = await send(operations, headers)
  t.strictSame([third.statuses, third.isReplayed], [[200, 200, 200, 200, 200, 200, 404, 200, 200], false])
  for (const index of [2, 4, 5, 7, 8]) t.strictSame(third.outcomes[index], second.outcomes[index])
  const fourth = await send(operations, headers)
  t.strictSame([fourth.response.body, fourth.isReplayed], [third.response.body, true])
  t.strictSame(runs, { done: 1, own: 1, limited: 2, unavailable: 3, late: 2, busy: 2, missing: 1, refused: 1, read: 2 })
})

t.test('between two attempts, the key of a batch is bound to its body [I5]', async (t) => {
  const { send, runs } = await start(t, { first: [503] })
  const headers = key()
  t.strictSame((await send([['PUT', 'first', { body }]], headers)).statuses, [503])
  const other = await send([['PUT', 'second', { body }]], headers)
  t.match(other.response.json(), { error: { status: 422, code: 'IDEMPOTENCY_KEY_REUSED' } })
  t.strictSame((await send([['PUT', 'first', { body }]], headers)).statuses, [200])
  t.strictSame(runs, { first: 2 })
})

t.test('a failure of a handler that may have taken effect is final, unless its own key decides otherwise', async (t) => {
  const { send, runs } = await start(t, { posted: [503], put: [500], stored: [503], free: [503] })
  const operations = [
    ['POST', 'posted', { body }],
    ['PUT', 'put', { body }],
    ['POST', 'keyed/stored', { body }],
    ['POST', 'released/free', { body }]
  ] as const
  const headers = key()
  const first = await send(operations, headers)
  t.strictSame(first.statuses, [503, 500, 503, 503])
  const second = await send(operations, headers)
  t.strictSame(second.statuses, [503, 500, 503, 200])
  t.equal(second.outcomes[2]?.headers['idempotency-replayed'], 'true', 'the stored response of the key of the operation')
  t.strictSame(runs, { posted: 1, put: 1, stored: 1, free: 2 })
})

t.test('without a key, every operation of a batch runs each time', async (t) => {
  const { send, runs } = await start(t, { second: [503] })
  const operations = [
    ['PUT', 'first', { body }],
    ['PUT', 'second', { body }]
  ] as const
  t.strictSame((await send(operations)).statuses, [200, 503])
  t.strictSame((await send(operations)).statuses, [200, 200])
  t.strictSame(runs, { first: 2, second: 2 })
})

t.test('outcomes of earlier attempts retain their bodies within the size limit of the response', async (t) => {
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versioning: false,
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false,
    idempotency: { scope: () => 'everyone' },
    envelope: false
  })
  let runs = 0
  app.put('/texts/:name', async (request) => {
    const { name } = request.params as { name: string }
    if (name === 'long' && (runs += 1) === 1) throw Object.assign(new Error('not now'), { statusCode: 503 })
    return { text: 'ñ'.repeat(name === 'long' ? 393_100 : 200) }
  })
  app.batch('/batches', { paths: ['/texts'], config: { idempotency: 'required' } })
  const send = async () => {
    const operations = ['long', 'short'].map((name) => ({ id: name, method: 'PUT', path: `/texts/${name}` }))
    return (await app.inject({ method: 'POST', url: '/batches', headers: { 'idempotency-key': 'k' }, payload: { operations } })).json<
      ReadOutcome[]
    >()
  }
  const first = await send()
  t.equal(first[1]?.body.text.length, 200)
  const [long, short] = await send()
  t.strictSame(short, first[1])
  t.match(long, { status: 200, headers: { 'content-length': '786211' } })
  t.equal(long?.body, undefined)
})

t.test('after a timeout, a retry of a batch gets 409 until its operations have ended, and then their outcomes [I4]', async (t) => {
  const { send, runs, slow } = await start(t, {}, { transportSecurity: { dangerouslyAllowHttp: 'loopback', handlerTimeoutSeconds: 1 } })
  const operations = [
    ['PUT', 'first', { body }],
    ['PUT', 'slow', { body }],
    ['PUT', 'last', { body }]
  ] as const
  const headers = key()
  const timedOut = await send(operations, headers)
  t.match(timedOut.response.json(), { error: { code: 'HANDLER_TIMEOUT' } })
  t.match((await send(operations, headers)).response.json(), { error: { code: 'IDEMPOTENCY_IN_PROGRESS' } })
  slow.released.resolve()
  let retry = await send(operations, headers)
  while (retry.response.statusCode === 409) retry = await send(operations, headers)
  t.strictSame([retry.statuses, runs], [[200, 200, 200], { first: 1, slow: 1, last: 1 }])
  t.ok((await send(operations, headers)).isReplayed)
})

t.test('when the client disconnects, a retry executes the operations that had not started', async (t) => {
  const { app, send, runs, slow } = await start(t, {})
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const operations = [
    ['PUT', 'slow', { body }],
    ['PUT', 'last', { body }]
  ] as const
  const headers = { ...key(), 'content-type': 'application/json' }
  const named = operations.map(([method, path, more], index) => ({ id: `n${index}`, method, path: `/items/${path}`, ...more }))
  const request = call({ host: '127.0.0.1', port, method: 'POST', path: '/item-batches', headers })
  request.on('error', () => {})
  const closed = new Promise<void>((resolve) => {
    app.server.once('connection', (socket) => socket.once('close', () => resolve()))
  })
  request.end(JSON.stringify({ operations: named }))
  await slow.begun.promise
  request.destroy()
  await closed
  slow.released.resolve()
  let retry = await send(operations, headers)
  while (retry.response.statusCode === 409) {
    await setImmediate()
    retry = await send(operations, headers)
  }
  t.strictSame([retry.statuses, runs], [[200, 200], { slow: 1, last: 1 }])
})

t.test('the RateLimit field of a batch is the count after its operations [X5]', async (t) => {
  const { send } = await start(
    t,
    {},
    { rateLimiting: { client: () => ({ key: 'ada' }), addressLimit: limit(10), clientLimit: limit(1000) } }
  )
  const { response } = await send([
    ['PUT', 'a', { body }],
    ['PUT', 'b', { body }],
    ['GET', 'c']
  ])
  t.match(response.headers['ratelimit'], /^"address";r=6;t=\d+, "client";r=996;t=\d+$/)
  const eight = Array.from({ length: 8 }, (_, n) => ['PUT', `n${n}`, { body }] as const)
  t.match((await send(eight)).response.headers['ratelimit'], /^"address";r=0;t=\d+, "client";r=990;t=\d+$/)
})

const dataOf = (outcomes: readonly ReadOutcome[]) => outcomes.map(({ body: { data } }) => data)

t.test('a batch sends the secrets of its operations, and neither its replay nor its progress has them [I3] [B1]', async (t) => {
  const stored: StoredResponse[] = []
  const store = memoryIdempotencyStore()
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versioning: false,
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false,
    idempotency: { scope: () => 'everyone', maxClientBytes: 60_000 },
    stores: {
      idempotency: {
        ...store,
        complete(claim, response, lifetimeMs) {
          stored.push(response)
          return store.complete(claim, response, lifetimeMs)
        }
      }
    }
  })
  const statuses: number[] = []
  const schema = {
    response: {
      200: Type.Object({ id: Type.String(), note: Type.Optional(Type.String()), token: Type.Optional(Type.String({ 'x-secret': true })) })
    }
  }
  let note: string | undefined
  // One takes keys, and the other has no record of its own.
  for (const [url, idempotency] of [
    ['/keys', 'accepted'],
    ['/passes', 'off']
  ] as const)
    app.post(url, { config: { idempotency }, schema }, async () => ({ id: '1', token: 's1', ...(note && { note }) }))
  app.put('/doors/:id', { schema: { ...schema } }, async () => {
    const status = statuses.shift()
    if (status !== undefined) throw Object.assign(new Error('not now'), { statusCode: status })
    return { id: '2' }
  })
  app.batch('/key-batches', { paths: ['/keys', '/passes', '/doors'], config: { idempotency: 'required' } })
  await app.ready()
  const operations = [
    { id: 'a', method: 'POST', path: '/keys' },
    { id: 'b', method: 'POST', path: '/passes' },
    { id: 'c', method: 'PUT', path: '/doors/2' }
  ]
  const send = async (headers: Record<string, string>) => {
    const { headers: received, ...response } = await app.inject({ method: 'POST', url: '/key-batches', headers, payload: { operations } })
    const text = response.body
    return { headers: received, text, outcomes: (JSON.parse(text) as { data: ReadOutcome[] }).data }
  }
  const open = { id: '1', token: 's1' }

  const once = key()
  t.strictSame(dataOf((await send(once)).outcomes), [open, open, { id: '2' }])
  const replay = await send(once)
  t.strictSame(dataOf(replay.outcomes), [{ id: '1' }, { id: '1' }, { id: '2' }])
  t.match(replay.headers, { 'idempotency-replayed': 'true', 'idempotency-status': 'incomplete' })

  statuses.push(503)
  const twice = key()
  t.strictSame(dataOf((await send(twice)).outcomes), [open, open, undefined])
  const continued = await send(twice)
  t.strictSame(dataOf(continued.outcomes), [{ id: '1' }, { id: '1' }, { id: '2' }])
  t.equal(continued.headers['idempotency-replayed'], undefined)
  t.strictSame(
    continued.outcomes.map(({ headers }) => headers['idempotency-status']),
    ['incomplete', 'incomplete', undefined]
  )
  t.strictSame(dataOf((await send(twice)).outcomes), [{ id: '1' }, { id: '1' }, { id: '2' }])
  for (const { body: text } of stored) t.notMatch(String(text), /s1/)

  note = randomBytes(40_000).toString('base64')
  await send(key())
  const late = key()
  const whole = await send(late)
  t.ok(whole.outcomes[0]?.body.data.note === note)
  const reduced = await send(late)
  t.strictSame(dataOf(reduced.outcomes), [{ id: '1' }, { id: '1' }, { id: '2' }])
  t.strictSame(
    reduced.outcomes.map(({ id, status }) => [id, status]),
    [
      ['a', 200],
      ['b', 200],
      ['c', 200]
    ]
  )
})
