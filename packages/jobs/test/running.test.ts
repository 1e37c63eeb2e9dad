import { randomUUID } from 'node:crypto'
import { defineJob, type JobStore, memoryJobStore } from '@concordat/jobs'
import { ApiError } from '@concordat/plugin-kit/api-error'
import { turns, until } from '@concordat/test-harness/until'
import { memoryWorkQueue, systemClock } from '@concordat/work-queue'
import t from 'tap'
import { begin, countJob, recordIn, send, serviceOf } from './service.ts'

t.test('retries a handler that throws, and after the last attempt the record has an error without internal details', async (t) => {
  const attempts: number[] = []
  const job = countJob(async (_, { attempt }) => {
    attempts.push(attempt)
    throw new Error('password=hunter2')
  })
  const app = await serviceOf(t, job)
  const url = await begin(app)
  const record = await recordIn(app, url, 'failed')
  t.strictSame(Object.keys(record).toSorted(), ['_links', 'error', 'jobId', 'status'])
  t.strictSame(record.error, { code: 'JOB_FAILED', message: 'The job failed. Start it again later.' })
  t.strictSame(attempts, [1, 2, 3])
  t.match(await send(app, 'GET', `${url}/result`), { status: 409, json: { code: 'JOB_HAS_NO_RESULT' } })
})

t.test('a job whose first attempt fails is queued again and can be completed', async (t) => {
  const job = countJob(
    async ({ rows }, { attempt }) => {
      if (attempt === 1) throw new Error('no')
      return { sum: rows }
    },
    { retrySeconds: () => 0.2 }
  )
  const app = await serviceOf(t, job)
  const url = await begin(app)
  await recordIn(app, url, 'queued')
  await recordIn(app, url, 'completed')
})

t.test('an ApiError from a handler ends the job and is shown to its owner', async (t) => {
  let runs = 0
  const job = countJob(async () => {
    runs += 1
    throw new ApiError(409, 'ORDERS_LOCKED', 'The orders are being archived. Try tomorrow.')
  })
  const app = await serviceOf(t, job)
  const { error } = await recordIn(app, await begin(app), 'failed')
  t.strictSame(error, { code: 'ORDERS_LOCKED', message: 'The orders are being archived. Try tomorrow.' })
  t.equal(runs, 1)
})

const outage = () => new ApiError(503, 'DATABASE_UNAVAILABLE', 'The database is not available. Try again later.')

t.test(
  'an outage, which is an ApiError with a 5xx, is retried, and the last one is shown without internal details and logged',
  async (t) => {
    const lines: Record<string, unknown>[] = []
    const attempts: number[] = []
    const recovering = countJob(async ({ rows }, { attempt }) => {
      attempts.push(attempt)
      if (attempt < 3) throw outage()
      return { sum: rows }
    })
    const app = await serviceOf(t, recovering)
    await recordIn(app, await begin(app), 'completed')
    t.strictSame(attempts, [1, 2, 3])

    const lost = countJob(async () => {
      throw outage()
    })
    const other = await serviceOf(t, lost)
    other.log.error = (line: object) => void lines.push(line as Record<string, unknown>)
    const { error } = await recordIn(other, await begin(other), 'failed')
    t.match(error, { code: 'DATABASE_UNAVAILABLE' })
    t.match(lines, [{ jobId: /^[\da-f-]{36}$/, job: String, attempt: 3 }])
  }
)

const text = (length: number) => countJob(async () => 'x'.repeat(length) as never, { maxAttempts: 1, result: { type: 'string' } })

t.test('a result that does not match its schema, or is too large, fails the job', async (t) => {
  const wrong = countJob(async () => ({ sum: 'many' }) as never, { maxAttempts: 1 })
  const app = await serviceOf(t, wrong)
  t.match(await recordIn(app, await begin(app), 'failed'), { error: { code: 'JOB_FAILED' } })
  const fitting = await serviceOf(t, text(262_142))
  await recordIn(fitting, await begin(fitting), 'completed')
  const big = await serviceOf(t, text(262_143))
  t.match(await recordIn(big, await begin(big), 'failed'), { error: { code: 'JOB_FAILED' } })
})

/** What cannot be stored as it is: each fails the job at the first attempt. */
const unstorable: Readonly<Record<string, unknown>> = {
  NUL: 'a\0b',
  'a high surrogate': 'a\ud800',
  'a low surrogate': '\udc00b',
  'a name with NUL': { 'a\0': 1 },
  'a nested NUL': [{ deep: ['a\0'] }],
  'a bigint': 9007199254740993n,
  'an infinite number': [Number.POSITIVE_INFINITY],
  'not a number': { sum: Number.NaN }
}

t.test('a result or a piece of output that cannot be stored as it is fails the job once, and the log says why', async (t) => {
  for (const [name, value] of Object.entries(unstorable))
    for (const place of typeof value === 'string' ? (['result', 'piece'] as const) : (['result'] as const)) {
      let runs = 0
      const job = countJob(
        async (_, { write }) => {
          runs += 1
          if (place === 'piece') await write(value as string)
          return value as never
        },
        { result: {} }
      )
      const app = await serviceOf(t, job)
      const lines: { err: Error }[] = []
      app.log.error = (line: object) => void lines.push(line as { err: Error })
      t.match(await recordIn(app, await begin(app), 'failed'), { error: { code: 'JOB_FAILED' } }, `${name} in a ${place}`)
      t.equal(runs, 1)
      t.match(
        lines.map(({ err }) => err.message),
        [/^jobs: (the result|a piece of the output) of count has .+ Remove it, or write it in another form/]
      )
    }
})

t.test('the text of an error with characters that cannot be stored has replacements for them', async (t) => {
  const job = countJob(async () => {
    throw new ApiError(422, 'REPORT_FAILED', 'a\0b \ud800 \udc00 👩‍🚀')
  })
  const app = await serviceOf(t, job)
  t.strictSame((await recordIn(app, await begin(app), 'failed')).error, { code: 'REPORT_FAILED', message: 'a\ufffdb \ufffd \ufffd 👩‍🚀' })
})

t.test('the code and the message of an error have the form and the length that the description says', async (t) => {
  const errors = [
    [new ApiError(422, 'A'.repeat(100), 'm'.repeat(3000)), 'A'.repeat(100)],
    [new ApiError(422, 'A'.repeat(101), 'm'.repeat(3000)), 'JOB_FAILED'],
    [new ApiError(422, 'reportFailed', 'm'.repeat(3000)), 'JOB_FAILED']
  ] as const
  for (const [thrown, code] of errors) {
    const job = countJob(async () => {
      throw thrown
    })
    const app = await serviceOf(t, job)
    t.strictSame((await recordIn(app, await begin(app), 'failed')).error, { code, message: 'm'.repeat(2048) })
  }
})

t.test('an input that cannot be stored as it is does not start a job', async (t) => {
  const job = countJob(async () => ({ sum: 1 }), { input: {} })
  const app = await serviceOf(t, job)
  for (const [name, value] of Object.entries(unstorable))
    await t.rejects(
      app.jobs.start(job, value as never, { owner: 'ada' }),
      { name: 'TypeError', message: /^jobs: the input of count has / },
      name
    )
})

t.test('a job may have schemas of JSON Schema 2020-12, whose tuples are validated, and its result has only declared members', async (t) => {
  const dialect = { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' }
  const number = { type: 'number' }
  const job = countJob(async ({ rows }) => ({ sum: rows, secret: 'x' }), {
    input: { ...dialect, properties: { rows: number, range: { type: 'array', prefixItems: [number, number], items: false } } },
    result: { ...dialect, properties: { sum: number } }
  })
  const app = await serviceOf(t, job)
  const url = await begin(app, { rows: 3, range: [1, 2] } as never)
  await recordIn(app, url, 'completed')
  t.strictSame((await send(app, 'GET', `${url}/result`)).json, { sum: 3 })
  for (const range of [
    [1, '2'],
    [1, 2, 3]
  ]) {
    const { status, json } = await send(app, 'POST', '/v1/counts', { body: { rows: 3, range } })
    t.match([status, json.code], [422, 'JOB_INPUT_INVALID'])
  }
})

t.test('DELETE cancels a queued or running job and aborts its signal; a job that has ended cannot be cancelled', async (t) => {
  const received = Promise.withResolvers<void>()
  const job = countJob(async ({ rows }, { signal }) => {
    if (rows === 1) return { sum: 1 }
    signal.addEventListener('abort', () => received.resolve())
    await received.promise
    throw new Error('stopped')
  })
  const app = await serviceOf(t, job)
  const url = await begin(app)
  await recordIn(app, url, 'processing')
  t.match(await send(app, 'DELETE', url), { status: 204, json: undefined })
  await received.promise
  await turns()
  t.match(await send(app, 'GET', url), { status: 200, json: { status: 'cancelled' } })
  t.equal((await send(app, 'DELETE', url)).status, 204)
  const over = await begin(app, { rows: 1 })
  await recordIn(app, over, 'completed')
  t.match(await send(app, 'DELETE', over), { status: 409, json: { code: 'JOB_ALREADY_OVER' } })
  const idle = await serviceOf(t, job, { worker: false })
  const waiting = await begin(idle)
  t.equal((await send(idle, 'DELETE', waiting)).status, 204)
  t.match(await send(idle, 'GET', waiting), { json: { status: 'cancelled' } })
})

t.test('a service that stops hands its jobs back, which does not count as an attempt', async (t) => {
  const queue = memoryWorkQueue()
  const store = memoryJobStore()
  const attempts: number[] = []
  const job = countJob(
    async ({ rows }, { attempt, signal }) => {
      attempts.push(attempt)
      if (attempts.length > 1) return { sum: rows }
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stop'))))
      return { sum: 0 }
    },
    { maxAttempts: 1 }
  )
  const first = await serviceOf(t, job, { queue: { ...queue, close: async () => {} }, store, stopGraceSeconds: 0 })
  const url = await begin(first)
  await recordIn(first, url, 'processing')
  await first.close()
  t.equal((await store.read(url.slice(-36)))?.state, 'queued')
  const second = await serviceOf(t, job, { queue, store })
  await recordIn(second, url, 'completed')
  t.strictSame(attempts, [1, 1])
})

t.test('restarts a job whose worker was lost, and fails it when its last attempt was lost', async (t) => {
  const queue = memoryWorkQueue()
  const store = memoryJobStore()
  const app = await serviceOf(
    t,
    countJob(async ({ rows }) => ({ sum: rows })),
    { queue, store, worker: false }
  )
  const [again, last] = [await begin(app), await begin(app)]
  // The state that a killed worker leaves: begun, but not ended.
  await store.change(again.slice(-36), { states: ['queued'] }, { state: 'processing', attempt: 0, tries: 2 })
  await store.change(last.slice(-36), { states: ['queued'] }, { state: 'processing', attempt: 0, tries: 3 })
  const worker = await serviceOf(
    t,
    countJob(async ({ rows }) => ({ sum: rows })),
    { queue, store }
  )
  await recordIn(worker, again, 'completed')
  t.match(await recordIn(worker, last, 'failed'), { error: { code: 'JOB_FAILED' } })
})

t.test('an operator starts a failed job again, with all its attempts, also when an earlier try was lost halfway', async (t) => {
  const store = memoryJobStore()
  const queue = memoryWorkQueue()
  const attempts: number[] = []
  let isFixed = false
  const job = countJob(
    async ({ rows }, { attempt }) => {
      attempts.push(attempt)
      if (!isFixed) throw new Error('broken')
      return { sum: rows }
    },
    { maxAttempts: 2 }
  )
  const app = await serviceOf(t, job, { store, queue })
  const url = await begin(app)
  const id = url.slice(-36)
  t.match(await recordIn(app, url, 'failed'), { error: { code: 'JOB_FAILED' } })
  t.equal(await app.jobs.retry(id), true)
  await recordIn(app, url, 'failed')
  isFixed = true
  await store.change(id, { states: ['failed'] }, { state: 'queued', tries: 0 })
  t.equal(await app.jobs.retry(id), true)
  t.strictSame(Object.keys(await recordIn(app, url, 'completed')).includes('error'), false)
  t.strictSame(attempts, [1, 2, 1, 2, 1])
  t.equal(await app.jobs.retry(id), false, 'a completed job')
  t.equal(await app.jobs.retry(randomUUID()), false)
  t.equal(await app.jobs.retry('nonsense'), false)
})

t.test('does not run a job that its owner cancels while a worker begins it', async (t) => {
  const memory = memoryJobStore()
  let runs = 0
  const store: JobStore = {
    ...memory,
    async change(id, expected, change, transaction) {
      if (change.state === 'processing') await memory.change(id, { states: ['queued'] }, { state: 'cancelled' })
      return memory.change(id, expected, change, transaction)
    }
  }
  const job = countJob(async () => ({ sum: (runs += 1) }))
  const app = await serviceOf(t, job, { store })
  await recordIn(app, await begin(app), 'cancelled')
  await turns()
  t.equal(runs, 0)
})

t.test('progress never decreases, stays between 0 and 100, and is written at most twice per second', async (t) => {
  let time = Date.now()
  const memory = memoryJobStore()
  const written: number[] = []
  const store: JobStore = {
    ...memory,
    async change(id, expected, change) {
      if (change.progress === 33.3) throw new Error('no connection')
      if (change.progress !== undefined && change.state === undefined) written.push(change.progress)
      return memory.change(id, expected, change)
    }
  }
  const job = countJob(async ({ rows }, { progress }) => {
    for (const [done, total] of [[10], [20], [5], [33.3], [-1], [Number.NaN], [50, 100], [1, 0], [999]] as [number, number?][]) {
      progress(done, total)
      if (done !== 10) time += 500
      await turns()
    }
    return { sum: rows }
  })
  const app = await serviceOf(t, job, { store, queue: memoryWorkQueue({ clock: { ...systemClock, now: () => time } }) })
  await recordIn(app, await begin(app), 'completed')
  t.strictSame(written, [10, 20, 50, 50, 100])
})

t.test('owners take turns: a job does not wait for all older jobs of another owner', async (t) => {
  const order: number[] = []
  const held = Promise.withResolvers<void>()
  const app = await serviceOf(
    t,
    countJob(async ({ rows }) => {
      await held.promise
      order.push(rows)
      return { sum: rows }
    })
  )
  for (const rows of [1, 2, 3, 4, 5, 6, 7, 8]) await begin(app, { rows })
  const url = await begin(app, { rows: 100 }, { client: 'grace' })
  held.resolve()
  await until(async () => (await send(app, 'GET', url, { client: 'grace' })).json.status === 'completed')
  // Turns alternate with the order of arrival, and a poll that finds no free slot can use one.
  t.ok(order.indexOf(100) <= 4, order.join())
})

t.test('a job without a result has no link to one', async (t) => {
  const job = defineJob({ name: 'count', input: {}, handler: async () => {} })
  const app = await serviceOf(t, job as never)
  const url = await begin(app)
  const record = await recordIn(app, url, 'completed')
  t.equal(record._links.length, 1)
  t.equal((await send(app, 'GET', `${url}/result`)).status, 404)
})

t.test('waits longer after each failed attempt, at most an hour', async (t) => {
  const { retrySeconds } = defineJob({ name: 'a', input: {}, handler: async () => {} })
  t.strictSame([1, 2, 3, 9].map(retrySeconds), [5, 20, 80, 3600])
})

t.test('does not run a job without a record, whose start was never confirmed', async (t) => {
  const memory = memoryJobStore()
  const polled = Promise.withResolvers<void>()
  let reads = 0
  let runs = 0
  const store: JobStore = {
    ...memory,
    async read(id) {
      reads += 1
      if (reads === 5) polled.resolve()
      return memory.read(id)
    }
  }
  const queue = memoryWorkQueue()
  await serviceOf(
    t,
    countJob(async () => ({ sum: (runs += 1) })),
    { queue, store }
  )
  const id = randomUUID()
  await queue.enqueue('job-count', [{ id, payload: id }])
  await polled.promise
  await turns()
  t.strictSame([runs, await queue.cancel('job-count', id)], [0, false])
})

t.test('what a job writes is read when it is completed, and what a failed attempt has written is not', async (t) => {
  const job = countJob(async ({ rows }, { attempt, write }) => {
    await write(`${attempt}:a`)
    if (attempt === 1) throw new Error('no')
    await write(`${attempt}:b`)
    return { sum: rows }
  })
  const app = await serviceOf(t, job)
  const url = await begin(app)
  await recordIn(app, url, 'completed')
  t.strictSame((await send(app, 'GET', `/v1/outputs/${url.split('/').at(-1)}`)).json, ['2:a', '2:b'])
})

t.test('an attempt that has ended cannot write', async (t) => {
  const written = Promise.withResolvers<unknown>()
  const memory = memoryJobStore()
  const store: JobStore = { ...memory, append: async () => false }
  const job = countJob(async ({ rows }, { write }) => {
    written.resolve(await write('late').catch((error: Error) => error.message))
    return { sum: rows }
  })
  await begin(await serviceOf(t, job, { store }))
  t.equal(await written.promise, 'jobs: attempt 1 of count has ended and cannot write its output.')
})
