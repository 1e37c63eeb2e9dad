import type { FastifyError, FastifyInstance } from 'fastify'

// The errors of the service have no status code: the error handler maps their classes.

/** The requested thing does not exist. */
export class NotFoundError extends Error {}
/** The request contradicts what is stored. */
export class ConflictError extends Error {}
/** The client has not signed in. */
export class NotSignedInError extends Error {}
/** The client has signed in, and may not do this. */
export class ForbiddenError extends Error {}

const statuses = new Map<unknown, number>([
  [NotFoundError, 404],
  [ConflictError, 409],
  [NotSignedInError, 401],
  [ForbiddenError, 403]
])

/** Adds the error format of the service. */
export function addErrorHandlers(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = statuses.get(error.constructor) ?? error.statusCode ?? 500
    if (status >= 500) request.log.error({ err: error }, 'request failed')
    return reply.code(status).send({ message: status < 500 ? error.message : 'Internal Server Error' })
  })
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ message: 'Not Found' }))
}
