import type { FastifyInstance, FastifyReply, RouteShorthandOptions } from 'fastify'
import { canary } from './check-response.ts'
import { addRoute, aThing, innerError } from './things.ts'

type Handler = (error: unknown, request: unknown, reply: FastifyReply) => unknown

/** Error handlers of other authors, and the final status of their response. */
export const errorHandlers: Readonly<Record<string, readonly [status: number, handler: Handler]>> = {
  'own-shape': [500, (_error, _request, reply) => reply.code(500).send({ statusCode: 500, message: canary })],
  html: [503, (_error, _request, reply) => reply.code(503).type('text/html').send(`<pre>${canary}</pre>`)],
  'own-status': [418, (_error, _request, reply) => reply.code(418).send(canary)],
  throws: [
    500,
    () => {
      throw innerError()
    }
  ],
  rejects: [500, async () => Promise.reject(innerError())],
  'rejects-with-nothing': [500, async () => Promise.reject(undefined)],
  'sends-the-error': [500, (error, _request, reply) => reply.send(error)],
  'sends-another-error': [500, (_error, _request, reply) => reply.send(innerError())],
  'returns-a-string': [500, async () => canary],
  never: [503, () => {}]
}

/** Adds child contexts, routes and not-found handlers that format errors themselves. */
export function addForeignHandlers(app: FastifyInstance): void {
  const short = { handlerTimeout: 150 } as RouteShorthandOptions
  for (const [name, [, handler]] of Object.entries(errorHandlers)) {
    app.register(
      (child, _options, done) => {
        child.setErrorHandler(handler as never)
        addRoute(child, '/fails', () => Promise.reject(innerError()), short)
        done()
      },
      { prefix: `/child-handlers/${name}` }
    )
    addRoute(app, `/route-handlers/${name}`, () => Promise.reject(innerError()), { ...short, errorHandler: handler })
  }
  const missing: Record<string, (request: unknown, reply: FastifyReply) => unknown> = {
    html: (_request, reply) => reply.code(404).type('text/html').send(canary),
    throws: () => {
      throw innerError()
    },
    'calls-not-found': (_request, reply) => reply.callNotFound()
  }
  for (const [name, handler] of Object.entries(missing)) {
    app.register(
      (child, _options, done) => {
        child.setNotFoundHandler(handler as never)
        addRoute(child, '/things', (_request, reply) => reply.callNotFound())
        done()
      },
      { prefix: `/own-not-found/${name}` }
    )
  }
  addRoute(app, '/calls-not-found/handler', (_request, reply) => reply.callNotFound())
  addRoute(app, '/calls-not-found/hook', () => aThing, { preHandler: (_request, reply) => reply.callNotFound() })
}
