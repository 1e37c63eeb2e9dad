import { mock } from 'node:test'
import jobs, { defineJob, type JobStore, jobRecordSchema, memoryJobStore } from '@concordat/jobs'
import { jobStoreContract, scheduleStoreContract } from '@concordat/jobs/testing'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { turns } from '@concordat/test-harness/until'
import { memoryWorkQueue, systemClock } from '@concordat/work-queue'
import Fastify from 'fastify'
import t from 'tap'
import { countJob } from './service.ts'

jobStoreContract(casesOf(t), memoryJobStore)
scheduleStoreContract(casesOf(t), memoryJobStore)

const owner = () => 'ada'
const define = (more: object) => () => defineJob({ name: 'a', input: {}, handler: async () => {}, ...more })

t.test('rejects invalid options at boot', async (t) => {
  const queue = memoryWorkQueue()
  const durable = { ...queue, capabilities: { ...queue.capabilities, durable: true } }
  for (const [options, message] of [
    [{ owner, queue: {} }, /options\.queue must implement WorkQueue/],
    [{ queue, owner: 'ada' }, /options\.owner must be a function/],
    [{ queue: durable, owner }, /options\.store is missing/],
    [{ store: memoryJobStore(), owner }, /options\.queue is missing/],
    [{ queue, owner, publicUrl: 'nonsense' }, /publicUrl is the invalid URL "nonsense"/]
  ] as const) {
    await t.rejects(async () => Fastify().register(jobs, options as never), { message })
  }
  const app = Fastify()
  await app.register(jobs, { queue })
  await t.rejects(async () => app.ready(), { message: /options\.owner is missing\. Set it .*, or register authentication/ })
  t.throws(define({ name: 'No Name' }), /the job name "No Name" is invalid/)
  t.throws(define({ name: 'count?' }), /the job name "count\?" is invalid/)
  t.throws(define({ name: 'x'.repeat(101) }), /is invalid\. Use kebab case and at most 100 characters/)
  t.doesNotThrow(define({ name: 'x'.repeat(100) }))
  t.throws(define({ maxAttempts: 0 }), /job "a": definition\.maxAttempts must be an integer of at least 1, but is 0/)
  t.throws(
    define({ result: { type: 'object', properties: { token: { type: 'string', 'x-secret': true } } } }),
    /result of the job "a" has a member that is marked x-secret, but a result is stored/
  )
  t.throws(define({ concurrency: 0.5 }), /job "a": definition\.concurrency must be an integer of at least 1, but is 0.5/)
})

t.test('refuses a job whose schema cannot be compiled with one line that says where the missing schema belongs', async (t) => {
  for (const part of ['input', 'result'])
    for (const [schema, message] of [
      [
        { $ref: 'numbers#' },
        `jobs: ${part} of the job "a" cannot be compiled: .*numbers.*\\. Define it in \\$defs .* app\\.addSchema\\(\\) before`
      ],
      [{ type: 'nothing' }, `jobs: ${part} of the job "a" cannot be compiled: schema is invalid: .*\\. Correct the schema\\.`]
    ] as const) {
      const app = Fastify()
      t.teardown(() => app.close())
      await app.register(jobs, { queue: memoryWorkQueue(), owner })
      t.throws(() => app.jobs.serve(define({ [part]: schema })(), '/a'), { name: 'TypeError', message: new RegExp(`^${message}`) })
    }
})

t.test('deletes jobs that expired a day ago every minute until few are left, also when no client starts a job', async (t) => {
  const lines: string[] = []
  const found = [1000, 999, new Error('down'), 0]
  const calls: unknown[] = []
  const store: JobStore = {
    ...memoryJobStore(),
    async sweep(...words) {
      calls.push(words)
      const next = found.shift() ?? 0
      if (typeof next !== 'number') throw next
      return next
    }
  }
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const app = Fastify({ logger: { stream: { write: (line: string) => void lines.push(line) } } })
  await app.register(jobs, { queue: memoryWorkQueue({ clock: { ...systemClock, now: () => 90_000_000 } }), store, owner })
  await app.ready()
  for (const count of [2, 3, 4]) {
    mock.timers.tick(60_000)
    await turns()
    t.strictSame(
      calls,
      Array.from({ length: count }, () => [3_600_000, 1000])
    )
  }
  t.match(lines.join(''), /jobs: expired jobs were not deleted/)
  await app.close()
  mock.timers.tick(60_000)
  await turns()
  t.equal(calls.length, 4)
})

t.test('job names must be unique, and a job must be served before it is started', async (t) => {
  const queue = memoryWorkQueue()
  const app = Fastify()
  await app.register(jobs, { queue, owner: () => 'ada' })
  const [one, two] = [countJob(async () => ({ sum: 1 })), countJob(async () => ({ sum: 2 }))]
  await t.rejects(app.jobs.start(one, { rows: 1 }, { owner: 'ada' }), /is not served/)
  app.jobs.serve(one, '/counts')
  t.throws(() => app.jobs.serve(two, '/others'), /the job name "count" is used twice/)
  await app.close()
})

t.test('links point to the version of the request', async (t) => {
  const queue = memoryWorkQueue()
  const app = Fastify()
  await app.register(jobs, { queue, owner: () => 'ada', publicUrl: 'https://a.example' })
  const job = countJob(async ({ rows }) => ({ sum: rows }))
  for (const prefix of ['/v1', '/v12', '/v2']) {
    await app.register(
      async (version) => {
        version.jobs.serve(job, '/counts')
        version.post<{ Body: { rows: number } }>('/counts', async (request, reply) => reply.accepted(job, request.body))
      },
      { prefix }
    )
  }
  app.post<{ Body: { rows: number } }>('/counts', async (request, reply) => reply.accepted(job, request.body))
  await app.ready()
  for (const [url, place] of [
    ['/v12/counts', '/v12/'],
    ['/v2/counts', '/v2/'],
    ['/counts', '/v1/']
  ] as const) {
    const { headers } = await app.inject({ method: 'POST', url, payload: { rows: 1 } })
    t.ok(headers.location?.startsWith(`https://a.example${place}counts/`), url)
  }
  const { state } = await app.jobs.start(job, { rows: 2 }, { owner: 'bob' })
  t.equal(state, 'queued')
  await app.close()
  await queue.close()
})

t.test('reply.accepted refuses an unknown option', async (t) => {
  const app = Fastify()
  await app.register(jobs, { owner })
  const job = countJob(async () => ({ sum: 0 }))
  app.jobs.serve(job, '/jobs')
  app.post<{ Body: { rows: number } }>('/counts', async (request, reply) => reply.accepted(job, request.body, { kye: 'a' } as object))
  const response = await app.inject({ method: 'POST', url: '/counts', payload: { rows: 1 } })
  t.match(response.json(), { statusCode: 500, message: 'jobs: options.kye is unknown. Did you mean options.key?' })
})

t.test('a route that starts jobs must declare 202, with which it responds', async (t) => {
  const app = Fastify()
  await app.register(jobs, { owner })
  const start = (response: object | undefined) => () =>
    app.post(
      `/counts/${JSON.stringify(response)}`,
      { config: { job: 'start' }, schema: response ? { response } : {} },
      async () => undefined
    )
  for (const response of [undefined, { 202: jobRecordSchema }, { '2xx': jobRecordSchema }, { '2XX': jobRecordSchema }])
    t.doesNotThrow(start(response))
  t.throws(start({ 200: { type: 'null' } }), {
    message:
      'jobs: POST /counts/{"200":{"type":"null"}} has config.job "start", but its schema.response does not declare 202, with which reply.accepted responds. Add 202: jobRecordSchema.'
  })
  await app.close()
})
