import { isRoot } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance } from 'fastify'

type ErrorHandler = FastifyInstance['errorHandler']

/** The error handler that a context had before the plugin set its own. */
export interface ApplicationHandler {
  /** Returns it, or undefined if there is only that of Fastify. A context around this one can set its handler until the start. */
  readonly current: () => ErrorHandler | undefined
  /** Whether Fastify itself calls it after the handler of the plugin. */
  readonly isNext: (handler: ErrorHandler) => boolean
}

/** Finds the error handler of the application. Must be called before the plugin sets its own. */
export function applicationHandlerOf(app: FastifyInstance): ApplicationHandler {
  const before = app.errorHandler
  const parent = Object.getPrototypeOf(app) as FastifyInstance
  const isInherited = !isRoot(app) && parent.errorHandler === before
  return { current, isNext: (handler) => handler === before }

  function current() {
    const handler = isInherited ? parent.errorHandler : before
    // Handlers of an application are bound, so their names begin with "bound".
    return handler.name === 'defaultErrorHandler' ? undefined : handler
  }
}
