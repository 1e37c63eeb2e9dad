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

interface Thrown extends Error {
  readonly statusCode?: number
  readonly code?: string
  /** The invalid fields, which the message of a package refers to. */
  readonly errors?: readonly { readonly field: string; readonly message: string }[]
  readonly headers?: Record<string, string>
}

/** Adds the error format that the clients of the service know. It was there before any package was adopted, and stays. */
export function addErrorFormat(app: FastifyInstance): void {
  app.setErrorHandler(({ statusCode = 500, code, message, errors = [], headers = {} }: Thrown, _request, reply) => {
    reply.code(statusCode).headers(headers)
    if (statusCode >= 500) return reply.send({ ok: false, reason: 'FAILED', detail: 'Something went wrong.' })
    const fields = errors.map(({ field, message }) => ({ field, message }))
    return reply.send({ ok: false, reason: code, detail: message, ...(fields.length > 0 && { errors: fields }) })
  })
  app.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) =>
    reply.code(404).send({ ok: false, reason: 'NO_SUCH_PAGE', detail: request.url })
  )
}
