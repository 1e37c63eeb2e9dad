import { contractLater } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Instruments } from './meters.ts'

const requestDuration = { name: 'http.server.request.duration', unit: 's', description: 'Duration of HTTP server requests.' }
const operationDuration = { name: 'concordat.batch.operation.duration', unit: 's', description: 'Duration of the operations of batches.' }
const aborted = { name: 'concordat.http.server.aborted', unit: '{request}', description: 'Requests whose client left before the response.' }

// The methods of the semantic conventions of OpenTelemetry. HTTP/2 allows any text.
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY', 'CONNECT', 'TRACE'])

/** Measures each request: its duration by the template of its route, method, status code and error code, and so their number too. */
export function measureRequests(app: FastifyInstance, { observer, histogram }: Instruments): void {
  const requests = histogram(requestDuration)
  const operations = histogram(operationDuration)
  const catalogue = contractLater(app, 'catalogue')
  const batches = contractLater(app, 'batches')

  app.addHook('onResponse', (request, reply, done) => {
    const duration = batches()?.isPart(request) === true ? operations : requests
    const place = isRefusal(reply.raw.statusCode) ? {} : placeOf(request)
    duration.record(reply.elapsedTime / 1000, { ...place, ...outcomeOf(reply, catalogue()?.codeOf) })
    done()
  })
  // Fastify then runs no onResponse hook.
  app.addHook('onRequestAbort', (request, done) => {
    observer.count(aborted, placeOf(request))
    done()
  })
}

// A client could make a series of each route with each method, scheme and error code, which would stay for as long as the process runs.
function isRefusal(statusCode: number) {
  return statusCode >= 400 && statusCode < 500
}

/** Returns the attributes of a request: its route, and nothing that a client chooses. */
export function placeOf({ method, protocol, routeOptions: { url } }: FastifyRequest) {
  return {
    'http.request.method': methods.has(method) ? method : '_OTHER',
    ...(url !== undefined && { 'http.route': url }),
    'url.scheme': protocol
  }
}

/** Returns the attributes of a response: its status code, and the code of its error. */
export function outcomeOf(reply: FastifyReply, errorCodeOf: ((reply: FastifyReply) => string | undefined) | undefined) {
  const { statusCode } = reply.raw
  return {
    'http.response.status_code': statusCode,
    ...(statusCode >= 400 && { 'error.type': errorCodeOf?.(reply) ?? String(statusCode) })
  }
}
