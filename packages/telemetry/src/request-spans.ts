import { contractLater } from '@concordat/plugin-kit/wiring'
import type * as Api from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { outcomeOf, placeOf } from './requests.ts'

const spanKey = Symbol('span')

interface Traced {
  [spanKey]: { readonly span: Api.Span; readonly inside: Api.Context } | null
}

/**
 * Gives each request a span with the template of its route, its status code and its error code: nothing that a client chooses. `contextOf` returns the
 * context that the trace of a request continues.
 */
export function traceRequests(
  app: FastifyInstance,
  { trace, context, SpanKind, SpanStatusCode }: typeof Api,
  tracer: Api.Tracer,
  contextOf: (request: FastifyRequest) => Api.Context
): void {
  const catalogue = contractLater(app, 'catalogue')
  app.decorateRequest(spanKey, null)
  app.addHook('onRequest', (request, _reply, done) => {
    const around = contextOf(request)
    const attributes = placeOf(request)
    const { 'http.request.method': method, 'http.route': route } = attributes
    // The span of the server is that of the instrumentation of HTTP, where there is one.
    const kind = trace.getSpan(around)?.isRecording() === true ? SpanKind.INTERNAL : SpanKind.SERVER
    const span = tracer.startSpan(route === undefined ? method : `${method} ${route}`, { kind, attributes }, around)
    const inside = trace.setSpan(around, span)
    ;(request as never as Traced)[spanKey] = { span, inside }
    context.with(inside, done)
  })
  // The parts of a body arrive in the context of their connection.
  app.addHook('preValidation', (request, _reply, done) => {
    context.with((request as never as Traced)[spanKey]?.inside ?? context.active(), done)
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { span } = (request as never as Traced)[spanKey] ?? {}
    span?.setAttributes(outcomeOf(reply, catalogue()?.codeOf))
    // A fault of the client is not an error of the service.
    if (reply.raw.statusCode >= 500) span?.setStatus({ code: SpanStatusCode.ERROR })
    span?.end()
    done()
  })
  // Fastify then runs no onResponse hook.
  app.addHook('onRequestAbort', (request, done) => {
    ;(request as never as Traced)[spanKey]?.span.end()
    done()
  })
}
