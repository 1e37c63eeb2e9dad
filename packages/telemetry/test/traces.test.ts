import { contractOf, type Observer } from '@concordat/plugin-wiring'
import telemetry from '@concordat/telemetry'
import { context, propagation, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import Fastify from 'fastify'
import t from 'tap'

const exporter = new InMemorySpanExporter()
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
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

t.test('work without a valid parent begins a trace, and work that fails is marked', async (t) => {
  const { app, observer } = await observed()
  t.equal(observer.traceparent(), undefined)
  const failing = observer.run({ name: 'failing', kind: 'consumer', parent: 'not a traceparent' }, () =>
    Promise.reject(new Error('broken'))
  )
  await t.rejects(failing, { message: 'broken' })
  t.match(finished('failing'), { status: { code: SpanStatusCode.ERROR }, parentSpanContext: undefined, events: [{ name: 'exception' }] })
  await app.close()
})
