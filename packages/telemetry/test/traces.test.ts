import { connect } from 'node:net'
import type { Observer } from '@concordat/plugin-kit/observer'
import { contractOf } from '@concordat/plugin-kit/wiring'
import telemetry from '@concordat/telemetry'
import { until } from '@concordat/test-harness/until'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  InMemorySpanExporter,
  ParentBasedSampler,
  SimpleSpanProcessor,
  TracerProvider
} from '@opentelemetry/sdk-trace'
import Fastify from 'fastify'
import t from 'tap'

const exporter = new InMemorySpanExporter()
const samplers = {
  on: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  off: new ParentBasedSampler({ root: new AlwaysOffSampler() })
}
let sampler = samplers.on
trace.setGlobalTracerProvider(
  new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
    sampler: { shouldSample: (...given) => sampler.shouldSample(...given), toString: () => 'the sampler of the test' }
  })
)
// What the propagators of the SDK do, which read whatever the client sends.
propagation.setGlobalPropagator({
  inject: () => undefined,
  fields: () => ['traceparent', 'baggage'],
  extract(given, { traceparent = '', baggage = '' }) {
    const [, traceId = '', spanId = '', flags = ''] = String(traceparent).split('-')
    const parent = trace.setSpanContext(given, { traceId, spanId, traceFlags: Number(flags), isRemote: true })
    return propagation.setBaggage(parent, propagation.createBaggage({ key: { value: String(baggage) } }))
  }
})
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())

async function observed(options: object = {}) {
  exporter.reset()
  const app = Fastify()
  await app.register(telemetry, { traces: true, ...options })
  return { app, observer: contractOf(app, 'observer') as Observer }
}

function finished(name: string) {
  const span = exporter.getFinishedSpans().find((one) => one.name === name)
  if (span === undefined) throw new Error(`There is no span ${name}.`)
  return span
}

t.test('a request, what it begins and the work that it orders are one trace', async (t) => {
  const { app, observer } = await observed()
  app.get('/ordered', async () => {
    const end = observer.begin({ name: 'transaction', attributes: { 'http.route': '/ordered' } })
    end({ outcome: 'committed' })
    return { trace: observer.traceparent() }
  })
  const { trace: parent } = (await app.inject('/ordered')).json()
  const carried = { key: { value: 'secret' } }
  const headers = await context.with(propagation.setBaggage(context.active(), propagation.createBaggage(carried)), async () =>
    observer.run({ name: 'job', kind: 'consumer', parent }, async (given) => {
      t.equal(propagation.getActiveBaggage(), undefined, 'baggage belongs to the request')
      return observer.run({ name: 'attempt', kind: 'client' }, async (sent) => ({ given, sent }))
    })
  )
  t.strictSame(headers, { given: {}, sent: {} })
  const [transaction, job, attempt] = ['transaction', 'job', 'attempt'].map(finished) as never as [Span, Span, Span]
  t.match(transaction.attributes, { outcome: 'committed', 'http.route': '/ordered' })
  t.equal(job.parentSpanContext?.spanId, parent.split('-')[2])
  t.equal(attempt.parentSpanContext?.spanId, job.spanContext().spanId)
  t.equal(new Set([transaction, job, attempt].map((span) => span.spanContext().traceId)).size, 1)
  t.equal(exporter.getFinishedSpans().filter(({ parentSpanContext }) => parentSpanContext === undefined).length, 1, 'the request')
  await app.close()
})

type Span = ReturnType<typeof finished>

t.test('with tracesToReceivers, a receiver gets the traceparent of the attempt', async (t) => {
  const { app, observer } = await observed({ tracesToReceivers: true })
  const sent = await observer.run({ name: 'attempt', kind: 'client' }, async (headers) => headers)
  const { traceId, spanId } = finished('attempt').spanContext()
  t.strictSame(sent, { traceparent: `00-${traceId}-${spanId}-01` })
  await app.close()
})

const theirs = '0af7651916cd43dd8448eb211c80319c'
const parents = {
  sampled: `00-${theirs}-b7ad6b7169203331-01`,
  unsampled: `00-${theirs}-b7ad6b7169203331-00`
}

t.test('a request begins a trace of its own, whatever its client sends', async (t) => {
  const { app, observer } = await observed()
  app.get('/traced', async () => ({ baggage: propagation.getActiveBaggage() ?? 'none', trace: observer.traceparent() }))
  const headers: Record<string, string | string[]>[] = [
    ...Object.values(parents).map((traceparent) => ({ traceparent })),
    { traceparent: `ff-${theirs}-b7ad6b7169203331-01` },
    { traceparent: `00-${theirs}-0000000000000000-01` },
    { traceparent: `00-${theirs}-b7ad6b7169203331-01-more` },
    { traceparent: theirs.repeat(400) },
    { traceparent: [parents.sampled, parents.unsampled] },
    { traceparent: parents.sampled, tracestate: Array.from({ length: 300 }, (_, index) => `k${index}=marker`).join(',') },
    { traceparent: parents.sampled, baggage: Array.from({ length: 300 }, (_, index) => `k${index}=marker`).join(',') },
    { traceparent: '', tracestate: '\u00ff=', baggage: '=;,' }
  ]
  for (const one of headers)
    for (const chosen of ['on', 'off'] as const) {
      exporter.reset()
      sampler = samplers[chosen]
      const { baggage, trace: begun } = (await app.inject({ url: '/traced', headers: one })).json()
      t.equal(baggage, 'none')
      t.match(begun, new RegExp(`^00-(?!${theirs})[0-9a-f]{32}-[0-9a-f]{16}-0${chosen === 'on' ? 1 : 0}$`))
      const spans = exporter.getFinishedSpans()
      t.strictSame(
        spans.map(({ name, kind, parentSpanContext, links }) => [name, kind, parentSpanContext, links]),
        chosen === 'on' ? [['GET /traced', SpanKind.SERVER, undefined, []]] : [],
        'the service decides what is recorded'
      )
      t.notMatch(JSON.stringify(spans.map(shownOf)), /marker/)
    }
  sampler = samplers.on
  await app.close()
})

t.test('with tracesFromClients, a request continues the trace of a valid traceparent, without tracestate and baggage', async (t) => {
  const { app, observer } = await observed({ tracesFromClients: true })
  app.get('/traced', async () => ({ baggage: propagation.getActiveBaggage() ?? 'none', trace: observer.traceparent() }))
  const cases: [string | string[], RegExp][] = [
    [parents.sampled, new RegExp(`^00-${theirs}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`)],
    [parents.unsampled, new RegExp(`^00-${theirs}-[0-9a-f]{16}-00$`)],
    [[parents.sampled, parents.unsampled], new RegExp(`^00-(?!${theirs}).*-01$`)],
    [parents.sampled.toUpperCase(), new RegExp(`^00-(?!${theirs}).*-01$`)],
    [`00-${'0'.repeat(32)}-b7ad6b7169203331-01`, new RegExp(`^00-(?!${theirs}|0{32}).*-01$`)]
  ]
  for (const [traceparent, expected] of cases) {
    const { baggage, trace: found } = (
      await app.inject({ url: '/traced', headers: { traceparent, tracestate: 'k=marker', baggage: 'k=marker' } })
    ).json()
    t.match([baggage, found], ['none', expected])
  }
  t.notMatch(JSON.stringify(exporter.getFinishedSpans().map(shownOf)), /marker/)
  await app.close()
  await t.rejects(async () => Fastify().register(telemetry, { prometheus: true, tracesFromClients: true }), {
    message: 'telemetry: options.tracesFromClients has no effect without options.traces. Set traces to true, or remove it.'
  })
})

const fail = (statusCode: number) => Object.assign(new Error('marker'), { statusCode })

t.test('no span contains what a client or an error says, and only a 5xx is an error', async (t) => {
  const { app, observer } = await observed()
  app.get('/ok/:id', async () => 'ok')
  app.get('/thrown/:id', async () => Promise.reject(fail(404)))
  app.get('/broken/:id', async () => Promise.reject(new TypeError('marker')))
  app.get('/sent/:id', async (_request, reply) => reply.code(503).send({ text: 'marker' }))
  app.post('/body/:id', { schema: { body: { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } } } }, async () => 'ok')
  const working = observer.run({ name: 'working', kind: 'consumer' }, () =>
    Promise.reject(Object.assign(new Error('marker'), { code: 'ETEST' }))
  )
  await t.rejects(working)
  const headers = {
    authorization: 'Bearer marker',
    cookie: 'a=marker',
    'user-agent': 'marker',
    'x-forwarded-for': 'marker',
    host: 'marker'
  }
  const cases: [string, string, number, object?][] = [
    ['GET', '/ok/marker?access_token=marker', 200],
    ['GET', '/thrown/marker?q=marker', 404],
    ['GET', '/broken/marker#marker', 500],
    ['GET', '/sent/marker', 503],
    ['GET', '/marker', 404],
    ['POST', '/body/marker', 400, { marker: 'marker' }],
    ['PROPFIND', '/ok/marker', 404]
  ]
  for (const [method, url, status, payload] of cases) {
    exporter.reset()
    t.equal((await app.inject({ method: method as 'GET', url, headers, ...(payload && { payload }) })).statusCode, status, url)
    const [span] = exporter.getFinishedSpans()
    t.match(
      span?.attributes,
      { 'http.response.status_code': status, 'http.request.method': method === 'PROPFIND' ? '_OTHER' : method },
      url
    )
    t.equal(span?.status.code, status >= 500 ? SpanStatusCode.ERROR : SpanStatusCode.UNSET, url)
    t.notMatch(JSON.stringify(exporter.getFinishedSpans().map(shownOf)), /marker/, url)
  }
  await app.close()
})

t.test('the span of a request is active in its handler after a body in parts, and ends when its client leaves', async (t) => {
  const { app, observer } = await observed()
  const seen: (string | undefined)[] = []
  app.post('/parts', async () => {
    seen.push(observer.traceparent())
    return 'ok'
  })
  app.get('/left', async () => {
    seen.push('left')
    return new Promise(() => undefined)
  })
  await app.listen({ port: 0 })
  const { port } = app.server.address() as { readonly port: number }
  const socket = connect(port, '127.0.0.1')
  socket.write('POST /parts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a"')
  await new Promise((resolve) => setImmediate(resolve))
  socket.write(':1}')
  await until(() => exporter.getFinishedSpans().length === 1)
  t.match(seen[0], finished('POST /parts').spanContext().spanId)
  socket.write('GET /left HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => seen.length === 2)
  socket.destroy()
  await until(() => exporter.getFinishedSpans().some(({ name }) => name === 'GET /left'))
  t.equal(finished('GET /left').attributes['http.response.status_code'], undefined)
  await app.close()
})

/** Everything that an exporter gets of a span. */
function shownOf(span: Span) {
  const { name, attributes, events, status, links, parentSpanContext } = span
  return { name, attributes, events, status, links, parentSpanContext, state: span.spanContext().traceState?.serialize() }
}

t.test('work without a valid parent begins a trace, and work that fails is marked', async (t) => {
  const { app, observer } = await observed()
  t.equal(observer.traceparent(), undefined)
  const failing = observer.run({ name: 'failing', kind: 'consumer', parent: 'not a traceparent' }, () =>
    Promise.reject(new Error('broken'))
  )
  await t.rejects(failing, { message: 'broken' })
  t.match(finished('failing'), {
    status: { code: SpanStatusCode.ERROR, message: undefined },
    parentSpanContext: undefined,
    events: [],
    attributes: { 'error.type': 'Error' }
  })
  await app.close()
})
