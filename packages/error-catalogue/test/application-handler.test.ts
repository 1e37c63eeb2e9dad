import errorCatalogue from '@concordat/error-catalogue'
import { ApiError } from '@concordat/plugin-kit/api-error'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'

const secret = 'canary-8f3a'

class NotFoundError extends Error {}
class BusyError extends Error {}
class LoginError extends Error {}

type Handler = (error: unknown, request: FastifyRequest, reply: FastifyReply) => unknown

function mapByClass(error: unknown, _request: FastifyRequest, reply: FastifyReply) {
  if (error instanceof LoginError) return reply.redirect('/sign-in')
  const status = error instanceof NotFoundError ? 404 : error instanceof BusyError ? 503 : 500
  if (status === 503) reply.header('retry-after', '77')
  return reply
    .code(status)
    .header('x-own', 'yes')
    .send({ message: (error as Error).message })
}

const Body = { type: 'object', properties: { size: { type: 'integer' } } }

function addRoutes(app: FastifyInstance) {
  const errors = {
    missing: new NotFoundError(secret),
    busy: new BusyError(secret),
    login: new LoginError(secret),
    unknown: new Error(secret),
    conflict: Object.assign(new Error(secret), { statusCode: 409 }),
    duplicate: Object.assign(new Error(secret), { code: '23505', severity: 'ERROR' }),
    known: new ApiError(405, 'METHOD_NOT_ALLOWED', 'No.', { headers: { allow: 'GET' } })
  }
  for (const [name, error] of Object.entries(errors)) {
    app.get(`/${name}`, async () => {
      throw error
    })
    app.get(`/${name}-sent`, (_request, reply) => void reply.send(error))
  }
  app.post('/bodies', { schema: { body: Body } }, async () => 'ok')
}

type Setup = (app: FastifyInstance, handler: Handler) => Promise<unknown>

// Where the handler is, and where the plugin is. Every service has the routes below /v2.
const places: Readonly<Record<string, Setup>> = {
  'root, before the plugin on the root': async (app, handler) => {
    app.setErrorHandler(handler)
    await app.register(errorCatalogue)
    await app.register(async (v2) => addRoutes(v2), { prefix: '/v2' })
  },
  'root, after the plugin on the root': async (app, handler) => {
    await app.register(errorCatalogue)
    app.setErrorHandler(handler)
    await app.register(async (v2) => addRoutes(v2), { prefix: '/v2' })
  },
  'root, before the plugin in a child': async (app, handler) => {
    app.setErrorHandler(handler)
    await app.register(child, { prefix: '/v2' })
  },
  'root, after the plugin in a child was registered': async (app, handler) => {
    void app.register(child, { prefix: '/v2' })
    app.setErrorHandler(handler)
  },
  'child, before the plugin': async (app, handler) => {
    await app.register(
      async (v2) => {
        v2.setErrorHandler(handler)
        await child(v2)
      },
      { prefix: '/v2' }
    )
  },
  'child, after the plugin': async (app, handler) => {
    await app.register(
      async (v2) => {
        await v2.register(errorCatalogue)
        v2.setErrorHandler(handler)
        addRoutes(v2)
      },
      { prefix: '/v2' }
    )
  },
  'child of the context with the plugin': async (app, handler) => {
    await app.register(errorCatalogue)
    await app.register(
      async (v2) => {
        v2.setErrorHandler(handler)
        addRoutes(v2)
      },
      { prefix: '/v2' }
    )
  },
  'root, after the plugin in a child': async (app, handler) => {
    await app.register(child, { prefix: '/v2' })
    app.setErrorHandler(handler)
  },
  'context between the root and the plugin, after it': async (app, handler) => {
    await app.register(async (middle) => {
      await middle.register(child, { prefix: '/v2' })
      middle.setErrorHandler(handler)
    })
  }
}

async function child(v2: FastifyInstance) {
  await v2.register(errorCatalogue)
  addRoutes(v2)
}

interface Line {
  readonly level: number
  readonly msg: string
  readonly err?: { readonly message: string }
}

async function service(setup: Setup, handler: Handler, before: (app: FastifyInstance) => unknown = () => undefined) {
  const lines: Line[] = []
  const app = Fastify({
    handlerTimeout: 200,
    logger: { level: 'warn', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } }
  })
  await before(app)
  await setup(app, handler)
  await app.ready()
  return { app, lines }
}

function isEnvelope(t: Test, { statusCode, body }: { statusCode: number; body: string }, status: number, code: string, title: string) {
  t.equal(statusCode, status, title)
  t.match(JSON.parse(body), { error: { status, code, message: String }, _links: [{ rel: 'self' }] }, title)
  t.notMatch(body, secret, `${title}: no internal details`)
}

t.test('the error handler of the application decides the status of an error that the suite does not know', async (t) => {
  for (const [place, setup] of Object.entries(places)) {
    const { app, lines } = await service(setup, mapByClass)
    for (const way of ['', '-sent']) {
      const missing = await app.inject(`/v2/missing${way}`)
      isEnvelope(t, missing, 404, 'RESOURCE_NOT_FOUND', place)
      t.equal(missing.headers['x-own'], 'yes', `${place}: the headers of the handler stay`)
      const busy = await app.inject(`/v2/busy${way}`)
      isEnvelope(t, busy, 503, 'SERVICE_UNAVAILABLE', place)
      t.equal(busy.headers['retry-after'], '77', place)
      t.match(await app.inject(`/v2/login${way}`), { statusCode: 302, headers: { location: '/sign-in' } }, `${place}: a redirection`)
      isEnvelope(t, await app.inject(`/v2/unknown${way}`), 500, 'INTERNAL_ERROR', place)
      const known = await app.inject(`/v2/known${way}`)
      isEnvelope(t, known, 405, 'METHOD_NOT_ALLOWED', `${place}: an error of the suite keeps its status`)
      t.equal(known.headers['allow'], 'GET')
    }
    const invalid = await app.inject({ method: 'POST', url: '/v2/bodies', payload: { size: 'x' } })
    isEnvelope(t, invalid, 422, 'VALIDATION_FAILED', place)
    t.ok(
      lines.some(({ level, err }) => level === 50 && err?.message === secret),
      `${place}: a 5xx is logged with its error`
    )
  }
})

t.test('an error that a handler before the plugin sends as a success is a 500 [X2]', async (t) => {
  const successes: readonly Handler[] = [
    (error, _request, reply) => reply.send({ message: (error as Error).message }),
    async (error) => ({ message: (error as Error).message }),
    (error, _request, reply) => reply.code(202).send((error as Error).message),
    (_error, _request, reply) => reply.code(204).send(),
    (error) => {
      // Fastify sends a text that is thrown here as a payload.
      throw (error as Error).message
    }
  ]
  for (const [place, setup] of Object.entries(places).filter(
    ([name]) => !/^child, after|^child of/.test(name) && name !== 'root, after the plugin on the root'
  ))
    for (const handler of successes)
      isEnvelope(t, await (await service(setup, handler)).app.inject('/v2/unknown'), 500, 'INTERNAL_ERROR', place)
})

t.test('an error with a status of its own, and one of the database, need no handler', async (t) => {
  const first = places['root, before the plugin on the root'] as Setup
  const { app } = await service(first, mapByClass)
  isEnvelope(t, await app.inject('/v2/conflict'), 409, 'CONFLICT', 'status')
  isEnvelope(t, await app.inject('/v2/duplicate'), 409, 'CONFLICT', 'database')
})

const handlers: readonly (readonly [string, number, Handler])[] = [
  ['sends the error', 500, (error, _request, reply) => reply.send(error)],
  ['sends another error', 500, (_error, _request, reply) => reply.send(new Error(secret))],
  [
    'throws the error',
    500,
    (error) => {
      throw error
    }
  ],
  [
    'throws another error',
    500,
    () => {
      throw new Error(secret)
    }
  ],
  ['rejects', 500, async () => Promise.reject(new Error(secret))],
  ['rejects with nothing', 500, async () => Promise.reject(undefined)],
  [
    'is async and sends later',
    418,
    async (_error, _request, reply) => {
      await Promise.resolve()
      return reply.code(418).send(secret)
    }
  ],
  [
    'is async and returns',
    418,
    async (_error, _request, reply) => {
      reply.code(418)
      return { secret }
    }
  ],
  ['sends from a callback', 418, (_error, _request, reply) => void setImmediate(() => reply.code(418).send({ secret }))],
  ['sets an unregistered status', 500, (_error, _request, reply) => reply.code(599).send({ secret })],
  ['sends HTML', 410, (_error, _request, reply) => reply.code(410).type('text/html').send(`<p>${secret}</p>`)],
  ['sends a status without a body', 410, (_error, _request, reply) => reply.code(410).send()],
  ['sends a Response', 410, (_error, _request, reply) => reply.send(new Response(secret, { status: 410 }))]
]

t.test('whatever the error handler of the application does, the response is in the envelope, without internal details', async (t) => {
  for (const [place, setup] of Object.entries(places)) {
    for (const [title, status, handler] of handlers) {
      const { app } = await service(setup, handler)
      const response = await app.inject('/v2/unknown')
      t.equal(response.statusCode, status, `${place}: ${title}`)
      t.match(response.json(), { error: { status }, _links: [{ rel: 'self' }] }, `${place}: ${title}`)
      t.notMatch(response.body, secret, `${place}: ${title}`)
    }
  }
})

t.test('a handler that never sends ends with the time limit of handlers', async (t) => {
  for (const [place, setup] of Object.entries(places)) {
    const { app } = await service(setup, () => undefined)
    t.match((await app.inject('/v2/unknown')).json(), { error: { status: 503 }, _links: [{ rel: 'self' }] }, place)
  }
})

t.test('no internal text is sent when hooks fail too', async (t) => {
  for (const [place, setup] of Object.entries(places)) {
    for (const hook of ['onSend', 'onError'] as const) {
      const { app } = await service(setup, mapByClass, (root) => {
        root.addHook(hook as 'onError', async () => {
          throw new Error(secret)
        })
      })
      const response = await app.inject('/v2/missing')
      t.ok(response.statusCode >= 400, place)
      t.match(response.json(), { error: { status: response.statusCode }, _links: [{ rel: 'self' }] }, `${place}: ${hook}`)
      t.notMatch(response.body, secret, `${place}: ${hook}`)
    }
  }
})
