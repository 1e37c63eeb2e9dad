// An application's error handler that maps errors by their class, beside plugins whose errors it does not know.
import conditionalCaching from '@concordat/conditional-caching'
import contentNegotiation from '@concordat/content-negotiation'
import conventions, { serverOptions } from '@concordat/conventions'
import errorCatalogue from '@concordat/error-catalogue'
import httpMethods from '@concordat/http-methods'
import idempotency from '@concordat/idempotency'
import paginationQuery, { collection } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import rateLimiting from '@concordat/rate-limiting'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type InjectOptions } from 'fastify'
import t from 'tap'

class NotFoundError extends Error {}

interface Line {
  readonly level: number
  readonly msg: string
}

type Handler = (error: Error, request: FastifyRequest, reply: FastifyReply) => unknown

// Functions of their own for each service, because a line is logged once for each handler.
function byClass(): Handler {
  return function mapByClass(error, _request, reply) {
    return reply.code(error instanceof NotFoundError ? 404 : 500).send({ own: error.message })
  }
}

// With the lines that the log line says, which the next test compares.
const missing = `if (error.statusCode < 500 || error.name === 'ApiError') {
  return reply.code(error.statusCode).headers(error.headers ?? {}).send({ code: error.code, message: error.message, errors: error.errors })
}`

type Known = Error & { statusCode: number; code?: string; errors?: unknown; headers?: Record<string, string> }

function withLines(): Handler {
  return (thrown, _request, reply) => {
    const error = thrown as Known
    if (error.statusCode < 500 || error.name === 'ApiError') {
      return reply
        .code(error.statusCode)
        .headers(error.headers ?? {})
        .send({ code: error.code, message: error.message, errors: error.errors })
    }
    return reply.code(error instanceof NotFoundError ? 404 : 500).send({ own: error.message })
  }
}

const Item = { type: 'object', properties: { id: { type: 'integer' } } } as const
const Thing = { type: 'object', properties: { name: { type: 'string' } } } as const
const items = collection(Item)({ name: 'items', style: 'page', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] } })

interface Row {
  readonly plugin: string
  readonly add: (app: FastifyInstance) => Promise<unknown>
  readonly request: InjectOptions
  readonly status: number
  readonly code: string
  readonly header?: string
}

const rows: readonly Row[] = [
  {
    plugin: 'http-methods',
    async add(app) {
      await app.register(httpMethods)
      app.get('/things', async () => 'things')
    },
    request: { method: 'DELETE', url: '/v1/things' },
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
    header: 'allow'
  },
  {
    plugin: 'content-negotiation',
    async add(app) {
      await app.register(contentNegotiation)
      app.get('/things', async () => 'things')
    },
    request: { url: '/v1/things', headers: { accept: 'image/png' } },
    status: 406,
    code: 'NOT_ACCEPTABLE'
  },
  {
    plugin: 'conditional-caching',
    async add(app) {
      await app.register(conditionalCaching)
      app.patch('/things', { config: { validator: async () => ({ exists: true, etag: 7 }), requireIfMatch: true } }, async () => 'things')
    },
    request: { method: 'PATCH', url: '/v1/things', headers: { 'if-match': '"1"' } },
    status: 412,
    code: 'PRECONDITION_FAILED',
    header: 'etag'
  },
  {
    plugin: 'idempotency',
    async add(app) {
      await app.register(idempotency, { scope: () => 'client' })
      app.post('/things', { config: { idempotency: 'required' } }, async () => 'things')
    },
    request: { method: 'POST', url: '/v1/things' },
    status: 400,
    code: 'IDEMPOTENCY_KEY_REQUIRED'
  },
  {
    plugin: 'pagination-query',
    async add(app) {
      await app.register(paginationQuery, { publicUrl: 'https://api.example.com' })
      app.get(
        '/things',
        { config: { collection: items }, schema: { response: { 200: { type: 'array', items: Item } } } },
        async (request, reply) => reply.page(runArray([], request.listQuery(items)))
      )
    },
    request: { url: '/v1/things?perPage=0' },
    status: 422,
    code: 'INVALID_QUERY_PARAMETERS'
  },
  {
    plugin: 'rate-limiting',
    async add(app) {
      await app.register(rateLimiting, { addressLimit: { limit: 1, windowSeconds: 60 } })
      app.get('/things', async () => 'things')
    },
    request: { url: '/v1/things' },
    status: 429,
    code: 'RATE_LIMIT_EXCEEDED',
    header: 'retry-after'
  }
]

async function service(row: Row, handler: Handler, withCatalogue: boolean) {
  const lines: Line[] = []
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } } })
  await app.register(
    async (v1) => {
      if (withCatalogue) await v1.register(errorCatalogue)
      v1.setErrorHandler(handler)
      await row.add(v1)
    },
    { prefix: '/v1' }
  )
  // The second request is the one that a limit refuses.
  await app.inject(row.request)
  const response = await app.inject(row.request)
  return { response, lines: lines.filter(({ msg }) => msg.includes('changed the status of')) }
}

t.test(
  'an error handler that changes the status of an error of a plugin is named in one log line, with the lines that it lacks',
  async (t) => {
    for (const row of rows) {
      const { response, lines } = await service(row, byClass(), false)
      t.equal(response.statusCode, 500, row.plugin)
      t.equal(lines.length, 1, row.plugin)
      const [line] = lines as [Line]
      t.equal(
        line.msg,
        `The error handler mapByClass for the routes below /v1 changed the status of ${row.code} from ${row.status} to 500. Add these lines to its beginning:\n${missing}`
      )
      const corrected = await service(row, withLines(), false)
      t.equal(corrected.response.statusCode, row.status, `${row.plugin}: with the lines`)
      t.match(corrected.response.json(), { code: row.code, message: String }, row.plugin)
      if (row.header !== undefined) t.ok(row.header in corrected.response.headers, `${row.plugin}: ${row.header}`)
      t.strictSame(corrected.lines, [], row.plugin)
    }
  }
)

t.test('where error-catalogue is registered, the error keeps its status and its headers nevertheless', async (t) => {
  for (const row of rows) {
    const { response, lines } = await service(row, byClass(), true)
    t.match(response.json().error, { status: row.status, code: row.code }, row.plugin)
    if (row.header !== undefined) t.ok(row.header in response.headers, `${row.plugin}: ${row.header}`)
    t.equal(lines.length, 1, row.plugin)
    t.match(lines[0]?.msg, `changed the status of ${row.code} from ${row.status} to 500. The response has ${row.status} nevertheless.`)
    const { lines: none } = await service(row, withLines(), true)
    t.strictSame(none, [], row.plugin)
  }
})

t.test(
  'a status of 400 to 499 that a handler chooses is sent, and logged once; a success and a redirection are what it intends',
  async (t) => {
    const row = rows[0] as Row
    for (const withCatalogue of [false, true]) {
      const hidden = await service(row, (_error, _request, reply) => reply.code(404).send({}), withCatalogue)
      t.equal(hidden.response.statusCode, 404)
      t.match(hidden.lines, [
        { level: 40, msg: /^The error handler for the routes below \/v1 changed the status of METHOD_NOT_ALLOWED from 405 to 404\. Add/ }
      ])
      for (const status of [200, 302]) {
        const meant = await service(row, (_error, _request, reply) => reply.code(status).send(), withCatalogue)
        t.equal(meant.response.statusCode, status)
        t.strictSame(meant.lines, [])
      }
    }
  }
)

t.test('an errorHandler of a route is reported too, once for each route', async (t) => {
  for (const withCatalogue of [false, true]) {
    const lines: Line[] = []
    const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } } })
    if (withCatalogue) await app.register(errorCatalogue)
    await app.register(contentNegotiation)
    for (const url of ['/one', '/two']) app.get(url, { errorHandler: byClass() }, async () => 'things')
    for (const url of ['/one', '/two', '/one', '/two']) {
      const { statusCode } = await app.inject({ url, headers: { accept: 'image/png' } })
      t.equal(statusCode, withCatalogue ? 406 : 500)
    }
    const changed = lines.filter(({ msg }) =>
      msg.startsWith('An errorHandler of a route changed the status of NOT_ACCEPTABLE from 406 to 500.')
    )
    t.equal(changed.length, 2)
  }
})

t.test(
  'the preset: errors of the application, mapped by its own handler, and errors of the suite keep their status in both orders',
  async (t) => {
    for (const isFirst of [true, false]) {
      const lines: Line[] = []
      const app = Fastify({
        ...serverOptions(),
        logger: { level: 'warn', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } }
      })
      const handler = byClass()
      if (isFirst) app.setErrorHandler(handler)
      await app.register(conventions, {
        publicUrl: 'https://api.example.com',
        versions: { 1: {} },
        authentication: false,
        transportSecurity: { dangerouslyAllowHttp: 'loopback' }
      })
      if (!isFirst) app.setErrorHandler(handler)
      await app.apiVersion(1, async (v1) => {
        v1.get('/things/:id', { schema: { response: { 200: Thing } } }, async () => {
          throw new NotFoundError('No thing 7.')
        })
      })
      const statusOf = async (options: InjectOptions) => {
        const response = await app.inject(options)
        t.equal(response.json().error.status, response.statusCode)
        return response.statusCode
      }
      t.equal(await statusOf({ url: '/v1/things/7' }), 404)
      t.equal(await statusOf({ method: 'DELETE', url: '/v1/things/7' }), 405)
      t.equal(await statusOf({ url: '/v1/things/7', headers: { accept: 'image/png' } }), 406)
      t.equal(await statusOf({ url: '/v1/nothing' }), 404)
      t.equal(lines.filter(({ msg }) => msg.includes('The error handler mapByClass changed the status')).length, isFirst ? 0 : 1)
      await app.close()
    }
  }
)

t.test('the preset: translate', async (t) => {
  const app = Fastify(serverOptions())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: {} },
    authentication: false,
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    errorCatalogue: {
      translate: (error) =>
        error instanceof NotFoundError ? { statusCode: 404, code: 'THING_NOT_FOUND', message: error.message } : undefined
    }
  })
  await app.apiVersion(1, async (v1) => {
    v1.get('/things/:id', { schema: { response: { 200: Thing } } }, async () => {
      throw new NotFoundError('No thing 7.')
    })
  })
  const response = await app.inject({ url: '/v1/things/7', headers: { 'accept-language': 'es' } })
  t.match(response.json().error, { status: 404, code: 'THING_NOT_FOUND', message: 'No thing 7.' })
  await app.close()
})
