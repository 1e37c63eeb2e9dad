import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import idempotency, { type IdempotencyOptions, memoryIdempotencyStore } from '@concordat/idempotency'
import { type Contracts, publish, type RequestTransaction } from '@concordat/plugin-kit/wiring'
import { stoppedTime } from '@concordat/test-harness/elapsed-time'
import compress from '@fastify/compress'
import Fastify, { type FastifyContextConfig, type FastifyReply, type FastifyRequest, type RouteHandlerMethod } from 'fastify'
import t, { type Test } from 'tap'

interface Input {
  readonly options?: IdempotencyOptions
  readonly route?: Partial<Exclude<FastifyContextConfig['idempotency'], string | undefined>>
  readonly handler?: RouteHandlerMethod
  /** What other plugins publish. */
  readonly published?: Partial<Contracts>
}

function outcomeObserver() {
  const outcomes: unknown[] = []
  const observer: Contracts['observer'] = {
    count: (_counter, attributes) => void outcomes.push(attributes?.['outcome']),
    record: () => {},
    traceparent: () => undefined,
    begin: () => () => {},
    run: async (_span, work) => work({})
  }
  return { observer, outcomes }
}

async function service(t: Test, { options, route, handler = async () => ({ made: true }), published = {} }: Input = {}) {
  const app = Fastify()
  t.teardown(() => app.close())
  publish(app, published)
  await app.register(idempotency, { scope: () => 'ada', ...options })
  app.post('/orders', { config: { idempotency: { key: 'required', ...route } } }, handler)
  const send = (payload: object | string = {}, headers: Record<string, string> = {}) =>
    app.inject({ method: 'POST', url: '/orders', payload, headers: { 'idempotency-key': 'k', ...headers } })
  return { app, send }
}

t.test('with Fastify alone, errors have a status, a code and a readable message', async (t) => {
  const { app, send } = await service(t)
  const missing = await app.inject({ method: 'POST', url: '/orders' })
  t.match(missing.json(), {
    statusCode: 400,
    error: 'Bad Request',
    code: 'IDEMPOTENCY_KEY_REQUIRED',
    message: /Send a new value with each request/
  })
  await send({ a: 1 })
  t.match((await send({ a: 2 })).json(), { statusCode: 422, code: 'IDEMPOTENCY_KEY_REUSED', message: /Send a new key, or retry/ })
})

t.test('compresses a replay as its own request accepts, because responses are stored before compression [I3]', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(idempotency, { scope: () => 'ada' })
  await app.register(compress, { threshold: 0 })
  const text = 'tea '.repeat(500)
  app.post('/orders', { config: { idempotency: 'required' } }, async () => ({ text }))
  const send = (coding: string) =>
    app.inject({ method: 'POST', url: '/orders', payload: {}, headers: { 'idempotency-key': 'k', 'accept-encoding': coding } })
  const [gzip, brotli, plain] = [await send('gzip'), await send('br'), await send('identity')]
  t.strictSame(
    [gzip, brotli, plain].map(({ headers }) => headers['content-encoding']),
    ['gzip', 'br', undefined]
  )
  t.strictSame(
    [brotli, plain].map(({ headers }) => headers['idempotency-replayed']),
    ['true', 'true']
  )
  const bodies = [gunzipSync(gzip.rawPayload), brotliDecompressSync(brotli.rawPayload), plain.rawPayload]
  t.strictSame(
    bodies.map((body) => (JSON.parse(body.toString()) as { text: string }).text),
    [text, text, text]
  )
})

t.test('row 22: a key is new after its lifetime [I2]', async (t) => {
  const clock = stoppedTime(t)
  let runs = 0
  const { send } = await service(t, {
    options: { store: memoryIdempotencyStore(), lifetimeSeconds: 3600, maxRunSeconds: 60 },
    handler: async () => ({ run: (runs += 1) })
  })
  t.equal((await send()).body, '{"run":1}')
  clock.now = 3_599_999
  t.equal((await send()).body, '{"run":1}')
  clock.now = 3_600_000
  t.equal((await send({ another: 'request' })).body, '{"run":2}')
})

t.test('row 22: a replay does not prolong the lifetime', async (t) => {
  const clock = stoppedTime(t)
  let runs = 0
  const { send } = await service(t, {
    options: { store: memoryIdempotencyStore() },
    route: { lifetimeSeconds: 60 },
    handler: async () => ({ run: (runs += 1) })
  })
  for (; clock.now < 120_000; clock.now += 30_000) await send()
  t.equal(runs, 2)
})

t.test('the memory store refuses new keys when it is full, and accepts them when old keys have expired', async (t) => {
  const clock = stoppedTime(t)
  const store = memoryIdempotencyStore({ maxKeys: 2 })
  const { app } = await service(t, { options: { store, lifetimeSeconds: 600, maxRunSeconds: 60 } })
  const send = (key: string) => app.inject({ method: 'POST', url: '/orders', payload: {}, headers: { 'idempotency-key': key } })
  t.strictSame([(await send('a')).statusCode, (await send('b')).statusCode], [200, 200])
  t.equal((await send('c')).json().code, 'IDEMPOTENCY_STORE_UNAVAILABLE')
  t.equal((await send('a')).headers['idempotency-replayed'], 'true')
  clock.now = 600_000
  t.strictSame([(await send('c')).statusCode, (await send('d')).statusCode, (await send('e')).statusCode], [200, 200, 503])
})

t.test('the memory store records responses beyond maxBytes without their body', async (t) => {
  const { app } = await service(t, {
    options: { store: memoryIdempotencyStore({ maxBytes: 3000 }) },
    handler: async () => ({ text: 'x'.repeat(1000) })
  })
  const send = (key: string) => app.inject({ method: 'POST', url: '/orders', payload: {}, headers: { 'idempotency-key': key } })
  for (const key of ['a', 'b']) t.equal((await send(key)).statusCode, 200)
  t.equal((await send('a')).headers['idempotency-replayed'], 'true')
  t.equal((await send('b')).json().code, 'IDEMPOTENCY_RESPONSE_UNAVAILABLE')
})

t.test('compares the whole body when it is text or bytes', async (t) => {
  const { app, send } = await service(t)
  app.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  for (const type of ['text/plain', 'application/octet-stream']) {
    const as = (key: string) => ({ 'content-type': type, 'idempotency-key': key })
    t.equal((await send('one', as(type.slice(0, 4)))).statusCode, 200)
    t.equal((await send('one', as(type.slice(0, 4)))).headers['idempotency-replayed'], 'true')
    t.equal((await send('two', as(type.slice(0, 4)))).statusCode, 422)
  }
})

t.test(
  'responds with 500 that names comparedBody when a body cannot be compared, and runs nothing; with comparedBody it runs',
  async (t) => {
    const parsed: unknown[] = [undefined, new Map(), { made: () => {} }, [Symbol('one')], new Date()]
    for (const body of parsed) {
      const { app, send } = await service(t)
      app.addContentTypeParser('application/odd', { parseAs: 'string' }, (_request, _text, done) => done(null, body))
      t.match((await send('odd', { 'content-type': 'application/odd' })).json(), { statusCode: 500, message: /idempotency.comparedBody/ })
    }
    const { app, send } = await service(t, { route: { comparedBody: ({ headers }) => [1n, undefined, headers['x-digest']] } })
    app.addContentTypeParser('application/odd', { parseAs: 'string' }, (_request, _text, done) => done(null, new Map()))
    const odd = { 'content-type': 'application/odd' }
    t.equal((await send('odd', { ...odd, 'x-digest': 'a' })).statusCode, 200)
    t.equal((await send('other', { ...odd, 'x-digest': 'a' })).headers['idempotency-replayed'], 'true')
    t.equal((await send('odd', { ...odd, 'x-digest': 'b' })).statusCode, 422)
  }
)

t.test('compares members named __proto__ and constructor like all others', async (t) => {
  const app = Fastify({ onProtoPoisoning: 'ignore', onConstructorPoisoning: 'ignore' })
  t.teardown(() => app.close())
  await app.register(idempotency, { scope: () => 'ada' })
  app.post('/orders', { config: { idempotency: 'required' } }, async () => ({}))
  const send = (payload: string) =>
    app.inject({ method: 'POST', url: '/orders', payload, headers: { 'idempotency-key': 'k', 'content-type': 'application/json' } })
  t.equal((await send('{"a":{"__proto__":{"b":1}},"constructor":1}')).statusCode, 200)
  t.equal((await send('{"constructor":1,"a":{"__proto__":{"b":1}}}')).headers['idempotency-replayed'], 'true')
  t.equal((await send('{"constructor":1,"a":{"__proto__":{"b":2}}}')).statusCode, 422)
  t.equal((await send('["{","constructor",1]')).statusCode, 422)
})

t.test('compares lone surrogates as they are, not as the UTF-8 replacement character', async (t) => {
  const { send } = await service(t)
  await send({ a: '\ud800' })
  for (const a of ['\ud801', '\ufffd']) t.equal((await send({ a })).statusCode, 422)
  t.equal((await send({ a: '\ud800' })).headers['idempotency-replayed'], 'true')
})

t.test('responds with 400 to a body that is nested too deeply, and leaves the key unused', async (t) => {
  const { send } = await service(t)
  const as = { 'content-type': 'application/json' }
  const [shallow, deep] = [1000, 100_000].map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`)
  t.match((await send(deep, as)).json(), { statusCode: 400, code: 'JSON_TOO_DEEP' })
  t.equal((await send(shallow, as)).statusCode, 200)
})

t.test('row 23: maxClientBytesFor gives the clients of requests limits of their own', async (t) => {
  const limits: Record<string, unknown> = { small: 1, large: 1_000_000, usual: undefined, none: 0, half: 0.5, text: '1000' }
  const lines: { level: number; err?: { message: string } }[] = []
  const app = Fastify({ logger: { level: 'error', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } } })
  t.teardown(() => app.close())
  await app.register(idempotency, {
    scope: ({ headers }) => headers['x-account']?.toString(),
    maxClientBytesFor: ({ headers }) => limits[String(headers['x-account'])] as number | undefined,
    maxClientBytes: 1_000
  })
  app.post('/orders', { config: { idempotency: 'required' } }, async () => ({ id: 1 }))
  const send = async (account: string) => {
    const headers = { 'x-account': account, 'idempotency-key': String(Math.random()) }
    return (await app.inject({ method: 'POST', url: '/orders', headers })).statusCode
  }
  const statuses: Record<string, number[]> = {}
  for (const account of Object.keys(limits)) {
    statuses[account] = []
    for (let n = 0; n < 6; n += 1) statuses[account].push(await send(account))
  }
  t.strictSame(statuses['small']?.slice(0, 2), [200, 429])
  t.strictSame(statuses['large'], Array(6).fill(200))
  t.strictSame(statuses['usual']?.slice(-1), [429])
  for (const account of ['none', 'half', 'text']) t.strictSame(statuses[account], Array(6).fill(500), account)
  t.match(lines[0]?.err?.message, /^idempotency: the result of options\.maxClientBytesFor must be an integer from 1 to \d+, but is 0\.$/)
})

t.test('row 6: a request with a key whose client is not known gets 400 with the header to send, and does not run', async (t) => {
  const lines: { level: number; msg: string }[] = []
  const logger = { level: 'info', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } }
  for (const scope of [() => undefined, () => '', () => null as never, ({ headers }: FastifyRequest) => headers['x-account']?.toString()]) {
    for (const [clientHeader, named] of [
      [undefined, 'Authorization'],
      ['X-Account', 'X-Account']
    ] as const) {
      const app = Fastify({ logger })
      t.teardown(() => app.close())
      let runs = 0
      await app.register(idempotency, { scope, clientHeader })
      app.post('/orders', { config: { idempotency: 'accepted' } }, async () => ({ runs: (runs += 1) }))
      const send = (headers: Record<string, string>) => app.inject({ method: 'POST', url: '/orders', headers })
      lines.length = 0
      const refused = await send({ 'idempotency-key': 'k' })
      t.match(refused.json(), {
        statusCode: 400,
        code: 'CLIENT_NOT_IDENTIFIED',
        message: `The service does not know which client sends this request. Send the ${named} header, which identifies the client.`
      })
      t.equal(runs, 0)
      t.match(
        lines.filter(({ msg }) => msg.startsWith('idempotency:')),
        [{ level: 30, msg: /^idempotency: options\.scope returned no client for POST \/orders\. Accept only/ }]
      )
      t.strictSame(
        lines.filter(({ level }) => level > 30),
        [],
        'nothing is logged as an error'
      )
      t.equal((await send({})).statusCode, 200, 'a request without a key needs no client')
    }
  }
})

t.test('a scope that is not a string is an error of the service', async (t) => {
  for (const scope of [7, {}, true]) {
    const { send } = await service(t, { options: { scope: () => scope as never } })
    t.match((await send()).json(), { statusCode: 500, message: /options\.scope must return a string for POST \/orders, but its result is/ })
  }
})

t.test('scope and key are distinguished wherever the boundary between them is', async (t) => {
  let client = 'a'
  const { app } = await service(t, { options: { scope: () => client } })
  const send = (key: string) => app.inject({ method: 'POST', url: '/orders', payload: {}, headers: { 'idempotency-key': key } })
  await send('bc')
  client = 'ab'
  t.equal((await send('c')).headers['idempotency-replayed'], undefined)
})

t.test('does not use a serializer that a hook has set on a replay', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(idempotency, { scope: () => 'ada' })
  app.addHook('preHandler', async (_request, reply) => void reply.serializer((value: unknown) => `(${JSON.stringify(value)})`))
  app.post('/orders', { config: { idempotency: 'required' } }, async (_request, reply) => reply.type('application/x').send({ a: 1 }))
  const send = () => app.inject({ method: 'POST', url: '/orders', payload: {}, headers: { 'idempotency-key': 'k' } })
  t.strictSame([(await send()).body, (await send()).body], ['({"a":1})', '({"a":1})'])
})

t.test('a retry that waits checks the key at intervals when the store has no changed method', async (t) => {
  const store = { ...memoryIdempotencyStore() }
  delete store.changed
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const { send } = await service(t, {
    options: { store },
    route: { waitSeconds: 30 },
    async handler() {
      begun.resolve()
      await end.promise
      return { made: true }
    }
  })
  const first = send()
  await begun.promise
  const retry = send()
  end.resolve()
  t.equal((await retry).body, (await first).body)
})

t.test('counts the outcome of each request', async (t) => {
  const { observer, outcomes } = outcomeObserver()
  const { send } = await service(t, { published: { observer } })
  await send()
  await send()
  await send({ other: 1 })
  t.strictSame(outcomes, ['ran', 'replayed', 'reused'])
})

t.test('when a thousand retries wait in the process, the next gets 409 immediately', async (t) => {
  const app = Fastify()
  const end = Promise.withResolvers<string>()
  t.teardown(() => app.close())
  await app.register(idempotency, { scope: () => 'ada' })
  app.post('/orders', { config: { idempotency: { key: 'required', waitSeconds: 60 } } }, () => end.promise)
  const send = (key: number) => app.inject({ method: 'POST', url: '/orders', headers: { 'idempotency-key': `k${key}` } })
  const sent = Array.from({ length: 11 * 100 }, (_, index) => send(index % 11))
  // With the eleven that run, 1,089 were retries.
  const refused = await Promise.any(sent)
  t.equal(refused.statusCode, 409)
  end.resolve('done')
  const statuses = (await Promise.all(sent)).map(({ statusCode }) => statusCode)
  t.equal(statuses.filter((status) => status === 409).length, 89)
})

t.test('a transactional store writes claim and response in the transaction of the request', async (t) => {
  // Simulates a plugin for transactions without a database: the work before COMMIT runs in its onSend hook.
  const begun: (RequestTransaction | undefined)[] = []
  const memory = memoryIdempotencyStore()
  let isLost = false
  const store = {
    ...memory,
    guarantees: { shared: true, transactional: true },
    begin(...received: Parameters<typeof memory.begin>) {
      begun.push(received[2].transaction)
      return memory.begin(...received)
    },
    complete: (...received: Parameters<typeof memory.complete>) => (isLost ? 'lost' : memory.complete(...received))
  }
  const app = Fastify()
  t.teardown(() => app.close())
  const works = new WeakMap<object, (reply: FastifyReply, payload: unknown) => Promise<void> | undefined>()
  const { observer, outcomes } = outcomeObserver()
  app.addHook('onRoute', (route) => {
    route.onSend = async (request, reply, payload) => {
      const work = works.get(request)
      works.delete(request)
      if (reply.statusCode < 500) await work?.(reply, payload)
      return payload
    }
  })
  publish(app, {
    observer,
    transactions: {
      transactionOf: (request) => ({ beforeCommit: (work) => void works.set(request, work) }),
      currentTransaction: () => undefined
    }
  })
  await app.register(idempotency, {
    scope: () => 'ada',
    store
  })
  let status = 201
  app.post('/orders', { config: { idempotency: 'required' } }, async (_request, reply) => reply.code(status).send({ status }))
  const send = async (key: string) => {
    const { statusCode, headers } = await app.inject({ method: 'POST', url: '/orders', payload: {}, headers: { 'idempotency-key': key } })
    return [statusCode, headers['idempotency-replayed']]
  }
  t.strictSame(
    [await send('a'), await send('a')],
    [
      [201, undefined],
      [201, 'true']
    ]
  )
  t.ok(begun.every((transaction) => transaction !== undefined))
  status = 412
  t.strictSame(await send('b'), [412, undefined])
  status = 201
  t.strictSame(
    [await send('b'), await send('b')],
    [
      [201, undefined],
      [201, 'true']
    ]
  )
  isLost = true
  t.strictSame(await send('c'), [409, undefined])
  t.strictSame(outcomes, ['ran', 'replayed', 'released', 'ran', 'replayed', 'claimLost'])
})
