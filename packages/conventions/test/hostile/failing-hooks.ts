import { Readable } from 'node:stream'
import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import { canary } from './check-response.ts'
import { addRoute, aThing, innerError } from './things.ts'

const hooks = ['onRequest', 'preParsing', 'preValidation', 'preHandler', 'preSerialization', 'onSend'] as const
const ways = ['throws', 'calls-back', 'rejects', 'throws-string', 'rejects-undefined'] as const

/** The last parts of the paths below `/hooks`: which hook fails, and how. */
export const hookPaths: readonly string[] = hooks.flatMap((hook) => ways.map((way) => `${hook}/${way}`))

type AnyHook = (...parts: unknown[]) => unknown

function failingHook(way: (typeof ways)[number]): AnyHook {
  const calls: Record<(typeof ways)[number], AnyHook> = {
    throws: (...parts) => {
      if (parts.length > 0) throw innerError()
    },
    'calls-back': (...parts) => (parts.at(-1) as (error: unknown) => void)(innerError()),
    rejects: async () => Promise.reject(innerError()),
    'throws-string': () => {
      throw canary
    },
    'rejects-undefined': async () => Promise.reject(undefined)
  }
  return calls[way]
}

// Fastify distinguishes the two styles of hook by their number of parameters.
function withArity(hook: AnyHook, way: string, name: string): AnyHook {
  const isAsync = way.startsWith('rejects')
  const payload = name === 'preParsing' || name === 'preSerialization' || name === 'onSend'
  if (payload)
    return isAsync
      ? async (a: unknown, b: unknown, c: unknown) => hook(a, b, c)
      : (a: unknown, b: unknown, c: unknown, d: unknown) => hook(a, b, c, d)
  return isAsync ? async (a: unknown, b: unknown) => hook(a, b) : (a: unknown, b: unknown, c: unknown) => hook(a, b, c)
}

function hookOptions(name: string, hook: unknown): RouteShorthandOptions {
  return { [name]: hook }
}

/** Adds the routes below `/hooks`: each hook fails in each way, each time or only once for each request. */
export function addFailingHooks(app: FastifyInstance): void {
  for (const name of hooks) {
    for (const way of ways) addRoute(app, `/hooks/${name}/${way}`, () => aThing, hookOptions(name, withArity(failingHook(way), way, name)))
  }
  // On its second call, the hook receives the error response and does not change it.
  const seen = new WeakSet<object>()
  addRoute(app, '/hooks/onSend/only-once', () => aThing, {
    onSend: async (request, _reply, payload) => {
      if (seen.has(request)) return payload
      seen.add(request)
      throw innerError()
    }
  })
  addRoute(app, '/hooks/onSend/after-an-error', () => Promise.reject(innerError()), { onSend: () => Promise.reject(innerError()) })
  addRoute(app, '/hooks/onSend/number', () => aThing, { onSend: async () => 42 })
  addRoute(app, '/hooks/onSend/object', () => aThing, { onSend: async () => ({ inner: canary }) })
  addRoute(app, '/hooks/onSend/sets-500', () => aThing, {
    onSend: async (_request, reply, payload) => {
      reply.code(500).type('text/html')
      return payload
    }
  })
  addRoute(app, '/hooks/preSerialization/circular', () => aThing, {
    preSerialization: async () => {
      const circle: { self?: unknown; inner: string } = { inner: canary }
      circle.self = circle
      return circle
    }
  })
  addRoute(app, '/hooks/preParsing/failing-stream', () => aThing, {
    method: 'POST',
    preParsing: async () =>
      new Readable({
        read() {
          this.destroy(innerError())
        }
      })
  })
  addRoute(app, '/hooks/preHandler/never', () => aThing, { preHandler: () => {}, handlerTimeout: 150 })
  addRoute(app, '/hooks/onError/throws', () => Promise.reject(innerError()), {
    onError: () => {
      throw innerError()
    }
  })
  addRoute(app, '/hooks/onError/rejects', () => Promise.reject(innerError()), { onError: async () => Promise.reject(innerError()) })
  addRoute(app, '/hooks/onResponse/throws', () => aThing, {
    onResponse: () => {
      throw innerError()
    }
  })
  addRoute(app, '/hooks/onResponse/rejects', () => aThing, { onResponse: async () => Promise.reject(innerError()) })
  addRoute(app, '/hooks/onResponse/rejects-after-an-error', () => Promise.reject(innerError()), {
    onResponse: async () => Promise.reject(innerError())
  })
  addRoute(app, '/hooks/onTimeout/rejects', () => new Promise(() => {}), {
    handlerTimeout: 150,
    onTimeout: async () => Promise.reject(innerError())
  })
}
