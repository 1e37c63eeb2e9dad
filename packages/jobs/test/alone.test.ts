import { memoryJobStore } from '@concordat/jobs'
import { until } from '@concordat/test-harness/until'
import { memoryWorkQueue, systemClock } from '@concordat/work-queue'
import t from 'tap'
import { begin, countJob, recordIn, type Sum, send, serviceOf } from './service.ts'

const uuid = /^[\da-f]{8}-/

t.test('responds with 202, Location, Retry-After and a queued record when a job is accepted [J1] [A1] [E7] [X4]', async (t) => {
  const app = await serviceOf(
    t,
    countJob(async ({ rows }) => ({ sum: rows })),
    { worker: false }
  )
  const { status, headers, json } = await send(app, 'POST', '/v1/counts', { body: { rows: 3 } })
  t.equal(status, 202)
  t.match(json.jobId, uuid)
  const href = `https://api.example.com/v1/counts/${json.jobId}`
  t.strictSame(json, { jobId: json.jobId, status: 'queued', _links: [{ rel: 'status', href, method: 'GET' }] })
  t.match(headers, { location: href, 'retry-after': '2', 'cache-control': 'no-store' })
})

t.test(
  'the status is 200 in every state, with progress while processing and a link to the result when completed [A2, A3, E7]',
  async (t) => {
    const [half, rest] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const job = countJob(async ({ rows }, { progress }) => {
      progress(1, 4)
      await half.promise
      progress(40)
      await rest.promise
      return { sum: rows }
    })
    const app = await serviceOf(t, job)
    const url = await begin(app)
    const running = await recordIn(app, url, 'processing')
    t.strictSame({ ...running, _links: 0 }, { jobId: running.jobId, status: 'processing', progress: 25, _links: 0 })
    half.resolve()
    rest.resolve()
    const over = await recordIn(app, url, 'completed')
    t.strictSame(over, {
      jobId: running.jobId,
      status: 'completed',
      _links: [
        { rel: 'status', href: url, method: 'GET' },
        { rel: 'result', href: `${url}/result`, method: 'GET' }
      ]
    })
    const { headers } = await send(app, 'GET', url)
    t.notOk('retry-after' in headers)
    t.match(await send(app, 'GET', `${url}/result`), { status: 200, json: { sum: 3 }, headers: { 'cache-control': 'no-store' } })
  }
)

t.test('onComplete "redirect" redirects from a completed job to its result with 303, unless the record is preferred [A3]', async (t) => {
  const job = countJob(async ({ rows }) => ({ sum: rows }))
  const app = await serviceOf(t, job, {}, { onComplete: 'redirect', resultPath: ({ id }) => `/files/${id}` })
  const url = await begin(app)
  await until(async () => (await send(app, 'GET', url)).status === 303)
  const { headers } = await send(app, 'GET', url)
  t.match(headers, { location: url.replace('/counts/', '/files/'), 'cache-control': 'no-store' })
  t.match(await send(app, 'GET', url, { prefer: 'return=representation' }), { status: 200, json: { status: 'completed' } })
  t.equal((await send(app, 'GET', `${url}/result`)).status, 404)
})

t.test('a client that prefers to wait gets the ended job, or its record after the wait time (RFC 7240)', async (t) => {
  const slow = Promise.withResolvers<void>()
  const job = countJob(async ({ rows }) => {
    if (rows > 1) await slow.promise
    return { sum: rows }
  })
  const app = await serviceOf(t, job)
  const quick = await send(app, 'POST', '/v1/counts', { body: { rows: 1 }, prefer: 'respond-async, wait=99' })
  t.match(quick, { status: 200, json: { status: 'completed' }, headers: { 'preference-applied': 'respond-async, wait=30' } })
  const still = await send(app, 'POST', '/v1/counts', { body: { rows: 2 }, prefer: 'WAIT="0"; foo=bar, wait=9' })
  t.match(still, { status: 202, headers: { 'preference-applied': 'wait=0' } })
  const url = String(still.headers['location'])
  const long = await send(app, 'POST', '/v1/counts', { body: { rows: 1 }, prefer: `respond-async, wait=5, ${'x'.repeat(2048)}` })
  t.equal(long.headers['preference-applied'], undefined, 'a longer header counts as absent')
  t.match(await send(app, 'GET', url, { prefer: 'wait=1' }), { status: 200, json: { status: 'processing' } })
  slow.resolve()
  t.match(await send(app, 'GET', url, { prefer: 'wait=1' }), { status: 200, json: { status: 'completed' } })
  for (const prefer of ['respond-asynchronously', 'wait', 'wait=-1', 'wait=1.5', '', 'respond-async=yes']) {
    const { headers } = await send(app, 'POST', '/v1/counts', { body: { rows: 1 }, prefer })
    t.notOk('preference-applied' in headers, prefer)
  }
  t.equal(
    (await send(app, 'POST', '/v1/counts', { body: { rows: 1 }, prefer: 'Respond-Async' })).headers['preference-applied'],
    'respond-async'
  )
})

t.test('returns 404 to clients other than the owner, and for ids that do not exist', async (t) => {
  const app = await serviceOf(
    t,
    countJob(async ({ rows }) => ({ sum: rows }))
  )
  const url = await begin(app)
  await recordIn(app, url, 'completed')
  for (const method of ['GET', 'DELETE'] as const) {
    for (const client of ['bob', null]) t.match(await send(app, method, url, { client }), { status: 404, json: { code: 'JOB_NOT_FOUND' } })
    for (const id of ['7c9e6679-7425-40de-944b-e07fc1f90ae7', 'nonsense', '%00']) {
      t.match(await send(app, method, `/v1/counts/${id}`), { status: 404, json: { code: 'JOB_NOT_FOUND' } }, id)
    }
  }
  t.equal((await send(app, 'GET', `${url}/result`, { client: 'bob' })).status, 404)
  t.equal((await send(app, 'GET', url.toUpperCase().replace('HTTPS://API.EXAMPLE.COM/V1/COUNTS', '/v1/counts'))).status, 200)
})

t.test('lists the jobs of the client that makes the request in pages, with links to their results, and not those of others', async (t) => {
  let time = Date.now()
  const job = countJob(async ({ rows }) => ({ sum: rows }))
  const app = await serviceOf(t, job, { queue: memoryWorkQueue({ clock: { ...systemClock, now: () => (time += 1) } }) })
  const urls = [await begin(app), await begin(app), await begin(app)]
  await send(app, 'POST', '/v1/counts', { body: { rows: 1 }, client: 'bob' })
  for (const url of urls) await recordIn(app, url, 'completed')
  const { json: first } = await send(app, 'GET', '/v1/counts?perPage=2&offset=0&descending=true')
  t.match(first, { hasMore: true, total: { items: 3, exact: true } })
  t.strictSame(first.rows[0], {
    jobId: urls[2]?.split('/').at(-1),
    status: 'completed',
    createdAt: first.rows[0].createdAt,
    _links: [
      { rel: 'status', href: urls[2], method: 'GET' },
      { rel: 'result', href: `${urls[2]}/result`, method: 'GET' }
    ]
  })
  t.match(first.rows[0].createdAt, /^\d{4}-.+Z$/)
  const { json: last } = await send(app, 'GET', '/v1/counts?perPage=2&offset=2')
  t.match(last, { hasMore: false, rows: [{ _links: [{ href: urls[2] }] }] })
  t.match(await send(app, 'GET', '/v1/counts?perPage=2&offset=0', { client: '' }), { status: 400, json: { code: 'CLIENT_NOT_IDENTIFIED' } })
  time += 604_800_000
  t.match((await send(app, 'GET', '/v1/counts?perPage=2&offset=0')).json, { rows: [], total: { items: 0 } }, 'expired')
})

t.test('a client that is not known gets 400 with the header to send, and no job is started', async (t) => {
  for (const client of [undefined, '']) {
    for (const [clientHeader, named] of [
      [undefined, 'Authorization'],
      ['X-Account', 'X-Account']
    ] as const) {
      const app = await serviceOf(
        t,
        countJob(async () => ({ sum: 1 })),
        { owner: () => client, clientHeader }
      )
      const response = await app.inject({ method: 'POST', url: '/v1/counts', payload: { rows: 1 } })
      t.match(response.json(), { statusCode: 400, code: 'CLIENT_NOT_IDENTIFIED', message: new RegExp(`Send the ${named} header`) })
      t.equal(response.headers['location'], undefined)
    }
  }
})

t.test('rejects invalid input field by field before anything is enqueued', async (t) => {
  let runs = 0
  const app = await serviceOf(
    t,
    countJob(async ({ rows }) => ({ sum: (runs += rows) }))
  )
  const { status, json } = await send(app, 'POST', '/v1/counts', { body: { rows: 'many', more: 1 } })
  t.equal(status, 422)
  t.equal(json.code, 'JOB_INPUT_INVALID')
  t.equal(runs, 0)
})

t.test('reports each invalid field of an input with the message of its schema keyword', async (t) => {
  const input = {
    type: 'object',
    required: ['name'],
    properties: {
      colour: { type: 'string', enum: ['red', 'blue'] },
      day: { type: 'string', format: 'date' },
      least: { type: 'integer', minimum: 2 },
      most: { type: 'integer', maximum: 3 },
      list: { type: 'array', maxItems: 1 }
    }
  }
  const job = countJob(async () => ({ sum: 1 }), { input })
  const app = await serviceOf(t, job)
  const wrong = { colour: 'green', day: 'today', least: 1, most: 4, list: [1, 2] }
  await t.rejects(app.jobs.start(job, wrong as never, { owner: 'ada' }), {
    statusCode: 422,
    code: 'JOB_INPUT_INVALID',
    errors: [
      { field: 'body.name', message: 'is required' },
      { field: 'body.colour', message: 'must be one of: red, blue' },
      { field: 'body.day', message: 'must have the format date' },
      { field: 'body.least', message: 'must be at least 2' },
      { field: 'body.most', message: 'must be at most 3' },
      { field: 'body.list', message: 'is invalid' }
    ]
  })
})

const from = (client: string) => ({ headers: { client } }) as never

t.test('app.jobs.find returns a job only to its owner', async (t) => {
  const job = countJob(async ({ rows }) => ({ sum: rows }))
  const app = await serviceOf(t, job)
  const url = await begin(app)
  await recordIn(app, url, 'completed')
  const id = url.split('/').at(-1) ?? ''
  t.match(await app.jobs.find(job, id, from('ada')), { id, state: 'completed', result: { sum: 3 } })
  await t.rejects(app.jobs.find(job, id, from('bob')), { statusCode: 404, code: 'JOB_NOT_FOUND' })
})

t.test('a job can be read until it expires, then returns 410, then 404', async (t) => {
  let time = Date.now()
  const app = await serviceOf(
    t,
    countJob(async ({ rows }) => ({ sum: rows })),
    { queue: memoryWorkQueue({ clock: { ...systemClock, now: () => time } }) }
  )
  const url = await begin(app)
  await recordIn(app, url, 'completed')
  time += 604_799_000
  t.equal((await send(app, 'GET', url)).status, 200)
  time += 1000
  for (const address of [url, `${url}/result`]) t.match(await send(app, 'GET', address), { status: 410, json: { code: 'JOB_EXPIRED' } })
  time += 86_400_000 - 1
  t.equal((await send(app, 'GET', url)).status, 410)
  time += 1
  t.match(await send(app, 'GET', url), { status: 404, json: { code: 'JOB_NOT_FOUND' } })
})

t.test('the same key of the same owner returns the same job, and is rejected with a different input', async (t) => {
  let runs = 0
  const app = await serviceOf(
    t,
    countJob(async ({ rows }) => ({ sum: (runs += 1) + rows }))
  )
  const one = await begin(app, { rows: 1 }, { 'idempotency-key': 'k' })
  await recordIn(app, one, 'completed')
  const again = await send(app, 'POST', '/v1/counts', { body: { rows: 1 }, 'idempotency-key': 'k' })
  t.match(again, { status: 200, headers: { location: one } })
  t.not(await begin(app, { rows: 1 }, { 'idempotency-key': 'k', client: 'bob' }), one)
  t.match(await send(app, 'POST', '/v1/counts', { body: { rows: 2 }, 'idempotency-key': 'k' }), {
    status: 422,
    json: { code: 'JOB_KEY_REUSED' }
  })
})

t.test('a job started in a transaction is enqueued in it, its worker is woken after the commit, and nothing waits', async (t) => {
  const queue = memoryWorkQueue()
  const committed: (() => void)[] = []
  let joined = 0
  const transactional = {
    ...queue,
    enqueue: (name: string, items: Parameters<typeof queue.enqueue>[1], transaction?: unknown) => {
      joined += transaction === undefined ? 0 : 1
      return queue.enqueue(name, items)
    }
  }
  const transaction = { query: async () => ({ rows: [] }), afterCommit: (callback: () => void) => committed.push(callback) }
  const app = await serviceOf(
    t,
    countJob(async ({ rows }) => ({ sum: rows })),
    { queue: transactional },
    {},
    { transactions: { currentTransaction: () => transaction, transactionOf: () => undefined } }
  )
  const first = await send(app, 'POST', '/v1/counts', { body: { rows: 1 }, prefer: 'wait=1', 'idempotency-key': 'k' })
  t.equal(first.status, 202)
  t.strictSame([joined, committed.length], [1, 1])
  for (const callback of committed) callback()
  await recordIn(app, String(first.headers['location']), 'completed')
  t.equal((await send(app, 'POST', '/v1/counts', { body: { rows: 1 }, 'idempotency-key': 'k' })).status, 200)
  t.equal(joined, 1)
})

t.test('stops waiting for a job when the client disconnects', async (t) => {
  const gone = Promise.withResolvers<void>()
  const slow = Promise.withResolvers<Sum>()
  const memory = memoryJobStore()
  const reads = new Map<string, number>()
  const readsOf = (url: string) => reads.get(url.split('/').at(-1) as string) ?? 0
  const store = {
    ...memory,
    async read(id: string) {
      reads.set(id, (reads.get(id) ?? 0) + 1)
      return memory.read(id)
    }
  }
  const app = await serviceOf(
    t,
    countJob(async () => slow.promise),
    { store }
  )
  const [url, other] = [await begin(app), await begin(app)]
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  app.server.once('connection', (socket) => socket.once('close', () => gone.resolve()))
  const stop = new AbortController()
  const requested = fetch(url.replace('https://api.example.com', address), {
    headers: { client: 'ada', prefer: 'wait=30' },
    signal: stop.signal
  })
  await readSeveralTimes(url)
  stop.abort()
  await t.rejects(requested)
  await gone.promise
  // The record of a connected client is read at the same intervals, so it serves as a clock.
  const stays = send(app, 'GET', other, { prefer: 'wait=30' })
  await readSeveralTimes(other)
  const after = readsOf(url)
  await readSeveralTimes(other)
  t.equal(readsOf(url), after)
  slow.resolve({ sum: 1 })
  await stays

  async function readSeveralTimes(url: string) {
    const enough = readsOf(url) + 3
    await until(() => readsOf(url) >= enough)
  }
})

t.test('a client has at most 100 jobs of a type that have not ended, and others are not affected', async (t) => {
  const app = await serviceOf(
    t,
    countJob(async () => ({ sum: 0 })),
    { worker: false }
  )
  const post = async (client: string, key?: string) =>
    send(app, 'POST', '/v1/counts', { body: { rows: 1 }, client, ...(key && { 'idempotency-key': key }) })
  const started = [await post('ada', 'first')]
  for (let number = 1; number < 100; number += 1) started.push(await post('ada'))
  t.ok(started.every(({ status }) => status === 202))
  const refused = await post('ada')
  t.match(refused, { status: 429, headers: { 'retry-after': '30' }, json: { code: 'JOB_LIMIT_EXCEEDED' } })
  t.equal((await post('ada', 'first')).headers['location'], started[0]?.headers['location'], 'a known key gets its job')
  t.equal((await post('max')).status, 202)
  t.equal((await send(app, 'DELETE', String(started[5]?.headers['location']))).status, 204)
  t.strictSame([(await post('ada')).status, (await post('ada')).status], [202, 429])
})

t.test('a job that does not end is read less and less often, and ten requests of a client wait for it', async (t) => {
  const store = memoryJobStore()
  let reads = 0
  const counting = { ...store, read: (id: string) => store.read(id).finally(() => (reads += 1)) }
  const app = await serviceOf(
    t,
    countJob(async () => ({ sum: 0 })),
    { worker: false, queue: memoryWorkQueue(), store: counting }
  )
  const [url, other] = await Promise.all(
    ['ada', 'max'].map(async (client) => String((await send(app, 'POST', '/v1/counts', { body: { rows: 1 }, client })).headers['location']))
  )
  reads = 0
  t.equal((await send(app, 'GET', url as string, { prefer: 'wait=2' })).headers['preference-applied'], 'wait=2')
  t.ok(reads > 2 && reads <= 8, `${reads} reads`)
  const waiting = Array.from({ length: 10 }, async () => send(app, 'GET', url as string, { prefer: 'wait=2' }))
  const further = await Promise.all([url, url].map(async (one) => send(app, 'GET', one as string, { prefer: 'wait=2' })))
  t.strictSame(
    further.map(({ status, headers }) => [status, headers['preference-applied']]),
    [
      [200, undefined],
      [200, undefined]
    ]
  )
  t.equal((await send(app, 'GET', other as string, { prefer: 'wait=1', client: 'max' })).headers['preference-applied'], 'wait=1')
  for (const { headers } of await Promise.all(waiting)) t.equal(headers['preference-applied'], 'wait=2')
  t.equal((await send(app, 'GET', url as string, { prefer: 'wait=0' })).headers['preference-applied'], 'wait=0')
})
