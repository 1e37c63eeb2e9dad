import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { contribute } from '@concordat/plugin-kit/wiring'
import telemetry from '@concordat/telemetry'
import { until } from '@concordat/test-harness/until'
import { metrics } from '@opentelemetry/api'
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { valueOf } from './exposition.ts'

const durations = 'http_server_request_duration_seconds'

async function served(options: object = {}, server: object = {}) {
  const app = Fastify({ ...server })
  await app.register(telemetry, { prometheus: true, ...options })
  return app
}

async function scrape(app: FastifyInstance) {
  const { statusCode, headers, body } = await app.inject('/metrics')
  if (statusCode !== 200 || headers['content-type'] !== 'text/plain; version=0.0.4; charset=utf-8') throw new Error(body)
  return body
}

t.test('Fastify alone counts requests by route, method, status code and error', async (t) => {
  const app = await served()
  app.get('/books/:id', async () => ({ ok: true }))
  app.get('/broken', async () => {
    throw new Error('broken')
  })
  await app.inject('/books/1')
  await app.inject('/books/2')
  await app.inject('/broken')
  await app.inject('/nowhere')
  const text = await scrape(app)
  const books = { http_request_method: 'GET', http_route: '/books/:id', http_response_status_code: '200', url_scheme: 'http' }
  t.equal(valueOf(text, `${durations}_count`, books), 2)
  t.ok((valueOf(text, `${durations}_sum`, books) as number) > 0)
  t.ok(valueOf(text, `${durations}_bucket`, { ...books, le: '0.005' }) !== undefined, 'the buckets are for seconds')
  t.equal(valueOf(text, `${durations}_count`, { http_route: '/broken', http_response_status_code: '500', error_type: '500' }), 1)
  t.equal(valueOf(text, `${durations}_count`, { http_response_status_code: '404', error_type: '404' }), 1)
  t.notMatch(text, /nowhere/)
  await app.close()
})

// All of them with --long.
const requests = process.env['TEST_SCALE'] === 'long' ? 100_000 : 2500

t.test(`${requests} different ids, paths and keys make two series`, async (t) => {
  const app = await served()
  app.get('/books/:id', async () => 'a book')
  for (let id = 0; id < requests; id += 1) {
    const path = id % 2 === 0 ? 'books' : `paths-${id}`
    await app.inject({ url: `/${path}/${id}?key=${id}`, headers: { 'idempotency-key': `key-${id}` } })
  }
  const text = await scrape(app)
  const series = text.split('\n').filter((line) => line.startsWith(`${durations}_count`))
  t.equal(series.length, 2)
  await app.close()
})

// Most of these a client can choose; the others are what handlers send.
const statuses = [200, 204, 304, ...Array.from({ length: 52 }, (_, index) => 400 + index), 500, 502, 503]
const verbs = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'MKCOL', 'LOCK'] as const

t.test('a refusal has no route, method or scheme, so all refusals make one series for each code', async (t) => {
  const app = await served({}, { trustProxy: true })
  for (const name of ['MKCOL', 'LOCK']) app.addHttpMethod(name)
  const paths = Array.from({ length: 5 }, (_, index) => `/things-${index}`)
  for (const url of paths)
    app.route({
      method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'MKCOL'],
      url: `${url}/:status`,
      handler: (request, reply) => reply.code(Number((request.params as { readonly status: string }).status)).send()
    })
  const sent = [...paths, '/nowhere'].flatMap((path) =>
    verbs.flatMap((method) => statuses.map((status) => ({ method, url: `${path}/${status}` })))
  )
  for (const [index, request] of sent.entries())
    await app.inject({ ...request, headers: { 'x-forwarded-proto': index % 2 === 0 ? 'https' : 'http' } } as object)
  const counts = (await scrape(app)).split('\n').filter((line) => line.startsWith(`${durations}_count`))
  const refusals = counts.filter((line) => /status_code="4/.test(line))
  t.equal(refusals.length, 52)
  t.strictSame(
    refusals.filter((line) => !/_count\{http_response_status_code="(4\d\d)",error_type="\1"\} \d+$/.test(line)),
    []
  )
  // Six methods and HEAD of five routes, three statuses of success and three of errors.
  const others = counts.filter((line) => !refusals.includes(line))
  t.equal(others.length, 7 * 5 * 6)
  t.strictSame(
    others.filter((line) => !/http_request_method="\w+",http_route="\/things-\d\/:status",url_scheme="https?"/.test(line)),
    []
  )
  await app.close()
})

t.test('a metric has at most 2,000 series, and a scrape holds the event loop for 25 of them at a time', async (t) => {
  const app = await served()
  for (let index = 0; index < 2100; index += 1) app.get(`/route-${index}`, async () => 'a thing')
  for (let index = 0; index < 2100; index += 1) await app.inject(`/route-${index}`)
  const ended = new AbortController()
  const scraped = app.inject('/metrics').finally(() => ended.abort())
  let turns = 0
  while (!ended.signal.aborted) {
    await setImmediate()
    turns += 1
  }
  const { body } = await scraped
  t.ok(turns >= 2000 / 25, `${turns} turns of the event loop`)
  const counts = body.split('\n').filter((line) => line.startsWith(`${durations}_count`))
  t.equal(counts.length, 2000)
  t.ok((valueOf(body, `${durations}_count`, { otel_metric_overflow: 'true' }) as number) >= 101, 'the others together')
  for (const kind of ['HELP', 'TYPE']) {
    const names = body.split('\n').flatMap((line) => (line.startsWith(`# ${kind} `) ? [line.split(' ')[2]] : []))
    t.strictSame(names, [...new Set(names)], `one ${kind} for each metric`)
  }
  t.notMatch(body, /\n\n/)
  await app.close()
})

t.test('a client that leaves before its response is counted', async () => {
  const app = await served()
  const { promise: arrived, resolve } = Promise.withResolvers<void>()
  app.get('/slow', async (request) => {
    resolve()
    await once(request.raw.socket, 'close')
    return 'late'
  })
  await app.listen({ port: 0 })
  const socket = connect((app.addresses()[0] as { port: number }).port, '127.0.0.1')
  socket.write('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await arrived
  socket.destroy()
  const slow = { http_route: '/slow', http_request_method: 'GET' }
  await until(async () => valueOf(await scrape(app), 'concordat_http_server_aborted_total', slow) === 1)
  await app.close()
})

t.test('the process is measured: its event loop, memory and age', async (t) => {
  const app = await served()
  await app.ready()
  // The delay is measured every ten milliseconds.
  await until(async () => valueOf(await scrape(app), 'nodejs_eventloop_delay_p99_seconds') !== undefined, 50)
  const text = await scrape(app)
  for (const name of [
    'nodejs_eventloop_utilization_ratio',
    'process_memory_usage_bytes',
    'nodejs_memory_heap_used_bytes',
    'process_uptime_seconds'
  ])
    t.ok(valueOf(text, name) !== undefined, name)
  await app.close()
})

t.test('only this machine may read the metrics, unless other addresses are set', async (t) => {
  const app = await served({}, { trustProxy: '127.0.0.1' })
  t.equal((await app.inject('/metrics')).statusCode, 200)
  t.equal((await app.inject({ url: '/metrics', remoteAddress: '::1' })).statusCode, 200)
  t.equal((await app.inject({ url: '/metrics', remoteAddress: '::ffff:127.0.0.1' })).statusCode, 200)
  t.equal((await app.inject({ url: '/metrics', remoteAddress: '10.0.0.7' })).statusCode, 404)
  // Through a proxy on this machine.
  t.equal((await app.inject({ url: '/metrics', headers: { 'x-forwarded-for': '203.0.113.9' } })).statusCode, 404)
  // Whatever address it names.
  for (const [forwarded, status] of [
    ['127.0.0.1:5000', 404],
    ['[::1]:5000', 404],
    ['203.0.113.9:5000', 404],
    ['unknown', 404]
  ] as const)
    t.equal((await app.inject({ url: '/metrics', headers: { 'x-forwarded-for': forwarded } })).statusCode, status, forwarded)
  await app.close()
  const open = await served({ scrapers: ['10.0.0.0/8', '2001:db8::1'] })
  t.equal((await open.inject({ url: '/metrics', remoteAddress: '10.0.0.7' })).statusCode, 200)
  t.equal((await open.inject({ url: '/metrics', remoteAddress: '2001:db8::1' })).statusCode, 200)
  t.equal((await open.inject('/metrics')).statusCode, 404)
  await open.close()
})

t.test('a gauge that cannot be read leaves the others and a line in the log', async (t) => {
  const lines: string[] = []
  const app = await served({}, { logger: { level: 'error', stream: { write: (line: string) => void lines.push(line) } } })
  const [lost, found] = ['lost', 'found'].map((name) => ({ name, unit: '{thing}', description: 'Things.' })) as never as [Named, Named]
  contribute(app, 'gauges', { metrics: [lost], read: () => Promise.reject(new Error('no connection')) })
  contribute(app, 'gauges', { metrics: [found], read: () => [{ metric: found, value: 7, attributes: { where: 'here' } }] })
  const text = await scrape(app)
  t.equal(valueOf(text, 'lost'), undefined)
  t.equal(valueOf(text, 'found', { where: 'here' }), 7)
  t.match(lines.join(''), /telemetry: lost cannot be read/)
  await app.close()
})

interface Named {
  readonly name: string
  readonly unit: string
  readonly description: string
}

t.test('with prometheus, the counters of the service are at the same route', async (t) => {
  const app = await served()
  metrics.getMeter('books').createCounter('books.sold').add(2)
  t.equal(valueOf(await scrape(app), 'books_sold_total'), 2)
  await app.close()
})

t.test('without prometheus, the MeterProvider of OpenTelemetry gets the metrics', async (t) => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const provider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] })
  metrics.setGlobalMeterProvider(provider)
  const app = Fastify()
  await app.register(telemetry)
  app.get('/', async () => 'home')
  await app.inject('/')
  t.equal((await app.inject('/metrics')).statusCode, 404)
  await provider.forceFlush()
  const names = exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics.map(({ descriptor }) => descriptor.name)))
  t.ok(names.includes('http.server.request.duration'))
  t.ok(names.includes('process.memory.usage'))
  await app.close()
  metrics.disable()
  await provider.shutdown()
})

async function start(options: object, before?: (app: FastifyInstance) => void) {
  const app = Fastify()
  before?.(app)
  await app.register(telemetry, options)
}

t.test('a start that would measure nothing, and invalid options, are refused', async (t) => {
  await t.rejects(start({}), { message: /^telemetry: no MeterProvider is registered with @opentelemetry\/api/ })
  await t.rejects(start({ traces: true }), { message: /^telemetry: options.traces is true, but no TracerProvider is registered/ })
  await t.rejects(start({ prometheus: true, tracesToReceivers: true }), {
    message: /tracesToReceivers has no effect without options.traces/
  })
  await t.rejects(start({ prometheus: true, scrapers: ['10.0.0.0/33'] }), { message: /scrapers contains "10.0.0.0\/33"/ })
  await t.rejects(start({ prometheus: true, scrapers: ['monitoring.local'] }), { message: /scrapers contains "monitoring.local"/ })
  await t.rejects(start({ prometheus: true, scrapers: '10.0.0.1' }), { message: /scrapers must be an array/ })
  await t.rejects(start({ prometeus: true }), { message: 'telemetry: options.prometeus is unknown. Did you mean options.prometheus?' })
  const late = start({ prometheus: true }, (app) => contribute(app, 'errors', {}))
  await t.rejects(late, { message: 'telemetry: the plugin is registered after plugins that it measures. Register it before them.' })
})
