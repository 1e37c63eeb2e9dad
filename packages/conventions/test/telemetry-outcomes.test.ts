import { randomUUID } from 'node:crypto'
import conventions, { serverOptions } from '@concordat/conventions'
import { defineJob, jobRecordSchema } from '@concordat/jobs'
import { until } from '@concordat/test-harness/until'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'

const exporter = new InMemorySpanExporter()
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }))
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())

const secure = { 'x-forwarded-proto': 'https', host: 'api.example.com' }
const Book = { type: 'object', required: ['title'], properties: { title: { type: 'string', minLength: 1 } } } as const

async function service(routes: (v1: FastifyInstance) => void, options: object = {}) {
  const app = Fastify({ ...serverOptions({ trustProxy: ['127.0.0.1'] }) })
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    authentication: false,
    telemetry: { prometheus: true, traces: true },
    idempotency: { scope: () => 'everyone', waitSeconds: 5 },
    jobs: { owner: () => 'ada' },
    ...options
  })
  await app.apiVersion(1, async (v1) => routes(v1))
  return app
}

async function shows(app: FastifyInstance, ...lines: readonly string[]) {
  let text = ''
  await until(async () => {
    text = (await app.inject('/metrics')).body
    return lines.every((line) => text.includes(`\n${line}`))
  })
}

t.test('the outcomes of keys are counted: new, replayed, conflicting, and what a retry waited for', async () => {
  const release = Promise.withResolvers<void>()
  let isRunning = false
  const app = await service((v1) => {
    const config = { idempotency: 'required' } as const
    v1.post('/books', { config, schema: { body: Book, response: { 201: Book } } }, async (request, reply) => {
      isRunning = true
      await release.promise
      return reply.created('/books/1', request.body)
    })
  })
  const post = async (title: string) =>
    app.inject({ method: 'POST', url: '/v1/books', payload: { title }, headers: { ...secure, 'idempotency-key': 'one' } })
  const first = post('Emma')
  await until(() => isRunning)
  const second = post('Emma')
  const other = await post('Persuasion')
  t.equal(other.statusCode, 422)
  release.resolve()
  await Promise.all([first, second])
  await shows(
    app,
    'concordat_idempotency_outcomes_total{outcome="ran"} 1',
    'concordat_idempotency_outcomes_total{outcome="replayed"} 1',
    'concordat_idempotency_outcomes_total{outcome="reused"} 1',
    'concordat_idempotency_wait_duration_seconds_count{outcome="done"} 1'
  )
  await app.close()
})

t.test('jobs are measured by outcome and kind of failure, and continue the trace of their request', async (t) => {
  exporter.reset()
  let failures = 0
  const job = defineJob<{ fails?: boolean }>({
    name: 'report',
    input: { type: 'object', properties: { fails: { type: 'boolean' } } },
    maxAttempts: 2,
    retrySeconds: () => 0,
    handler: async ({ fails }) => {
      failures += 1
      if (fails) throw new RangeError(`a text that differs: ${randomUUID()}`)
    }
  })
  const app = await service((v1) => {
    v1.jobs.serve(job, '/reports')
    const config = { job: 'start', idempotency: 'off' } as const
    v1.post('/reports', { config, schema: { body: job.input, response: { 202: jobRecordSchema } } }, async (request, reply) =>
      reply.accepted(job, request.body as object)
    )
  })
  for (const payload of [{}, { fails: true }]) {
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/v1/reports', payload, headers: secure })
    t.equal(statusCode, 202, body)
  }
  await shows(
    app,
    'concordat_job_duration_seconds_count{job_name="report",outcome="completed"} 1',
    'concordat_job_duration_seconds_count{job_name="report",outcome="retried",error_type="RangeError"} 1',
    'concordat_job_duration_seconds_count{job_name="report",outcome="failed",error_type="RangeError"} 1',
    'concordat_queue_jobs{queue="job-report",state="waiting"} 0'
  )
  t.equal(failures, 3)
  const spans = exporter.getFinishedSpans()
  const requests = spans.filter(
    ({ parentSpanContext, attributes }) => parentSpanContext === undefined && attributes['http.route'] === '/v1/reports'
  )
  const traces = new Set(requests.map((span) => span.spanContext().traceId))
  const jobs = spans.filter(({ name }) => name === 'job-report')
  t.equal(traces.size, 2)
  t.equal(jobs.length, 3)
  t.ok(jobs.every((span) => traces.has(span.spanContext().traceId)))
  await app.close()
})

t.test('operations of batches are not counted as requests', async (t) => {
  const app = await service((v1) => {
    v1.post('/books', { config: { idempotency: 'off' }, schema: { body: Book, response: { 201: Book } } }, async (request, reply) =>
      reply.created('/books/1', request.body)
    )
    v1.batch('/book-batches', { paths: ['/books'], config: { idempotency: 'off' } })
  })
  const operations = ['a', 'b'].map((id) => ({ id, method: 'POST', path: '/v1/books', body: { title: 'Emma' } }))
  const { statusCode, body } = await app.inject({ method: 'POST', url: '/v1/book-batches', payload: { operations }, headers: secure })
  t.equal(statusCode, 200, body)
  const text = (await app.inject('/metrics')).body
  t.match(text, /\nconcordat_batch_operation_duration_seconds_count\{[^}]*http_route="\/v1\/books"[^}]*\} 2\n/)
  t.notMatch(text, /\nhttp_server_request_duration_seconds_count\{[^}]*http_route="\/v1\/books"/)
  await app.close()
})
