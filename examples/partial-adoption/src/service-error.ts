import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** An error of the service, in its own format. */
export class ServiceError extends Error {
  readonly statusCode: number
  readonly code: string

  constructor(statusCode: number, code: string, message: string) {
    super(message)
    this.statusCode = statusCode
    this.code = code
  }
}

type Thrown = Error & { readonly statusCode?: number; readonly code?: string; readonly headers?: Record<string, string> }

/** Adds the error format that the clients of the service know. It was there before any package was adopted, and stays. */
export function addErrorFormat(app: FastifyInstance): void {
  app.setErrorHandler(({ statusCode = 500, code, message, headers }: Thrown, _request, reply) => {
    if (headers !== undefined) reply.headers(headers)
    const isOurs = statusCode >= 500
    return reply.code(statusCode).send({ ok: false, reason: isOurs ? 'FAILED' : code, detail: isOurs ? 'Something went wrong.' : message })
  })
  app.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) =>
    reply.code(404).send({ ok: false, reason: 'NO_SUCH_PAGE', detail: request.url })
  )
}
