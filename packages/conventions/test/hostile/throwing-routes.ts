import type { FastifyInstance, FastifyReply } from 'fastify'
import { canary } from './check-response.ts'
import { addRoute, aThing, innerError } from './things.ts'

class Untouchable {
  get message(): string {
    throw innerError()
  }
  get statusCode(): number {
    throw innerError()
  }
  get code(): string {
    throw innerError()
  }
  toString(): string {
    throw innerError()
  }
  toJSON(): string {
    throw innerError()
  }
}

const everythingThrows = (): object =>
  new Proxy(
    {},
    new Proxy(
      {},
      {
        get: () => () => {
          throw innerError()
        }
      }
    )
  )

function withThrowingStack() {
  return Object.defineProperty(new Error(canary), 'stack', {
    get() {
      throw innerError()
    }
  })
}

function circular() {
  const error = innerError() as Error & { self?: unknown }
  error.self = error
  error.cause = error
  return error
}

/** Every value that a handler may throw, by the last part of its path. A function creates a new value for each request. */
export const thrownThings: Readonly<Record<string, () => unknown>> = {
  error: () => innerError(),
  'error-subclass': () => new RangeError(canary),
  'aggregate-error': () => new AggregateError([innerError(), canary], canary),
  'abort-error': () => new DOMException(canary, 'AbortError'),
  string: () => `${canary} a string`,
  'empty-string': () => '',
  null: () => null,
  undefined: () => undefined,
  number: () => 42,
  nan: () => Number.NaN,
  boolean: () => false,
  symbol: () => Symbol(canary),
  bigint: () => 7n,
  function: () => () => canary,
  object: () => ({ message: canary, secret: canary }),
  'object-like-an-envelope': () => ({ error: { status: 200, message: canary }, _links: [], _meta: {} }),
  'object-without-prototype': () => Object.assign(Object.create(null) as object, { message: canary, statusCode: 500 }),
  array: () => [canary, innerError()],
  date: () => new Date(),
  'frozen-error': () => Object.freeze(innerError({ statusCode: 500 })),
  'frozen-object': () => Object.freeze({ statusCode: 500, message: canary }),
  'getter-throws': () => new Untouchable(),
  'proxy-throws': everythingThrows,
  'stack-throws': withThrowingStack,
  circular,
  'revoked-proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
  'status-200': () => innerError({ statusCode: 200 }),
  'status-302': () => innerError({ statusCode: 302 }),
  'status-99': () => innerError({ statusCode: 99 }),
  'status-999': () => innerError({ statusCode: 999 }),
  'status-string': () => innerError({ statusCode: '404' }),
  'status-nan': () => innerError({ statusCode: Number.NaN }),
  'status-fraction': () => innerError({ statusCode: 404.5 }),
  'status-object': () => innerError({ statusCode: { valueOf: () => canary } }),
  'status-599': () => innerError({ statusCode: 599 }),
  'code-object': () => innerError({ code: { toString: () => canary } }),
  'code-canary': () => innerError({ code: `E_${canary}` }),
  'code-prototype': () => innerError({ code: '__proto__' }),
  'code-constructor': () => innerError({ code: 'constructor', statusCode: 500 }),
  'headers-cr-lf': () => innerError({ headers: { 'x-inner': `a\r\nx-injected: ${canary}`, 'retry-after': 'a\r\nb' } }),
  'headers-canary': () => innerError({ headers: { 'x-inner': canary, 'set-cookie': canary, 'content-length': '3' } }),
  'headers-string': () => innerError({ headers: canary }),
  'headers-null': () => innerError({ headers: null, statusCode: 500 }),
  'validation-string': () => innerError({ validation: canary, validationContext: 'body' }),
  'validation-of-the-server': () =>
    innerError({ validation: [{ instancePath: `/${canary}`, message: canary, keyword: canary, params: { inner: canary } }] }),
  'long-message': () => new Error(canary.repeat(100_000)),
  'deep-causes': () => Array.from({ length: 5000 }).reduce<Error>((cause) => new Error(canary, { cause }), innerError())
}

/** Statuses of errors that do not come from the catalogue: the status is used, with the message of the catalogue. */
export const thrownStatuses = [
  400, 401, 403, 404, 405, 406, 408, 409, 410, 412, 413, 414, 415, 417, 418, 422, 425, 429, 431, 451, 501, 502, 503, 504
] as const

/** The ways in which a handler can fail with the same error. */
const waysToFail: Readonly<Record<string, (reply: FastifyReply, thrown: unknown) => unknown>> = {
  throws(_reply, thrown) {
    throw thrown
  },
  rejects: (_reply, thrown) => Promise.reject(thrown),
  'rejects-later': async (_reply, thrown) => {
    await new Promise(setImmediate)
    throw thrown
  },
  sends: (reply) => {
    reply.send(innerError())
  },
  'sends-with-status': (reply) => {
    reply.code(502).send(innerError())
  },
  'sends-later': (reply) => {
    setImmediate(() => reply.send(innerError()))
  },
  'rejects-from-a-thenable': (_reply, thrown) => ({
    // oxlint-disable-next-line unicorn/no-thenable
    then: (_resolve: unknown, reject: (reason: unknown) => void) => reject(thrown)
  })
}

export const failingWays: readonly string[] = Object.keys(waysToFail)

/** Adds the routes below `/throws`: every value, and every way to fail. */
export function addThrowingRoutes(app: FastifyInstance): void {
  for (const [name, make] of Object.entries(thrownThings)) {
    addRoute(app, `/throws/${name}`, () => {
      throw make()
    })
    addRoute(app, `/rejects/${name}`, () => Promise.reject(make()))
  }
  for (const status of thrownStatuses) {
    addRoute(app, `/throws-status/${status}`, () => {
      throw innerError({ statusCode: status, code: `E_${canary}` })
    })
  }
  for (const [name, fail] of Object.entries(waysToFail)) addRoute(app, `/fails/${name}`, (_request, reply) => fail(reply, innerError()))
  addRoute(app, '/fails/after-early-hints', (_request, reply) => {
    reply.raw.writeEarlyHints?.({ link: '</style.css>; rel=preload' })
    throw innerError()
  })
  addRoute(app, '/fails/after-headers-were-set', (_request, reply) => {
    reply.headers({ 'cache-control': 'public, max-age=60', etag: '"one"', 'last-modified': new Date().toUTCString() })
    reply.headers({ 'content-length': '3', 'content-disposition': 'attachment', 'content-encoding': 'gzip' })
    reply.type('text/csv').code(200)
    throw innerError()
  })
  addRoute(app, '/fails/after-a-location', (_request, reply) => {
    reply.header('location', `/${canary}`).code(201)
    throw innerError()
  })
  addRoute(app, '/fails/after-a-trailer', (_request, reply) => {
    reply.trailer('x-inner', (_reply, _payload, done) => done(null, canary))
    throw innerError()
  })
  addRoute(app, '/throws-after-send', (_request, reply) => {
    reply.send(aThing)
    throw innerError()
  })
  addRoute(app, '/rejects-after-send', async (_request, reply) => {
    reply.send(aThing)
    throw innerError()
  })
  addRoute(app, '/sends-twice', (_request, reply) => {
    reply.send(aThing)
    reply.send(innerError())
  })
}
