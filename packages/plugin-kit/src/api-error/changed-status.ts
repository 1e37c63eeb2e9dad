import { isApiError } from './api-error.ts'

// What this needs of Fastify, which this package does not require.
interface Instance {
  readonly prefix: string
  readonly errorHandler: { readonly name: string }
}
interface ObservedRequest {
  readonly server: Instance
  readonly routeOptions: { readonly config: object }
  readonly log: { warn(message: string): void }
}
interface Reply {
  readonly raw: { readonly statusCode: number; once(event: 'finish', listener: () => void): unknown }
}
interface KnownError {
  readonly code: string
  readonly statusCode: number
}
type OnError = (request: ObservedRequest, reply: Reply, error: unknown, next: () => void) => void
interface App extends Instance {
  decorate(name: symbol, value: true): unknown
  addHook(name: 'onError', hook: OnError): unknown
}

const observedKey: unique symbol = Symbol.for('concordat.observedErrorHandlers') as never
const reported = new WeakSet<object>()

// What an error handler that maps errors by their class lacks.
const missingLines = `if (error.statusCode < 500 || error.name === 'ApiError') {
  return reply.code(error.statusCode).headers(error.headers ?? {}).send({ code: error.code, message: error.message, errors: error.errors })
}`

/**
 * Observes, for the plugins of an instance, what the error handlers of the application make of an {@link ApiError}: the first time that one changes the
 * status to another from 400, a log line names it and says what it lacks. Where error-catalogue is registered, that plugin observes them.
 */
export function observeErrorHandlers(app: App): void {
  if (observedKey in app) return
  app.decorate(observedKey, true)
  app.addHook('onError', (request, reply, error, next) => {
    if (isApiError(error) && !('errorCatalogue' in request.server)) {
      const { raw } = reply
      // The event exists only for errors, so that a successful response gains nothing.
      raw.once('finish', () => {
        if (raw.statusCode >= 400 && raw.statusCode !== error.statusCode) reportChangedStatus(request, error, raw.statusCode)
      })
    }
    next()
  })
}

/** Logs, once for each error handler of the application, that it changed the status of an error that it does not know, and what it lacks. */
export function reportChangedStatus(
  { server: { errorHandler, prefix }, routeOptions, log }: ObservedRequest,
  { code, statusCode }: KnownError,
  sent: number,
  consequence = ''
): void {
  const name = errorHandler.name.replace(/^bound /, '')
  // Neither of them changes a status.
  const isOfRoute = name === 'defaultErrorHandler' || name === 'concordatErrorHandler'
  const changer = isOfRoute ? routeOptions.config : errorHandler
  if (reported.has(changer)) return
  reported.add(changer)
  const place = prefix === '' ? '' : ` for the routes below ${prefix}`
  const handler = isOfRoute ? 'An errorHandler of a route' : `The error handler${name === '' ? '' : ` ${name}`}${place}`
  log.warn(
    `${handler} changed the status of ${code} from ${statusCode} to ${sent}. ${consequence}Add these lines to its beginning:\n${missingLines}`
  )
}
