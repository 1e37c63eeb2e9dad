import { Readable } from 'node:stream'
import contentNegotiation from '@concordat/content-negotiation'
import { publish } from '@concordat/plugin-kit/wiring'
import Fastify, { type FastifyInstance, type FastifyReply, type RouteShorthandOptions } from 'fastify'
import t from 'tap'

// Routes of existing services declare neither `produces` nor `consumes`.

interface Line {
  readonly level: number
  readonly msg: string
}

function recorded() {
  const lines: Line[] = []
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } } })
  // In an object, because an instance is thenable.
  return { app, warnings: () => lines.map(({ msg }) => msg) }
}

type Done = (error: null, body: unknown) => void
const parse = (_request: unknown, body: unknown, done: Done) => done(null, `parsed ${String(body).length}`)
const echo = async ({ body }: { body: unknown }) => ({ read: body })
const form = 'application/x-www-form-urlencoded'

const parsers: readonly [name: string, register: (app: FastifyInstance) => void, accepted: readonly string[]][] = [
  ['none', () => {}, []],
  ['a type', (app) => app.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, parse), ['multipart/form-data']],
  ['types', (app) => app.addContentTypeParser([form, 'text/csv'], { parseAs: 'string' }, parse), [form, 'text/csv']],
  ['a pattern', (app) => app.addContentTypeParser(/^image\//, { parseAs: 'buffer' }, parse), ['image/png', 'image/gif']],
  [
    'any type',
    (app) => app.addContentTypeParser('*', { parseAs: 'buffer' }, parse),
    ['multipart/form-data', form, 'text/csv', 'image/png', 'image/gif', 'application/xml', 'application/vnd.api+json']
  ]
]
const types = [
  'multipart/form-data',
  form,
  'text/csv',
  'image/png',
  'image/gif',
  'application/xml',
  'application/vnd.api+json',
  'text/plain'
]
const places = ['before, in the same context', 'before, around it', 'after', 'in a child context'] as const

async function withParser(place: (typeof places)[number], register: (app: FastifyInstance) => void, options: RouteShorthandOptions = {}) {
  const app = Fastify()
  if (place === 'before, around it') register(app)
  await app.register(async (context) => {
    if (place === 'before, in the same context') register(context)
    await context.register(contentNegotiation)
    if (place === 'after') register(context)
    await context.register(async (child) => {
      if (place === 'in a child context') register(child)
      child.post('/things', options, echo)
    })
  })
  return { app }
}

t.test('without versions, a route that declares no types accepts those with a parser, except plain text [N3]', async (t) => {
  for (const [name, register, accepted] of parsers) {
    for (const place of places) {
      // A context has one parser for any type, and the plugin replaces an earlier one, which Fastify does not report.
      const isReplaced = name === 'any type' && place.startsWith('before')
      const { app } = await withParser(place, register)
      for (const type of types) {
        const headers = { 'content-type': `${type}; boundary=x` }
        const response = await app.inject({ method: 'POST', url: '/things', headers, payload: 'abc' })
        const expected = accepted.includes(type) && !isReplaced ? { statusCode: 200, body: '{"read":"parsed 3"}' } : { statusCode: 415 }
        t.match(response, expected, `${name}, ${place}: ${type}`)
      }
      t.match(await app.inject({ method: 'POST', url: '/things', payload: { a: 1 } }), { body: '{"read":{"a":1}}' }, `${name}: JSON`)
    }
  }
})

t.test('a route that declares its types accepts no others, whatever is registered [N3]', async (t) => {
  const declared: RouteShorthandOptions[] = [
    { config: { consumes: ['application/json'] } },
    { schema: { body: { content: { 'application/json': { schema: { type: 'object' } } } } } }
  ]
  for (const options of declared) {
    for (const [name, register, accepted] of parsers) {
      const { app } = await withParser('before, in the same context', register, options)
      for (const type of accepted) {
        const response = await app.inject({ method: 'POST', url: '/things', headers: { 'content-type': type }, payload: 'abc' })
        t.match(response, { statusCode: 415, headers: { accept: 'application/json' } }, `${name}: ${type}`)
      }
    }
  }
})

t.test('in a version, a route accepts only declared types, and a line names what is missing, once for each route and type', async (t) => {
  const { app, warnings } = recorded()
  publish(app, { belongsToApi: () => true })
  app.addContentTypeParser(['multipart/form-data', form], { parseAs: 'buffer' }, parse)
  await app.register(contentNegotiation)
  app.post('/uploads', echo)
  app.post('/declared', { config: { consumes: ['application/json'] } }, echo)
  for (const url of ['/uploads', '/declared', '/uploads']) {
    for (const type of ['multipart/form-data', form, 'text/csv', 'text/plain']) {
      const response = await app.inject({ method: 'POST', url, headers: { 'content-type': type }, payload: 'abc' })
      t.equal(response.statusCode, 415, `${url}: ${type}`)
    }
  }
  t.strictSame(
    warnings(),
    ['multipart/form-data', form].map(
      (type) =>
        `content-negotiation: POST /uploads: a body was refused with 415, although a parser for ${type} is registered, because the route accepts application/json. If it also accepts ${type}, add that to config.consumes.`
    )
  )
})

const png = Buffer.from('89504e47', 'hex')
let destroyed: string[] = []
const closing = (name: string) => new Readable({ read() {} }).once('close', () => destroyed.push(name))
const bodies: Readonly<Record<string, (reply: FastifyReply) => unknown>> = {
  '/buffer': (reply) => reply.type('image/png').header('etag', '"1"').header('content-disposition', 'inline').send(png),
  '/stream': (reply) => reply.type('image/png').header('content-length', '4').send(closing('stream')),
  '/web-stream': (reply) =>
    reply.type('image/png').send(new ReadableStream({ cancel: () => void destroyed.push('web stream') }, { highWaterMark: 0 })),
  '/text': (reply) => reply.type('text/csv; charset=utf-8').send('a,b'),
  '/json': async () => ({ a: 1 })
}

async function sending(options: RouteShorthandOptions = {}, before: (app: FastifyInstance) => void = () => {}) {
  const app = Fastify()
  before(app)
  await app.register(contentNegotiation)
  for (const [url, handler] of Object.entries(bodies)) app.get(url, options, async (_request, reply) => handler(reply))
  app.get('/no-content', async (_request, reply) => reply.code(204).send())
  app.get('/redirect', async (_request, reply) => reply.redirect('/json'))
  app.get('/failing', async (_request, reply) => reply.code(503).type('text/html').send('<p>later</p>'))
  let runs = 0
  app.post('/images', async (_request, reply) => reply.header('x-runs', ++runs).type('image/png').send(png))
  app.get('/runs', async () => runs)
  return { app }
}

t.test('without versions, the response of a GET route that declares no types decides whether the client accepts it [N2]', async (t) => {
  const { app } = await sending()
  const cases: [url: string, accept: string, status: number][] = [
    ['/buffer', 'image/png', 200],
    ['/buffer', 'image/*;q=0.5', 200],
    ['/buffer', 'image/gif', 406],
    ['/buffer', 'image/png;q=0, text/html', 406],
    ['/text', 'text/csv', 200],
    ['/text', 'text/html', 406],
    ['/json', 'application/json', 200],
    ['/json', 'image/png', 406],
    ['/no-content', 'image/png', 204],
    ['/redirect', 'image/png', 302],
    ['/failing', 'image/png', 503],
    ['/nothing', 'image/png', 404]
  ]
  for (const [url, accept, status] of cases) {
    for (const method of ['GET', 'HEAD'] as const) {
      const response = await app.inject({ method, url, headers: { accept } })
      t.equal(response.statusCode, status, `${method} ${url}: ${accept}`)
    }
  }
  const refused = await app.inject({ url: '/buffer', headers: { accept: 'image/gif' } })
  t.match(refused.json(), { code: 'NOT_ACCEPTABLE', message: /Available: image\/png\.$/ })
  t.match(refused.headers, { 'content-type': 'application/json; charset=utf-8', vary: 'accept' })
  t.strictSame([refused.headers.etag, refused.headers['content-disposition']], [undefined, undefined])
})

t.test('a stream that is refused is closed [N2]', async (t) => {
  const { app } = await sending()
  destroyed = []
  for (const url of ['/stream', '/web-stream']) t.equal((await app.inject({ url, headers: { accept: 'text/html' } })).statusCode, 406)
  t.strictSame(destroyed.toSorted(), ['stream', 'web stream'])
})

t.test('a method with effects is refused before the handler runs [N2]', async (t) => {
  const { app } = await sending()
  t.equal((await app.inject({ method: 'POST', url: '/images', headers: { accept: 'image/png' } })).statusCode, 406)
  t.equal((await app.inject('/runs')).body, '0')
})

t.test('content in the schema of a success declares the types of a route, as config.produces does [N1]', async (t) => {
  const csv = { content: { 'text/csv': { schema: { type: 'string' } } } }
  const responses: [object, string | undefined][] = [
    [{ 200: csv }, 'text/csv'],
    [{ '2xx': csv }, 'text/csv'],
    [{ 200: { content: { '*/*': { schema: {} } } } }, undefined],
    [{ 406: csv }, undefined],
    [{ 200: { type: 'object', properties: {} } }, undefined]
  ]
  for (const hasVersions of [true, false]) {
    for (const [response, accepted] of responses) {
      const app = Fastify()
      if (hasVersions) publish(app, { belongsToApi: () => true })
      await app.register(contentNegotiation)
      app.get('/things', { schema: { response } }, async (request, reply) => {
        if (request.acceptedMediaType === 'application/json') return {}
        return reply.type(request.acceptedMediaType).send('a,b')
      })
      for (const accept of ['text/csv', 'application/json']) {
        const { statusCode, headers } = await app.inject({ url: '/things', headers: { accept } })
        const expected = accept === 'application/json' || accept === accepted ? accept : undefined
        const name = `${JSON.stringify(response)} ${accept}`
        t.equal(statusCode, expected === undefined ? 406 : 200, name)
        if (expected !== undefined) t.match(headers['content-type'], new RegExp(`^${expected}`), name)
      }
    }
  }
})
