import accepts from '@fastify/accepts'
import basicAuth from '@fastify/basic-auth'
import bearerAuth from '@fastify/bearer-auth'
import circuitBreaker from '@fastify/circuit-breaker'
import compress from '@fastify/compress'
import cookie from '@fastify/cookie'
import csrf from '@fastify/csrf-protection'
import etag from '@fastify/etag'
import formbody from '@fastify/formbody'
import helmet from '@fastify/helmet'
import jwt from '@fastify/jwt'
import middie from '@fastify/middie'
import multipart from '@fastify/multipart'
import { FastifyOtelInstrumentation } from '@fastify/otel'
import postgres from '@fastify/postgres'
import rateLimit from '@fastify/rate-limit'
import redis from '@fastify/redis'
import requestContext from '@fastify/request-context'
import { fastifySchedule } from '@fastify/schedule'
import sensible from '@fastify/sensible'
import session from '@fastify/session'
import type { Row } from './row.ts'

const secret = 'kR7vZ8mB1xT6yW0rLd5uKc9nHs2gPf7aEo4i'

function formData(parts: Readonly<Record<string, string>>) {
  const boundary = 'a-boundary'
  const body = Object.entries(parts).map(
    ([name, text]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"; filename="${name}.txt"\r\n\r\n${text}\r\n`
  )
  return { headers: { 'content-type': `multipart/form-data; boundary=${boundary}` }, payload: `${body.join('')}--${boundary}--\r\n` }
}

/** Plugins that decorate requests and replies, add hooks or parse bodies. */
export const rowsWithFeatures: readonly Row[] = [
  {
    name: '@fastify/multipart',
    plugin: async (app) => app.register(multipart, { limits: { fileSize: 100, files: 1 } }),
    routes(app) {
      app.post('/uploads', async (request) => {
        const file = await request.file()
        return { bytes: (await file?.toBuffer())?.length }
      })
    },
    outside: ['/uploads'],
    async probe({ t, send }) {
      t.match((await send({ method: 'POST', url: '/uploads', ...formData({ a: 'x'.repeat(50) }) })).json(), { bytes: 50 })
      const large = await send({ method: 'POST', url: '/uploads', ...formData({ a: 'x'.repeat(500) }) })
      t.match([large.statusCode, large.json()], [413, { error: { status: 413 }, _links: [], _meta: {} }])
    }
  },
  {
    name: '@fastify/formbody',
    plugin: async (app) => app.register(formbody),
    routes: (app) => void app.post('/forms', async ({ body }) => body),
    outside: ['/forms'],
    async probe({ t, send }) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      t.match((await send({ method: 'POST', url: '/forms', headers, payload: 'a=1&b=2' })).json(), { a: '1', b: '2' })
    }
  },
  {
    name: '@fastify/cookie',
    plugin: async (app) => app.register(cookie),
    routes: (app) => void app.get('/cookies', async ({ cookies }, reply) => reply.setCookie('seen', 'yes').send({ cookies })),
    outside: ['/cookies'],
    async probe({ t, send }) {
      const response = await send({ url: '/cookies', headers: { cookie: 'a=1' } })
      t.match([response.json(), response.headers['set-cookie']], [{ cookies: { a: '1' } }, 'seen=yes'])
    }
  },
  {
    name: '@fastify/session',
    async plugin(app) {
      await app.register(cookie)
      await app.register(session, { secret, cookie: { secure: false } })
    },
    routes(app) {
      app.get('/visits', async ({ session: own }) => {
        const visits = ((own as { get: (key: string) => number | undefined }).get('visits') ?? 0) + 1
        ;(own as unknown as { set: (key: string, value: number) => void }).set('visits', visits)
        return { visits }
      })
    },
    outside: ['/visits'],
    async probe({ t, send }) {
      const first = await send('/visits')
      const [setCookie] = String(first.headers['set-cookie']).split(';')
      t.match((await send({ url: '/visits', headers: { cookie: setCookie ?? '' } })).json(), { visits: 2 })
    }
  },
  {
    name: '@fastify/csrf-protection',
    async plugin(app) {
      await app.register(cookie, { secret })
      await app.register(csrf)
    },
    routes(app) {
      app.get('/tokens', async (_request, reply) => ({ token: reply.generateCsrf() }))
      app.post('/guarded', { onRequest: (...input) => app.csrfProtection(...input) }, async () => 'done')
    },
    outside: ['/tokens', '/guarded'],
    async probe({ t, send }) {
      const issued = await send('/tokens')
      const [setCookie] = String(issued.headers['set-cookie']).split(';')
      const headers = { cookie: setCookie ?? '', 'csrf-token': issued.json().token }
      t.equal((await send({ method: 'POST', url: '/guarded', headers })).statusCode, 200)
      t.match((await send({ method: 'POST', url: '/guarded' })).json(), { error: { status: 403, code: 'FORBIDDEN' } })
    }
  },
  {
    name: '@fastify/request-context',
    plugin: async (app) => app.register(requestContext),
    routes(app) {
      app.addHook('preHandler', async (request) => request.requestContext.set('caller' as never, 'ada' as never))
      app.get('/contexts', async (request) => ({ caller: request.requestContext.get('caller' as never) }))
    },
    outside: ['/contexts'],
    async probe({ t, send }) {
      t.match((await send('/contexts')).json(), { caller: 'ada' })
    }
  },
  {
    name: '@fastify/middie',
    plugin: async (app) => app.register(middie),
    routes(app) {
      app.use((_request: unknown, response: { setHeader: (name: string, value: string) => void }, next: () => void) => {
        response.setHeader('x-middleware', 'ran')
        next()
      })
      app.get('/middleware', async () => 'x')
    },
    outside: ['/middleware'],
    async probe({ t, send }) {
      t.match((await send('/middleware')).headers, { 'x-middleware': 'ran', 'request-id': /./ })
    }
  },
  {
    name: '@fastify/helmet',
    plugin: async (app) => app.register(helmet),
    note: 'Not needed: the preset sends the headers that matter to an API.',
    async probe({ t, send }) {
      t.match((await send('/v1/things/1')).headers, { 'x-content-type-options': 'nosniff', 'x-dns-prefetch-control': 'off' })
    }
  },
  {
    name: '@fastify/rate-limit',
    plugin: async (app) => app.register(rateLimit, { max: 1 }),
    refused: {
      before: /rate-limiting: @fastify\/rate-limit is already registered here and also reads config\.rateLimit\. Remove it\./,
      after: /@fastify\/rate-limit must not be registered beside the preset, .* Remove it, or set options\.rateLimiting to false\./
    },
    note: 'Not needed: the preset counts. Remove it, or leave out rate-limiting with `rateLimiting: false`.',
    async probe({ t, send }) {
      t.match((await send('/v1/things/1')).headers, { ratelimit: /./ })
    }
  },
  {
    name: '@fastify/sensible',
    plugin: async (app) => app.register(sensible),
    routes(app) {
      app.get('/teapots', async () => {
        throw app.httpErrors.conflict('no tea')
      })
    },
    outside: ['/teapots'],
    async probe({ t, send }) {
      t.match((await send('/teapots')).json(), { error: { status: 409, code: 'CONFLICT' } })
    }
  },
  {
    name: '@fastify/circuit-breaker',
    plugin: async (app) => app.register(circuitBreaker, { threshold: 1 }),
    routes(app) {
      app.get('/fragile', { beforeHandler: app.circuitBreaker() } as object, async () => {
        throw new Error('broken')
      })
    },
    outside: ['/fragile'],
    async probe({ t, send }) {
      t.match((await send('/fragile')).json(), { error: { status: 500, code: 'INTERNAL_ERROR' } })
    }
  },
  {
    name: '@fastify/schedule',
    plugin: async (app) => app.register(fastifySchedule),
    async probe({ t, app }) {
      t.ok(app.scheduler)
    }
  },
  {
    name: '@fastify/redis',
    plugin: async (app) => app.register(redis, { url: 'redis://127.0.0.1:6379' }),
    routes: (app) => void app.get('/pings', async () => ({ pong: await app.redis.ping() })),
    outside: ['/pings'],
    async probe({ t, send }) {
      t.match((await send('/pings')).json(), { pong: 'PONG' })
    }
  },
  {
    name: '@fastify/postgres',
    plugin: async (app) => app.register(postgres, { connectionString: 'postgres://postgres@127.0.0.1:5432/postgres' }),
    routes: (app) => void app.get('/numbers', async () => (await app.pg.query('SELECT 1 AS one')).rows),
    outside: ['/numbers'],
    async probe({ t, send }) {
      t.match((await send('/numbers')).json(), [{ one: 1 }])
    }
  },
  {
    name: '@fastify/basic-auth',
    plugin: async (app) =>
      app.register(basicAuth, {
        validate: async (name, password) => {
          if (name !== 'ada' || password !== 'secret') throw new Error('wrong')
        },
        authenticate: { realm: 'admin' }
      }),
    routes: (app) => void app.get('/admin', { onRequest: (...input) => app.basicAuth(...input) }, async () => 'admin'),
    outside: ['/admin'],
    async probe({ t, send }) {
      const refused = await send('/admin')
      t.match([refused.statusCode, refused.json(), refused.headers['www-authenticate']], [401, { error: { status: 401 } }, /^Basic/])
      const authorization = `Basic ${Buffer.from('ada:secret').toString('base64')}`
      t.equal((await send({ url: '/admin', headers: { authorization } })).body, 'admin')
    }
  },
  {
    name: '@fastify/bearer-auth',
    plugin: async (app) => app.register(bearerAuth, { keys: new Set(['a-key']), addHook: false }),
    routes: (app) => void app.get('/keyed', { onRequest: (...input) => app.verifyBearerAuth?.(...input) }, async () => 'keyed'),
    outside: ['/keyed'],
    async probe({ t, send }) {
      const refused = await send('/keyed')
      t.match([refused.statusCode, refused.json()], [401, { error: { status: 401 } }])
      t.match(refused.headers, { 'www-authenticate': /^Bearer/ })
      t.equal((await send({ url: '/keyed', headers: { authorization: 'Bearer a-key' } })).body, 'keyed')
    }
  },
  {
    name: '@fastify/jwt',
    plugin: async (app) => app.register(jwt, { secret }),
    routes: (app) => void app.get('/claims', async (request) => request.jwtVerify()),
    outside: ['/claims'],
    async probe({ t, app, send }) {
      const authorization = `Bearer ${app.jwt.sign({ sub: 'ada' })}`
      t.match((await send({ url: '/claims', headers: { authorization } })).json(), { sub: 'ada' })
      t.match((await send('/claims')).json(), { error: { status: 401 } })
      t.equal((await send('/claims')).headers['www-authenticate'], 'Bearer realm="api"')
    }
  },
  {
    name: '@fastify/compress',
    plugin: async (app) => app.register(compress),
    refused: {
      before:
        /@fastify\/compress is already registered and would compress responses before they are stored\. Register it after idempotency/,
      after:
        /@fastify\/compress must not be registered beside the preset, which does its work\. Remove the registration, and set its options/
    },
    note: 'Not needed: the preset registers it; set its options in `compression`.',
    async probe({ t, send }) {
      t.equal((await send('/v1/things/1')).statusCode, 200)
    }
  },
  {
    name: '@fastify/etag',
    plugin: async (app) => app.register(etag),
    note: 'Not needed in the API: conditional-caching sends the tags. It tags routes outside.',
    routes: (app) => void app.get('/tagged', async () => 'a text'),
    outside: ['/tagged'],
    async probe({ t, send }) {
      const tag = String((await send('/tagged')).headers.etag)
      t.equal((await send({ url: '/tagged', headers: { 'if-none-match': tag } })).statusCode, 304)
    }
  },
  {
    name: '@fastify/accepts',
    plugin: async (app) => app.register(accepts),
    routes: (app) => void app.get('/accepted', async (request) => ({ type: request.accepts().type(['json', 'html']) })),
    outside: ['/accepted'],
    async probe({ t, send }) {
      t.match((await send({ url: '/accepted', headers: { accept: 'text/html' } })).json(), { type: 'html' })
    }
  },
  {
    name: '@fastify/otel',
    plugin: async (app) => app.register(new FastifyOtelInstrumentation().plugin()),
    async probe({ t, send }) {
      t.equal((await send('/v1/things/1')).statusCode, 200)
    }
  }
]
