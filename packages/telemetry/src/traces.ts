import type { MetricAttributes, ObservedSpan, Observer } from '@concordat/observer'
import { requirePeers } from '@concordat/plugin-options'
import type * as Api from '@opentelemetry/api'
import type { FastifyInstance } from 'fastify'
import type { Settings } from './options.ts'

type Tracing = Pick<Observer, 'traceparent' | 'begin' | 'run'>

const traceparentForm = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/
const noHeaders = {}
const untraced: Tracing = { traceparent: () => undefined, begin: () => () => {}, run: (_span, work) => work(noHeaders) }

/** Registers `@fastify/otel` if spans are wanted, and returns the functions by which plugins continue the traces of requests. */
export async function traceWork(app: FastifyInstance, api: typeof Api, { traces, tracesToReceivers }: Settings): Promise<Tracing> {
  if (!traces) return untraced
  const { trace, context, createContextKey, isSpanContextValid, ROOT_CONTEXT, SpanKind, SpanStatusCode } = api
  const tracer = trace.getTracer('@concordat/telemetry')
  if (!isSpanContextValid(tracer.startSpan('start').spanContext()))
    throw new TypeError(
      'telemetry: options.traces is true, but no TracerProvider is registered with @opentelemetry/api. Start the SDK of OpenTelemetry before the service.'
    )
  requirePeers('telemetry: options.traces', ['@fastify/otel'], import.meta)
  const { FastifyOtelInstrumentation } = await import('@fastify/otel')
  // A span for each hook of each plugin would cost more than the request.
  await app.register(new FastifyOtelInstrumentation({ instrumentHooks: false }).plugin())
  // The key by which the SDK and the instrumentations of HTTP clients recognize a request to which they must add nothing.
  const suppressed = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING')
  const kinds = { consumer: SpanKind.CONSUMER, client: SpanKind.CLIENT }

  function start({ name, kind, parent, attributes = {} }: ObservedSpan): { span: Api.Span; inside: Api.Context } {
    const around = kind === 'consumer' ? continued(parent) : context.active()
    const span = tracer.startSpan(name, { kind: kind === undefined ? SpanKind.INTERNAL : kinds[kind], attributes }, around)
    return { span, inside: trace.setSpan(around, span) }
  }

  // Without baggage: it belongs to the request.
  function continued(parent = '') {
    const [, traceId = '', spanId = '', flags = ''] = traceparentForm.exec(parent) ?? []
    const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
    return isSpanContextValid(spanContext) ? trace.setSpanContext(ROOT_CONTEXT, spanContext) : ROOT_CONTEXT
  }

  return {
    traceparent: () => traceparentOf(trace.getActiveSpan()),
    begin(described) {
      const { span } = start(described)
      return (attributes: MetricAttributes = {}) => span.setAttributes(attributes).end()
    },
    async run(described, work) {
      const { span, inside } = start(described)
      const isClient = described.kind === 'client'
      const header = isClient && tracesToReceivers ? traceparentOf(span) : undefined
      try {
        return await context.with(isClient ? inside.setValue(suppressed, true) : inside, () =>
          work(header === undefined ? noHeaders : { traceparent: header })
        )
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR }).recordException(error as Error)
        throw error
      } finally {
        span.end()
      }
    }
  }
}

function traceparentOf(span: Api.Span | undefined) {
  const { traceId, spanId, traceFlags } = span?.spanContext() ?? {}
  return traceId === undefined ? undefined : `00-${traceId}-${spanId}-0${((traceFlags ?? 0) & 1).toString()}`
}
