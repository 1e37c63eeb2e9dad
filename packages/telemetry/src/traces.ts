import type { MetricAttributes, ObservedSpan, Observer } from '@concordat/plugin-kit/observer'
import type * as Api from '@opentelemetry/api'
import type { FastifyInstance } from 'fastify'
import type { Settings } from './options.ts'
import { traceRequests } from './request-spans.ts'

type Tracing = Pick<Observer, 'traceparent' | 'begin' | 'run'>

const traceparentForm = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/
const noHeaders = {}
const untraced: Tracing = { traceparent: () => undefined, begin: () => () => {}, run: (_span, work) => work(noHeaders) }

/** Gives requests spans if they are wanted, and returns the functions by which plugins continue the traces of requests. */
export function traceWork(app: FastifyInstance, api: typeof Api, { traces, tracesFromClients, tracesToReceivers }: Settings): Tracing {
  if (!traces) return untraced
  const { trace, context, createContextKey, isSpanContextValid, ROOT_CONTEXT, SpanKind, SpanStatusCode } = api
  const tracer = trace.getTracer('@concordat/telemetry')
  if (!isSpanContextValid(tracer.startSpan('start').spanContext()))
    throw new TypeError(
      'telemetry: options.traces is true, but no TracerProvider is registered with @opentelemetry/api. Start the SDK of OpenTelemetry before the service.'
    )
  traceRequests(app, api, tracer, ({ headers: { traceparent } }) => {
    const around = context.active()
    return tracesFromClients && trace.getSpan(around) === undefined ? continued(String(traceparent), around) : around
  })
  // The key by which the SDK and the instrumentations of HTTP clients recognize a request to which they must add nothing.
  const suppressed = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING')
  const kinds = { consumer: SpanKind.CONSUMER, client: SpanKind.CLIENT }

  function start({ name, kind, parent, attributes = {} }: ObservedSpan): { span: Api.Span; inside: Api.Context } {
    const around = kind === 'consumer' ? continued(parent, ROOT_CONTEXT) : context.active()
    const span = tracer.startSpan(name, { kind: kind === undefined ? SpanKind.INTERNAL : kinds[kind], attributes }, around)
    return { span, inside: trace.setSpan(around, span) }
  }

  // Without baggage and `tracestate`, which contain any text.
  function continued(parent = '', around: Api.Context) {
    const [, traceId = '', spanId = '', flags = ''] = traceparentForm.exec(parent) ?? []
    const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
    return isSpanContextValid(spanContext) ? trace.setSpanContext(around, spanContext) : around
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
        // The text of an error can contain what a client sent.
        span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', kindOf(error))
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

function kindOf(error: unknown) {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown }
  return typeof code === 'string' ? code : String(name)
}
