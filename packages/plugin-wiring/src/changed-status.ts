import type { FastifyInstance, FastifyRequest } from 'fastify'

interface KnownError {
  readonly code: string
  readonly statusCode: number
}

const observedKey: unique symbol = Symbol.for('concordat.changedStatus') as never
// As api-error marks its errors, which this layer cannot import.
const brand = Symbol.for('concordat.ApiError')
const reported = new WeakSet<object>()

// What an error handler that maps errors by their class lacks.
const missingLines = `if (error.statusCode < 500 || error.name === 'ApiError') {
  return reply.code(error.statusCode).headers(error.headers ?? {}).send({ code: error.code, message: error.message, errors: error.errors })
}`

/** Logs, once for each error handler of the application, that it changed the status of an error that it does not know, and what it lacks. */
export function reportChangedStatus({ server, log }: FastifyRequest, { code, statusCode }: KnownError, sent: number, remedy = ''): void {
  const { errorHandler, prefix } = server
  if (reported.has(errorHandler)) return
  reported.add(errorHandler)
  const name = errorHandler.name.replace(/^bound /, '')
  // The handler of the instance cannot have changed it.
  const isOfRoute = name === 'defaultErrorHandler' || name === 'concordatErrorHandler'
  const place = prefix === '' ? '' : ` for the routes below ${prefix}`
  const handler = isOfRoute ? 'An errorHandler of a route' : name === '' ? `The error handler${place}` : `The error handler ${name}${place}`
  log.warn(`${handler} changed the status of ${code} from ${statusCode} to ${sent}. ${remedy}Add these lines to its beginning:\n${missingLines}`)
}

/** Observes what the error handlers of the application make of the errors of plugins, unless `isRendered`: error-catalogue observes them itself. */
export function observeErrorHandlers(app: FastifyInstance, isRendered: (app: FastifyInstance) => boolean): void {
  if (observedKey in app) return
  app.decorate(observedKey, true)
  app.addHook('onError', (request, reply, error, next) => {
    if (isPluginError(error) && !isRendered(request.server)) {
      // The event exists only for errors, so that a successful response gains nothing.
      reply.raw.once('finish', () => {
        const { statusCode } = reply.raw
        if (statusCode >= 400 && statusCode !== error.statusCode) reportChangedStatus(request, error, statusCode)
      })
    }
    next()
  })
}

function isPluginError(error: unknown): error is KnownError {
  return (error as { readonly [brand]?: unknown } | null)?.[brand] === true
}
