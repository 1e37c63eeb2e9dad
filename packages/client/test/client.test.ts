import { createServer } from 'node:http'
import {
  type Api,
  ApiError,
  type CallOptions,
  type ClientOptions,
  ConnectionError,
  createClient,
  createSession,
  type Tokens
} from '@concordat/client'
import t, { type Test } from 'tap'

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
const own = 'sha-256=:own=:'
const api: Api<Operations> = {
  version: '1',
  digest: own,
  session: { signIn: '/tokens', signOut: '/token-revocations' },
  operations: {
    'POST /keyed': { key: 1 },
    'PATCH /keyed/{id}': { key: 1 },
    'POST /texts': { type: 'text/csv' },
    'GET /search': { lists: ['in'] },
    'POST /tokens': { open: 1 },
    'POST /token-revocations': { open: 1 }
  }
}
const baseUrl = 'http://service.example'

interface Sent {
  readonly method: string
  readonly target: string
  readonly headers: Headers
  readonly body: unknown
}
type Outcome = Response | Error | 'hang'

/** A client whose requests get these outcomes, one after the other; the last one is repeated. */
function clientOf(outcomes: readonly (Outcome | (() => Outcome))[], options: Partial<ClientOptions> = {}) {
  const sent: Sent[] = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    sent.push({ method: init?.method as string, target: url.pathname + url.search, headers: new Headers(init?.headers), body: init?.body })
    const next = outcomes[Math.min(sent.length, outcomes.length) - 1] as Outcome | (() => Outcome)
    const outcome = typeof next === 'function' ? next() : next
    const { signal } = init as RequestInit
    signal?.throwIfAborted()
    if (outcome === 'hang') return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))
    if (outcome instanceof Error) throw outcome
    return outcome.clone()
  }
  return { sent, shop: createClient(api, { baseUrl, fetch, ...options }) }
}

const data = (value: unknown, init: ResponseInit = {}) => Response.json({ data: value, _links: [], _meta: {} }, init)
const failure = (status: number, code: string, headers: Record<string, string> = {}, more: object = {}) =>
  Response.json({ error: { status, code, message: `It is ${code}.`, ...more } }, { status, headers })
const lost = new TypeError('fetch failed')
const soon = { 'retry-after': '0' }

t.test('what an outcome means for a retry and for the effect, and how often the request is sent', async (t) => {
  const cases: [string, Outcome, string, string, number][] = [
    ['GET /a', lost, 'later', 'none', 3],
    ['POST /keyed', lost, 'later', 'unknown', 3],
    ['POST /plain', lost, 'never', 'unknown', 1],
    ['PATCH /plain', lost, 'never', 'unknown', 1],
    ['PUT /plain', lost, 'later', 'unknown', 3],
    ['DELETE /plain', lost, 'later', 'unknown', 3],
    ['POST /plain', failure(400, 'MALFORMED_JSON'), 'changed', 'none', 1],
    ['POST /plain', failure(401, 'TOKEN_EXPIRED'), 'changed', 'none', 1],
    ['POST /plain', failure(403, 'INSUFFICIENT_PERMISSION'), 'never', 'none', 1],
    ['POST /plain', failure(501, 'NOT_IMPLEMENTED'), 'never', 'none', 1],
    ['POST /plain', failure(408, 'REQUEST_TIMEOUT', soon), 'later', 'none', 3],
    ['POST /plain', failure(429, 'RATE_LIMIT_EXCEEDED', soon), 'later', 'none', 3],
    ['POST /plain', failure(429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '61' }), 'later', 'none', 1],
    ['POST /plain', failure(429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '2200000' }), 'later', 'none', 1],
    ['POST /keyed', failure(409, 'IDEMPOTENCY_OUTCOME_UNKNOWN'), 'never', 'unknown', 1],
    ['POST /keyed', failure(409, 'IDEMPOTENCY_RESPONSE_UNAVAILABLE'), 'never', 'done', 1],
    ['POST /keyed', failure(409, 'INSUFFICIENT_STOCK'), 'changed', 'unknown', 1],
    ['POST /keyed', failure(422, 'VALIDATION_FAILED'), 'changed', 'none', 1],
    ['POST /keyed', failure(422, 'OWN_RULE'), 'changed', 'unknown', 1],
    ['PATCH /plain', failure(412, 'PRECONDITION_FAILED'), 'changed', 'none', 1],
    ['POST /plain', failure(503, 'SERVICE_OVERLOADED', soon), 'later', 'none', 3],
    ['POST /plain', failure(503, 'DATABASE_UNAVAILABLE', soon), 'later', 'none', 3],
    ['POST /keyed', failure(503, 'TRANSACTION_UNAVAILABLE', soon), 'later', 'unknown', 3],
    ['POST /plain', failure(503, 'HANDLER_TIMEOUT', soon), 'never', 'unknown', 1],
    ['POST /keyed', failure(500, 'INTERNAL_ERROR', soon), 'later', 'unknown', 3],
    ['POST /keyed', failure(500, 'INTERNAL_ERROR', { 'idempotency-replayed': 'true' }), 'never', 'unknown', 1],
    ['POST /keyed', failure(500, 'INTERNAL_ERROR', soon, { retry: 'never', effect: 'none' }), 'never', 'none', 1]
  ]
  for (const [operation, outcome, retry, effect, attempts] of cases) {
    const { shop, sent } = clientOf([outcome])
    const [method, path] = operation.split(' ') as ['GET', string]
    const result = await shop[method.toLowerCase() as 'get'](path, {}).result()
    const name = `${operation}: ${outcome instanceof Response ? outcome.status : outcome}`
    t.match(result, { ok: false, error: { retry, effect, attempts } }, name)
    t.equal(sent.length, attempts, name)
    t.equal(new Set(sent.map(({ headers }) => headers.get('idempotency-key'))).size, 1, 'one key for all attempts')
  }
})

t.test('Retry-After is a number of seconds, or a date that is compared with the date of the response', async (t) => {
  const date = 'Sat, 28 Nov 2026 12:00:00 GMT'
  for (const [after, attempts] of [
    ['0', 2],
    ['soon', 2],
    [date, 2],
    ['Sat, 28 Nov 2026 11:00:00 GMT', 2],
    ['Sat, 28 Nov 2026 12:02:00 GMT', 1]
  ] as const) {
    const { shop, sent } = clientOf([failure(503, 'SERVICE_OVERLOADED', { 'retry-after': after, date }), data(1)])
    await shop.post('/plain').result()
    t.equal(sent.length, attempts, after)
  }
})

t.test('a key that is in use is waited for, and does not count as a retry', async (t) => {
  const busy = failure(409, 'IDEMPOTENCY_IN_PROGRESS', soon)
  const { shop, sent } = clientOf([busy, busy, busy, busy, data('done')], { retries: 0 })
  t.equal(await shop.post('/keyed', { idempotencyKey: 'mine' }), 'done')
  t.strictSame(new Set(sent.map(({ headers }) => headers.get('idempotency-key'))), new Set(['mine']))
})

t.test('the effect is that of all attempts; a DELETE that finds nothing after a lost one succeeds', async (t) => {
  const refused = clientOf([lost, failure(403, 'INSUFFICIENT_PERMISSION')])
  t.match(await refused.shop.post('/keyed').result(), { error: { code: 'INSUFFICIENT_PERMISSION', effect: 'unknown', attempts: 2 } })
  const deleted = clientOf([lost, failure(404, 'RESOURCE_NOT_FOUND')])
  t.equal(await deleted.shop.delete('/plain'), undefined)
  await t.rejects(clientOf([failure(404, 'RESOURCE_NOT_FOUND')]).shop.delete('/plain'), { code: 'RESOURCE_NOT_FOUND' })
})

t.test('a client that has used up its budget sends no more retries; one that succeeds returns its cost', async (t) => {
  const { shop, sent } = clientOf([lost])
  for (let count = 0; count < 30; count += 1) await shop.get('/a', { retries: 1 }).result()
  t.ok(sent.length >= 60)
  const before = sent.length
  for (let count = 0; count < 30; count += 1) await shop.get('/a', { retries: 1 }).result()
  t.ok(sent.length < before + 60)
})

t.test('every form of a response is read, and every form of an error', async (t) => {
  const read = (response: Response) => clientOf([response]).shop.get('/a').result()
  t.match(await read(data({ id: 1 })), { data: { id: 1 } })
  t.match(await read(Response.json({ data: 1 })), { data: { data: 1 } }, 'not an envelope')
  t.match(await read(new Response('a;b', { headers: { 'content-type': 'text/csv' } })), { data: 'a;b' })
  t.match(await read(new Response(new Uint8Array([1]), { headers: { 'content-type': 'image/png' } })), { data: { size: 1 } })
  t.match(await read(new Response(null, { status: 204 })), { data: undefined })
  const problem = { title: 'Gone', detail: 'It is gone.', code: 'GONE', errors: [{ detail: 'no', pointer: '#/a' }, { message: 'old' }] }
  const headers = { 'content-type': 'application/problem+json', 'request-id': 'r1' }
  t.match(await read(new Response(JSON.stringify(problem), { status: 410, headers })), {
    error: { code: 'GONE', message: 'It is gone.', errors: [{ message: 'no', pointer: '#/a' }, { message: 'old' }], requestId: 'r1' }
  })
  t.match(await read(new Response('<h1>', { status: 404, headers: { 'content-type': 'text/html' } })), {
    error: { code: 'HTTP_404', message: 'The service responded with the status 404.', requestId: undefined }
  })
  const { shop } = clientOf([data(1), data(2)])
  const { data: one, response } = await shop.get('/a').withResponse()
  t.match([one, response.status], [1, 200])
  t.match(await (await shop.get('/a').asResponse()).json(), { data: 2 })
})

t.test('every form of a body is sent, and a stream only once', async (t) => {
  const form = new FormData()
  const cases: [string, unknown, string | null, number][] = [
    ['/keyed', { a: 1 }, 'application/json', 3],
    ['/keyed', new Blob(['a'], { type: 'image/png' }), 'image/png', 3],
    ['/keyed', new Uint8Array([1]), 'application/octet-stream', 3],
    ['/texts', 'a;b', 'text/csv', 1],
    ['/keyed', form, null, 3],
    ['/keyed', new ReadableStream(), 'application/octet-stream', 1]
  ]
  for (const [path, body, type, attempts] of cases) {
    const { shop, sent } = clientOf([lost])
    await shop.post(path, { body }).result()
    t.match([sent[0]?.headers.get('content-type') ?? null, sent.length], [type, attempts])
  }
})

t.test('parameters cannot change the path; arrays and objects have the form that the description states', async (t) => {
  const { shop, sent } = clientOf([data(1)])
  await shop.get('/search', { query: { in: ['a,b', 'c'], out: ['x', 'y'], deep: { a: 1 }, none: undefined } })
  t.equal(sent[0]?.target, '/search?in=a%5C%2Cb,c&out=x&out=y&deep%5Ba%5D=1')
  await shop.get('/{id}', { path: { id: 'a/b' } })
  t.equal(sent[1]?.target, '/a%2Fb')
  for (const id of ['..', '.', '']) await t.rejects(shop.get('/{id}', { path: { id } }), TypeError)
})

t.test('an abort rejects with its reason, also from result(), and leaves no listener and no timer', async (t) => {
  const reason = new Error('stop')
  const before = clientOf([data(1)]).shop.get('/a', { signal: AbortSignal.abort(reason) })
  await t.rejects(before.result(), reason)
  for (const options of [{}, { signal: new AbortController().signal }]) {
    const control = new AbortController()
    const { shop } = clientOf(['hang'], options)
    const call = shop.get('/a', { signal: control.signal })
    queueMicrotask(() => control.abort(reason))
    await t.rejects(call, reason)
  }
  const waiting = new AbortController()
  const { shop } = clientOf(
    [
      () => {
        setImmediate(() => waiting.abort(reason))
        return failure(503, 'SERVICE_OVERLOADED', { 'retry-after': '30' })
      }
    ],
    { signal: waiting.signal }
  )
  await t.rejects(shop.get('/a'), reason)
})

t.test('an attempt has a limit, and the whole call has one', async (t) => {
  const { shop, sent } = clientOf(['hang', data(1)], { attemptTimeoutSeconds: 0.02 })
  t.equal(await shop.get('/a'), 1)
  t.equal(sent.length, 2)
  const result = await clientOf(['hang'], { timeoutSeconds: 0.02 }).shop.post('/keyed').result()
  t.ok(!result.ok && result.error instanceof ConnectionError && result.error.code === 'TIMED_OUT' && result.error.effect === 'unknown')
})

t.test('a stored response without its secrets is completed by its resource', async (t) => {
  const headers = { location: 'https://public.example/keyed/1?a=b', 'idempotency-status': 'incomplete' }
  const { shop, sent } = clientOf([data({ id: 1 }, { status: 201, headers }), data({ id: 1, name: 'n' })])
  t.strictSame(await shop.post('/keyed', { body: {} }), { id: 1, name: 'n' })
  t.match(sent[1], { method: 'GET', target: '/keyed/1?a=b', body: undefined })
})

t.test('an operation that will end is reported once', async (t) => {
  const reports: unknown[] = []
  const { shop } = clientOf([data(1, { headers: { sunset: 'Sat, 28 Nov 2027 12:00:00 GMT' } })], {
    onDeprecation: (one) => reports.push(one)
  })
  await shop.get('/a')
  await shop.get('/a')
  t.match(reports, [{ operation: 'GET /a', deprecation: null, sunset: /2027/, link: null }])
  t.equal(reports.length, 1)
})

t.test('another description is reported once, also by errors and attempts that are repeated', async (t) => {
  const other = 'sha-256=:other=:'
  const named = (digest: string) => data(1, { headers: { 'description-digest': digest } })
  const cases: Record<string, readonly [outcomes: readonly Outcome[], expected: readonly string[]]> = {
    'the same': [[named(own)], []],
    'no field': [[data(1)], []],
    'another one': [[named(other)], [other]],
    'an error': [[failure(422, 'VALIDATION_FAILED', { 'description-digest': other })], [other]],
    'an attempt that is repeated': [[failure(503, 'SERVICE_OVERLOADED', { ...soon, 'description-digest': other }), data(1)], [other]],
    'two processes during a release': [[named(other), named(own), named(other)], [other]],
    'two releases': [
      [named(other), named('sha-256=:third=:')],
      [other, 'sha-256=:third=:']
    ]
  }
  for (const [name, [outcomes, expected]] of Object.entries(cases)) {
    const reports: string[] = []
    const { shop } = clientOf(outcomes, { onDescriptionChange: (digest) => reports.push(digest) })
    for (let count = 0; count < 3; count += 1) await shop.get('/a').result()
    t.strictSame(reports, expected, name)
  }
  t.match(
    await clientOf([named(other)])
      .shop.get('/a')
      .result(),
    { ok: true },
    'without the option'
  )
  const reports: string[] = []
  const fetch = async () => named(other)
  await createClient({ ...api, digest: undefined }, { baseUrl, fetch, onDescriptionChange: (one) => reports.push(one) }).get('/a')
  t.strictSame(reports, [], 'the file has no digest')
})

t.test('lists, jobs, updates and batches refuse responses that they cannot follow', async (t) => {
  const page = Response.json({ data: [1], _links: [{ rel: 'next', href: 'https://public.example/list?page=2' }] })
  const items: unknown[] = []
  const walk = async () => {
    for await (const one of clientOf([page]).shop.list('/list')) items.push(one)
  }
  await t.rejects(walk(), { message: 'client: /list?page=2 follows itself.' })
  t.equal(items.length, 1)
  await t.rejects(clientOf([data({ status: 'queued' })]).shop.job('/jobs'), { message: 'client: POST /jobs started no job.' })
  await t.rejects(
    clientOf([data({})]).shop.update('/{id}', { path: { id: 'a' } }, () => ({}) as never),
    { message: 'client: GET /{id} returned no ETag.' }
  )
  await t.rejects(
    clientOf([data([])]).shop.batch('/batches', (b) => [b.get('/a')], { atomic: true }),
    { message: /operation 0 of the batch/ }
  )
})

const record = (status: string, more: object = {}, init: ResponseInit = {}) =>
  data({ status, _links: [{ rel: 'status', href: 'https://public.example/jobs/1' }], ...more }, init)

t.test('a job ends with its result, its error, or the limit of the wait', async (t) => {
  const start = (...outcomes: Outcome[]) => clientOf([record('queued'), ...outcomes]).shop.job('/jobs', { headers: { 'x-a': 'b' } })
  const job = await start(record('processing', { progress: 5 }, { headers: soon }), record('completed'))
  const shown: number[] = []
  t.equal(await job.result({ onProgress: (percent) => shown.push(percent) }), undefined)
  t.match([job.url, shown], ['/jobs/1', [5]])
  const result = { _links: [{ rel: 'result', href: '/files/1' }] }
  const csv = new Response('a;b', { headers: { 'content-type': 'text/csv' } })
  t.equal(await (await start(record('completed', result), csv)).result({ as: 'text/csv' }), 'a;b')
  const failed = await start(record('failed', { error: { code: 'OWN_FAILURE', message: 'It failed.' } }))
  await t.rejects(failed.result(), { code: 'OWN_FAILURE', message: 'It failed.', retry: 'changed' })
  await t.rejects((await start(record('cancelled'))).result(), { code: 'JOB_CANCELLED' })
  await t.rejects((await start(record('processing'))).result({ maxWaitSeconds: -1 }), { message: /not ended in time/ })
})

t.test('a wait for a job continues after reads without a response, and ends when the service refuses one', async (t) => {
  const busy = failure(429, 'RATE_LIMIT_EXCEEDED', soon)
  const waiting = clientOf([record('queued'), lost, busy, record('completed')], { retries: 0 })
  t.equal(await (await waiting.shop.job('/jobs')).result(), undefined)
  t.equal(waiting.sent.length, 4)
  const gone = await clientOf([record('queued'), failure(404, 'RESOURCE_NOT_FOUND')]).shop.job('/jobs')
  await t.rejects(gone.result(), { code: 'RESOURCE_NOT_FOUND' })
})

t.test('an update begins again after a conflict, but not where its own change is possibly the conflict', async (t) => {
  const read = data({ n: 1 }, { headers: { etag: '"1"' } })
  const conflict = failure(412, 'PRECONDITION_FAILED')
  const change = { path: { id: 'a' } }
  const once = clientOf([read, conflict, read, data({ n: 2 })])
  t.match(await once.shop.update('/keyed/{id}', { ...change, idempotencyKey: 'k' }, () => ({ n: 2 }) as never), { n: 2 })
  const keys = once.sent.map(({ headers }) => headers.get('idempotency-key'))
  t.equal(keys[1], 'k')
  t.not(keys[3], 'k')
  const unknown = clientOf([read, lost, conflict])
  await t.rejects(
    unknown.shop.update('/plain/{id}', change, () => ({ n: 2 }) as never),
    { status: 412 } as never
  )
  const keyed = clientOf([read, lost, conflict, read, data({ n: 3 })])
  t.match(
    await keyed.shop.update('/keyed/{id}', change, () => ({ n: 2 }) as never),
    { n: 3 },
    'with a key, the conflict is with another change'
  )
})

t.test('a session that cannot be refreshed ends; a lost refresh does not end it', async (t) => {
  const tokens = { accessToken: 'a1', refreshToken: 'r1' }
  const refreshedBy = async (outcome: Outcome | (() => Outcome), change?: (store: { tokens: Tokens | undefined }) => void) => {
    const store: { tokens: Tokens | undefined } = { tokens }
    const session = createSession(api, {
      store: {
        load: () => store.tokens,
        save(next) {
          store.tokens = next
        }
      }
    })
    const { shop } = clientOf(
      [failure(401, 'TOKEN_EXPIRED'), () => (change?.(store), typeof outcome === 'function' ? outcome() : outcome), data('read')],
      { session }
    )
    return [await shop.get('/a').result(), store.tokens?.accessToken] as const
  }
  t.match(await refreshedBy(data({ accessToken: 'a2', refreshToken: 'r2' })), [{ ok: true }, 'a2'])
  t.match(await refreshedBy(failure(401, 'REFRESH_TOKEN_REUSED')), [{ ok: false, error: { code: 'REFRESH_TOKEN_REUSED' } }, undefined])
  t.match(await refreshedBy(failure(503, 'SERVICE_OVERLOADED', { 'retry-after': '70' })), [{ ok: false }, 'a1'])
  const signedOut = await refreshedBy(data({ accessToken: 'a2', refreshToken: 'r2' }), (store) => {
    store.tokens = undefined
  })
  t.equal(signedOut[1], undefined, 'a sign-out during the refresh remains')
  const otherTab = await refreshedBy(failure(401, 'REFRESH_TOKEN_REUSED'), (store) => {
    store.tokens = { accessToken: 'a3', refreshToken: 'r3' }
  })
  t.match(otherTab, [{ ok: true }, 'a3'], 'the tokens of a faster tab remain')
})

t.test('wrong options are refused in one line', async (t) => {
  const refused = (options: object, message: string) => t.throws(() => createClient(api, { baseUrl, ...options }), { message })
  refused({ retrys: 1 }, 'client: options.retrys is unknown. Remove it.')
  refused({ baseUrl: '/v1' }, 'client: options.baseUrl must be an absolute URL.')
  refused({ session: createSession(api), token: () => 'a' }, 'client: options.session and options.token exclude each other.')
  t.throws(() => createSession(api, { strore: 1 } as object), { message: 'client: options.strore is unknown. Remove it.' })
  const { session: _session, ...without } = api
  t.throws(() => createSession(without), { message: 'client: this service has no sessions.' })
  await t.rejects(createSession(api).signIn({}), { message: 'client: pass the session to createClient first.' })
})

t.test('the global fetch is used by default', async (t) => {
  const server = createServer((_request, response) => response.setHeader('content-type', 'application/json').end('{"data":1,"_meta":{}}'))
  await listening(t, server)
  const { port } = server.address() as { port: number }
  t.equal(await createClient(api, { baseUrl: `http://127.0.0.1:${port}/`, token: () => 'a' }).get('/a'), 1)
})

function listening(t: Test, server: ReturnType<typeof createServer>) {
  t.teardown(() => server.close())
  return new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
}

t.test('isCode of the client accepts any value', (t) => {
  const { shop } = clientOf([data(1)])
  t.notOk(shop.isCode(new Error('x'), 'A'))
  t.ok(
    shop.isCode(
      new ApiError('x', {
        code: 'A',
        status: 400,
        errors: [],
        headers: new Headers(),
        retry: 'never',
        effect: 'none',
        idempotencyKey: undefined,
        attempts: 1
      }),
      'A'
    )
  )
  t.end()
})
