import transportSecurity, { type TransportSecurityOptions, transportSecurityServerOptions } from '@concordat/transport-security'
import Fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify'
import { pino } from 'pino'
import t from 'tap'
import { CapturedLog } from './captured-log.ts'
import { localHttp } from './local-http.ts'

const text = { type: 'string' }
const Login = {
  type: 'object',
  properties: { username: text, password: { type: 'string', format: 'password' }, pin: { type: 'integer', writeOnly: true } }
}
const body = { username: 'ada', password: 'CANARY-"1', pin: 987_654_321 }
const canaries = /CANARY|987654321/

type Author = (request: FastifyRequest, app: FastifyInstance) => void

async function service(
  log: CapturedLog,
  author: Author,
  schema: object = { body: Login },
  options: TransportSecurityOptions = {},
  server: FastifyServerOptions = {}
) {
  const app: FastifyInstance = Fastify({ ...transportSecurityServerOptions(), logger: { level: 'trace', stream: log.stream }, ...server })
  await app.register(transportSecurity, { ...localHttp, ...options })
  const { body: _, ...withoutBody } = schema as { body?: unknown }
  const handler = async (request: FastifyRequest) => {
    author(request, app)
    return {}
  }
  app.post('/', { schema }, handler)
  app.get('/', { schema: withoutBody }, handler)
  return app
}

const ways: Record<string, Author> = {
  'the body under a name': ({ log, body }) => log.info({ body }),
  'the body itself': ({ log, body }) => log.info(body as object, 'a login'),
  'a deeply nested copy of the body': ({ log, body }) => log.trace({ attempt: { by: [{ ...(body as object) }] } }, 'tried'),
  'the body in a message': ({ log, body }) => log.info('got %j', body as object),
  'the body in a string': ({ log, body }) => log.info(`got ${JSON.stringify({ body }, null, 1)}`),
  'a string with the body, under a name': ({ log, body }) => log.info({ raw: JSON.stringify(body) }),
  'the request under another name': (request) => request.log.info({ request }),
  'the body in an error': ({ log, body }) => log.error(new Error(`refused ${JSON.stringify(body)}`, { cause: JSON.stringify(body) })),
  'the body in the log of the server': ({ body }, app) => app.log.warn({ body }),
  'the body in a child log': ({ log, body }) => log.child({ part: 'login' }).info({ body }),
  'an object whose toJSON returns the body': ({ log, body }) => log.info({ login: { toJSON: () => ({ body }) } })
}

for (const [name, author] of Object.entries(ways)) {
  t.test(`hides fields that a schema marks: ${name} [S12]`, async (t) => {
    const log = new CapturedLog()
    const app = await service(log, (...words) => {
      log.text = ''
      author(...words)
    })
    t.equal((await app.inject({ method: 'POST', url: '/', body })).statusCode, 200)
    t.notMatch(log.text, canaries)
    t.match(log.text, /\[hidden\]/)
    t.match(log.text, /ada/, 'the rest is present')
  })
}

t.test('does not change the values for the handler', async (t) => {
  const seen: unknown[] = []
  const app = await service(new CapturedLog(), (request) => {
    request.log.info({ body: request.body })
    seen.push(JSON.parse(JSON.stringify(request.body)))
  })
  await app.inject({ method: 'POST', url: '/', body })
  t.strictSame(seen, [body])
})

t.test('hides headers and query parameters that a schema marks, also in the URL of the request [S12] [U7]', async (t) => {
  const log = new CapturedLog()
  const marked = { type: 'string', writeOnly: true }
  const schema = {
    headers: { type: 'object', properties: { 'X-Device-Secret': marked } },
    querystring: { type: 'object', properties: { invitation: marked, page: text, filter: text } }
  }
  const app = await service(log, ({ log, headers, query }) => log.info({ headers, query, page: 1 }, JSON.stringify(query)), schema)
  const url = '/?page=2&invitation=CANARY-2&filter[invitation]=CANARY-3&invitation[eq]=CANARY-4'
  await app.inject({ url, headers: { 'x-device-secret': 'CANARY-5', 'x-device': 'kept' } })
  await app.inject({ url: '/?%69nvitation=CANARY-6' })
  t.notMatch(log.text, canaries)
  t.match(log.saying('request completed'), [{ url: '/?page=2' }, { url: '/' }])
  t.match(log.text, /"x-device":"kept"/)
})

t.test('hides the secrets of responses [S12]', async (t) => {
  const log = new CapturedLog()
  const issued = { id: '1', codes: ['CANARY-1'], token: 'CANARY-2' }
  const secret = { type: 'string', 'x-secret': true }
  const response = { 200: { type: 'object', properties: { id: text, codes: { type: 'array', items: secret }, token: secret } } }
  const app = await service(log, ({ log }) => log.info({ issued }, JSON.stringify(issued)), { response })
  await app.inject({ method: 'POST', url: '/' })
  t.notMatch(log.text, canaries)
  t.match(log.text, /"id":"1"/)
})

t.test('hides credentials in headers, whatever the schemas are [S12]', async (t) => {
  const log = new CapturedLog()
  const app = await service(log, ({ log, headers }) => log.info(headers), {})
  const headers = { authorization: 'Bearer CANARY', cookie: 'sid=CANARY', 'x-api-key': 'CANARY', 'proxy-authorization': 'CANARY' }
  await app.inject({ url: '/', headers })
  t.notMatch(log.text, canaries)
  t.equal(log.text.match(/\[hidden\]/g)?.length, 4)
})

const schemas: Record<string, [schema: object, shared?: object[]]> = {
  'an e-mail address': [{ type: 'object', properties: { canary: { type: 'string', format: 'email' } } }],
  'in one of several alternatives': [
    {
      oneOf: [
        { type: 'object', properties: { other: text } },
        { type: 'object', properties: { canary: { type: 'string', writeOnly: true } } }
      ]
    }
  ],
  'in a list': [{ type: 'object', properties: { canary: { type: 'array', items: { type: 'string', writeOnly: true } } } }],
  'in a map': [{ type: 'object', properties: { canary: { type: 'object', additionalProperties: { type: 'string', writeOnly: true } } } }],
  'by a pattern': [
    { type: 'object', properties: { canary: { type: 'object', patternProperties: { '.': { type: 'string', writeOnly: true } } } } }
  ],
  'by one of several alternatives': [
    { properties: { canary: { anyOf: [{ type: 'string', format: 'password' }, { type: 'object' }, { type: 'array' }] } } }
  ],
  'by a local reference': [
    { type: 'object', properties: { canary: { $ref: '#/definitions/a~1b' } }, definitions: { 'a/b': { writeOnly: true } } }
  ],
  'by a reference with percent-encoding': [
    { type: 'object', properties: { canary: { $ref: '#/definitions/the%20pin' } }, definitions: { 'the pin': { writeOnly: true } } }
  ],
  'by a reference into a list': [
    { type: 'object', properties: { canary: { $ref: '#/properties/pin/anyOf/1' }, pin: { anyOf: [text, { writeOnly: true }] } } }
  ],
  'by a reference to a shared schema': [
    { type: 'object', properties: { canary: { $ref: 'secret#' } } },
    [{ $id: 'secret', writeOnly: true }]
  ],
  'by a reference into a shared schema, and a reference from there': [
    { properties: { canary: { $ref: 'all#/definitions/one' } } },
    [{ $id: 'all', definitions: { one: { $ref: '#/definitions/two' }, two: { writeOnly: true } } }]
  ],
  'through many references': [
    {
      properties: { canary: { $ref: '#/definitions/0' } },
      definitions: Object.fromEntries(
        Array.from({ length: 31 }, (_, at) => [at, at < 30 ? { $ref: `#/definitions/${at + 1}` } : { writeOnly: true }])
      )
    }
  ],
  'in a shared schema': [{ $ref: 'login#' }, [{ $id: 'login', type: 'object', properties: { canary: { writeOnly: true } } }]]
}

for (const [name, [schema, shared = []]] of Object.entries(schemas)) {
  t.test(`a schema hides a field: ${name} [S12]`, async (t) => {
    const log = new CapturedLog()
    const app: FastifyInstance = Fastify({ logger: { stream: log.stream } })
    await app.register(transportSecurity, localHttp)
    await app.register(async (child) => {
      for (const one of shared) child.addSchema(one)
      child.post('/', { schema: { body: schema } }, async ({ log, body }) => log.info({ body }))
    })
    for (const canary of ['CANARY@example.com', ['CANARY@example.com'], { a: 'CANARY@example.com' }])
      await app.inject({ method: 'POST', url: '/', body: { canary, other: 'kept' } })
    t.notMatch(log.text, canaries)
  })
}

t.test('broken and circular references and invalid schemas hide nothing and cause no error', async (t) => {
  const log = new CapturedLog()
  const circle: Record<string, unknown> = { type: 'object' }
  circle['properties'] = {
    self: circle,
    around: { $ref: '#/properties/around' },
    away: { $ref: 'nowhere#/a' },
    odd: true,
    none: { $ref: '#/no/such' }
  }
  const app: FastifyInstance = Fastify({ logger: { stream: log.stream } })
  await app.register(transportSecurity, localHttp)
  const compilers = { validatorCompiler: () => () => true, serializerCompiler: () => JSON.stringify }
  app.post('/', { schema: { body: circle }, ...compilers }, async ({ log, body }) => log.info({ body }))
  await app.inject({ method: 'POST', url: '/', body: { self: 'a', around: 'b', away: 'c', odd: 'd' } })
  t.match(log.text, '"body":{"self":"a","around":"b","away":"c","odd":"d"}')
})

t.test('options.hiddenFields hides fields that no schema marks', async (t) => {
  const log = new CapturedLog()
  const app = await service(
    log,
    ({ log }) => log.info({ customer: { IBAN: 'CANARY', iban: 'CANARY', name: 'kept' } }),
    {},
    { hiddenFields: ['IBAN', 'a.b'] }
  )
  await app.inject('/')
  t.notMatch(log.text, canaries)
  t.match(log.text, 'kept')
})

t.test('logs any value: circular, deep, large, with throwing getters, bytes, dates', async (t) => {
  const log = new CapturedLog()
  const circle: Record<string, unknown> = { name: 'round' }
  circle['self'] = circle
  let deep: object = { password: 'CANARY' }
  for (let level = 0; level < 40; level += 1) deep = { deep }
  const trap = {
    get sprung() {
      throw new Error('sprung')
    }
  }
  const app = await service(log, ({ log }) => {
    log.info({ circle }, 'circle')
    log.info({ deep }, 'deep')
    log.info({ many: Array.from({ length: 20_000 }, () => ({})), after: { password: 'CANARY' } }, 'many')
    log.info({ trap }, 'trap')
    log.info({ bytes: Buffer.from('b'), date: new Date(0), nothing: null, absent: undefined, number: 1 }, 'kinds')
  })
  t.equal((await app.inject('/')).statusCode, 200)
  t.notMatch(log.text, canaries)
  t.match(log.saying('circle'), [{ circle: { name: 'round' } }])
  t.match(log.saying('trap'), [{ unloggable: '[cannot be shown]' }])
  t.match(log.saying('kinds'), [{ bytes: { type: 'Buffer', data: [98] }, date: '1970-01-01T00:00:00.000Z', nothing: null, number: 1 }])
})

t.test('the service’s own formatter runs first; if it throws, the line has no members', async (t) => {
  for (const [formatter, shown] of [
    [(line: object) => ({ ...line, password: 'CANARY' }), { password: '[hidden]' }],
    [
      () => {
        throw new Error('broken')
      },
      { unloggable: '[cannot be shown]' }
    ]
  ] as const) {
    const log = new CapturedLog()
    const own = pino({ level: 'info', formatters: { log: formatter } }, log.stream)
    const app = await service(log, ({ log }) => log.info({ some: 'thing' }, 'own'), undefined, {}, {
      logger: undefined,
      loggerInstance: own
    } as unknown as FastifyServerOptions)
    await app.inject('/')
    t.match(log.saying('own'), [shown])
  }
})

t.test('hides a value in truncated JSON', async (t) => {
  const log = new CapturedLog()
  const app = await service(log, ({ log }) => {
    for (const cut of [
      '{"password":"CANARY',
      '{"password" : ["CANARY',
      '{"password":{"a":"CANARY',
      '{"password":CANARY',
      '{"password":["CANARY"],"b":1}'
    ])
      log.info(cut)
  })
  await app.inject('/')
  t.notMatch(log.text, canaries)
})
