import standardSchema, { type StandardSchemaTypeProvider, withJsonSchema } from '@concordat/standard-schema'
import { toJsonSchema } from '@valibot/to-json-schema'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { z } from 'zod'

const Moment = z.codec(z.iso.datetime(), z.date(), { decode: (text) => new Date(text), encode: (date) => date.toISOString() })

async function serve(t: Test) {
  const app = Fastify().withTypeProvider<StandardSchemaTypeProvider>()
  t.teardown(() => app.close())
  await app.register(standardSchema)
  return app
}

const send = (app: Pick<FastifyInstance, 'inject'>, payload: object | string, headers = {}) =>
  app.inject({ method: 'POST', url: '/', payload, headers })

/** A schema whose validation fails in a way of its own. */
const broken = (validate: () => Promise<{ value: unknown }>) => {
  const jsonSchema = { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) }
  return { '~standard': { version: 1, vendor: 'mine', validate, jsonSchema } } as const
}

t.test('handlers and hooks receive the output of the schemas of all parts of the request', async (t) => {
  const app = await serve(t)
  const seen: unknown[] = []
  app.addHook('preHandler', async ({ body }) => void seen.push(body))
  app.post(
    '/:count',
    {
      schema: {
        params: z.object({ count: z.coerce.number().transform((count) => count + 1) }),
        querystring: z.object({ tags: z.string().transform((text) => text.split(',')) }),
        headers: z.looseObject({ 'x-flag': z.stringbool() }),
        body: z.object({ at: Moment, note: z.string().default('none') })
      }
    },
    async ({ params, query, headers, body }) => [params.count, query.tags, headers['x-flag'], body.at.getTime(), body.note]
  )
  const response = await app.inject({
    method: 'POST',
    url: '/1?tags=a,b',
    headers: { 'x-flag': 'yes' },
    payload: { at: '1970-01-01T00:00:01Z' }
  })
  t.strictSame(response.json(), [2, ['a', 'b'], true, 1000, 'none'])
  t.strictSame(seen, [{ at: new Date(1000), note: 'none' }])
})

t.test('a refinement is answered like any other invalid value, with the place of its issue', async (t) => {
  const app = await serve(t)
  const odd = z.object({ 'a/b': z.array(z.int().refine((n) => n % 2 === 1, { error: 'must be odd' })) })
  app.post('/', { schema: { body: odd } }, async () => 'ok')
  t.equal((await send(app, { 'a/b': [1, 3] })).body, 'ok')
  t.match((await send(app, { 'a/b': [1, 2] })).json(), {
    statusCode: 400,
    code: 'FST_ERR_VALIDATION',
    message: 'body/a~1b/1 must be odd'
  })
})

t.test('refinements may be asynchronous, in every part', async (t) => {
  const app = await serve(t)
  const known = z.string().refine(async (name) => name === 'ada', { error: 'is not known' })
  const schema = { querystring: z.object({ by: known }), body: z.object({ name: known }) }
  app.post('/', { schema }, async ({ body }) => body.name)
  const status = async (by: string, name: string) => (await app.inject({ method: 'POST', url: `/?by=${by}`, payload: { name } })).statusCode
  t.strictSame([await status('ada', 'ada'), await status('eve', 'ada'), await status('ada', 'eve')], [200, 400, 400])
})

t.test('a schema that throws or rejects is an error of the service', async (t) => {
  const app = await serve(t)
  const throwing = broken(() => {
    throw new Error('broken')
  })
  const rejecting = broken(async () => Promise.reject(new Error('broken')))
  app.post('/throws', { schema: { body: throwing } }, async () => 'ok')
  app.post('/rejects', { schema: { body: rejecting } }, async () => 'ok')
  app.post('/returns', { schema: { response: { 200: rejecting } } }, async () => ({}))
  app.post('/returns-and-throws', { schema: { response: { 200: throwing } } }, async () => ({}))
  for (const url of ['/throws', '/rejects', '/returns', '/returns-and-throws']) {
    t.match((await app.inject({ method: 'POST', url, payload: {} })).json(), { statusCode: 500, message: 'broken' }, url)
  }
})

t.test('with attachValidation, the handler finds the error of the first invalid part', async (t) => {
  const app = await serve(t)
  const even = z.int().refine((n) => n % 2 === 0, { error: 'must be even' })
  app.post('/', { attachValidation: true, schema: { body: z.object({ n: even }) } }, async ({ validationError }) => ({
    context: validationError?.validationContext,
    entries: validationError?.validation
  }))
  t.strictSame((await send(app, { n: 2 })).json(), {})
  t.match((await send(app, { n: 1 })).json(), { context: 'body', entries: [{ instancePath: '/n', message: 'must be even' }] })
  t.match((await send(app, { n: 'x' })).json(), { context: 'body', entries: [{ keyword: 'type' }] }, 'JSON Schema comes first')
})

t.test('a body may have a schema for each media type', async (t) => {
  const app = await serve(t)
  app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  const content = {
    'application/json': { schema: z.object({ n: z.int().transform((n) => n + 1) }) },
    'text/plain': { schema: z.string().transform((text) => text.toUpperCase()) },
    'application/xml': { schema: { type: 'string' } }
  }
  app.post('/', { schema: { body: { content } } }, async ({ body }) => ({ body }))
  t.strictSame((await send(app, { n: 1 })).json(), { body: { n: 2 } })
  t.strictSame((await send(app, 'hello', { 'content-type': 'Text/Plain; charset=utf-8' })).json(), { body: 'HELLO' })
})

t.test('the value of a handler is validated and transformed, by the schema of its status', async (t) => {
  const app = await serve(t)
  const Price = z.object({ cents: z.string().transform(Number).pipe(z.int()) })
  const response = {
    200: Price,
    '2XX': withJsonSchema(
      v.pipe(
        v.object({ at: v.date() }),
        v.transform(({ at }) => ({ year: at.getFullYear() }))
      ),
      () => ({ type: 'object', properties: { year: { type: 'integer' } } })
    ),
    default: z.object({
      problem: z
        .string()
        .transform(async (text) => `${text}!`)
        .pipe(z.string())
    })
  }
  app.get('/:status', { schema: { response } }, async (request, reply) => {
    const status = Number((request.params as { status: string }).status)
    reply.code(status)
    const values: Readonly<Record<number, object>> = {
      200: { cents: '12', secret: 'x' },
      202: { at: new Date(0) },
      404: { problem: 'lost' }
    }
    return values[status] as never
  })
  const bodyOf = async (status: number) => (await app.inject(`/${status}`)).json()
  t.strictSame([await bodyOf(200), await bodyOf(202), await bodyOf(404)], [{ cents: 12 }, { year: 1970 }, { problem: 'lost!' }])
})

t.test('a value that does not match the response schema is an error of the service, whose message has no value', async (t) => {
  const app = await serve(t)
  const messages: string[] = []
  app.addHook('onError', async (_request, _reply, { message }) => void messages.push(message))
  const Secret = z.object({ key: z.string().max(3), list: z.array(z.object({ n: z.int() })) })
  const whole = withJsonSchema(
    v.pipe(
      v.object({}),
      v.check(() => false)
    ),
    (typeMode) => toJsonSchema(v.object({}), { typeMode })
  )
  app.get('/zod', { schema: { response: { 200: Secret } } }, async () => ({ key: 'hunter2', list: [{ n: 'many' as never }] }))
  app.get('/valibot', { schema: { response: { 200: whole } } }, async () => ({}))
  for (const url of ['/zod', '/valibot']) t.equal((await app.inject(url)).statusCode, 500)
  t.strictSame(messages, [
    'standard-schema: GET /zod returned a value that does not match schema.response: key (too_big); list.0.n (expected number). Return what the schema accepts.',
    'standard-schema: GET /valibot returned a value that does not match schema.response: the whole value. Return what the schema accepts.'
  ])
})

t.test('a response may have a schema for each media type, and statuses without a schema are sent as they are', async (t) => {
  const app = await serve(t)
  const content = {
    'application/json': {
      schema: z.object({
        n: z
          .int()
          .transform((n) => n + 1)
          .pipe(z.int())
      })
    }
  }
  app.get('/:type', { schema: { response: { 200: { content }, 204: { type: 'null' } } } }, async (request, reply) => {
    const { type } = request.params as { type: string }
    if (type === 'json') return { n: 1 }
    return type === 'text' ? reply.type('text/csv').send('n\n1') : (reply as FastifyReply).code(203).send({ n: 1 })
  })
  t.strictSame((await app.inject('/json')).json(), { n: 2 })
  t.equal((await app.inject('/text')).body, 'n\n1')
  t.strictSame((await app.inject('/other')).json(), { n: 1 })
})

t.test('the same schemas can serve several routes, and HEAD is answered as GET', async (t) => {
  const app = await serve(t)
  const schema = {
    response: {
      200: z.object({
        n: z
          .int()
          .transform((n) => n + 1)
          .pipe(z.int())
      })
    }
  }
  app.get('/a', { schema }, async () => ({ n: 1 }))
  app.get('/b', { schema }, async () => ({ n: 2 }))
  t.strictSame([(await app.inject('/a')).json(), (await app.inject('/b')).json()], [{ n: 2 }, { n: 3 }])
  t.equal((await app.inject({ method: 'HEAD', url: '/a' })).headers['content-length'], '7')
})

const numberOr = (fallback: number) => z.string().transform(Number).pipe(z.number().catch(fallback))

t.test('transforms at the start of the query, path and headers receive the text', async (t) => {
  const app = await serve(t)
  const page = withJsonSchema(v.object({ page: v.fallback(v.pipe(v.string(), v.transform(Number), v.number()), 1) }), () => ({
    type: 'object',
    properties: { page: { type: 'string' } }
  }))
  const schema = {
    params: z.object({ id: z.string().transform((text) => text.split('-')) }),
    querystring: z.object({
      list: z
        .string()
        .transform((text) => text.split(','))
        .pipe(z.array(z.string())),
      limit: numberOr(7)
    }),
    headers: z.looseObject({ 'x-depth': z.unknown().transform((text) => typeof text) })
  }
  app.get('/:id', { schema }, async ({ params, query, headers }) => [params.id, query.list, query.limit, headers['x-depth']])
  app.get('/', { schema: { querystring: page } }, async ({ query }) => query)
  const response = async (url: string) => (await app.inject({ url, headers: { 'x-depth': '3' } })).json()
  t.strictSame(await response('/a-1?list=a,b&limit=3'), [['a', '1'], ['a', 'b'], 3, 'string'])
  t.strictSame(await response('/7?list=9&limit=many'), [['7'], ['9'], 7, 'string'])
  t.strictSame([await response('/?page=2'), await response('/?page=x')], [{ page: 2 }, { page: 1 }])
})

t.test('the library adds its defaults itself: a function for each request, also after a transform and in unions', async (t) => {
  const app = await serve(t)
  const body = z.object({
    token: z.string().default(() => crypto.randomUUID()),
    tags: z
      .string()
      .transform((text) => text.split(','))
      .default(['none']),
    label: z
      .string()
      .prefault(' x ')
      .transform((text) => text.trim()),
    size: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('fixed'), n: z.int().default(3) }),
      z.object({ kind: z.literal('free') })
    ])
  })
  app.post('/', { schema: { body, querystring: z.object({ page: z.int().default(1) }) } }, async (request) => ({
    ...request.body,
    ...request.query
  }))
  const first = (await send(app, { size: { kind: 'fixed' } })).json()
  const second = (await send(app, { size: { kind: 'free' }, tags: 'a,b' })).json()
  t.match(
    [first, second],
    [
      { tags: ['none'], label: 'x', size: { kind: 'fixed', n: 3 }, page: 1 },
      { tags: ['a', 'b'], label: 'x', size: { kind: 'free' }, page: 1 }
    ]
  )
  t.not(first.token, second.token)
})

t.test('the body of a PATCH gets no defaults, whatever the schema does with its members [M5]', async (t) => {
  const app = await serve(t)
  const Node: z.ZodType = z.lazy(() => z.object({ name: z.string().default('x'), next: Node.optional() }))
  class Place {
    readonly city: string
    constructor(city: string) {
      this.city = city
    }
  }
  const body = z.object({
    status: z.enum(['active', 'archived']).default('active'),
    caught: z.string().catch('caught'),
    token: z.string().default(() => crypto.randomUUID()),
    address: z.object({ city: z.string(), country: z.string().default('DE') }).optional(),
    items: z.array(z.object({ sku: z.string(), quantity: z.int().default(1) })).prefault([{ sku: 'free' }]),
    pair: z.tuple([z.object({ a: z.string().default('a') }), z.object({ b: z.string().default('b') })]).optional(),
    map: z.record(z.string(), z.object({ on: z.boolean().default(true) })).optional(),
    sides: z
      .partialRecord(z.enum(['left', 'right']), z.int())
      .transform((sides) => ({ left: 0, right: 0, ...sides }))
      .optional(),
    loose: z
      .looseObject({ size: z.int().default(1) })
      .transform((all) => ({ ...all, count: 1 }))
      .optional(),
    either: z.union([z.object({ kind: z.literal('a'), n: z.int().default(1) }), z.object({ kind: z.literal('b') })]).optional(),
    node: Node.optional(),
    at: Moment.optional(),
    place: z
      .object({ city: z.string(), zip: z.string().default('0') })
      .transform(({ city }) => new Place(city))
      .optional(),
    odd: z
      .array(z.object({ n: z.int(), note: z.string().default('-') }))
      .transform((all) => all.filter(({ n }) => n % 2 === 1))
      .optional()
  })
  const renamed = body.transform(({ status, ...rest }) => ({ ...rest, status, isActive: status === 'active' }))
  app.patch('/', { schema: { body } }, async (request) => request.body)
  app.patch('/async', { schema: { body: body.refine(async () => true) } }, async (request) => request.body)
  app.patch('/renamed', { schema: { body: renamed } }, async (request) => request.body)
  app.route({
    method: ['PUT', 'PATCH'],
    url: '/several',
    schema: { body: z.object({ n: z.int().default(1) }) },
    handler: async (request) => request.body
  })
  app.patch(
    '/types',
    { schema: { body: { content: { 'application/json': { schema: body.partial() } } } } },
    async (request) => request.body
  )
  const patch = async (payload: object, url = '/') => (await app.inject({ method: 'PATCH', url, payload })).json()
  for (const payload of [
    {},
    { status: 'archived', caught: 'x' },
    { address: { city: 'Bonn' }, items: [{ sku: 'a' }, { sku: 'b', quantity: 2 }] },
    { pair: [{}, {}], map: { one: {} }, sides: { left: 1 }, either: { kind: 'a' }, node: { next: { next: { name: 'y' } } } },
    { at: '1970-01-01T00:00:01.000Z', place: { city: 'Bonn' } }
  ]) {
    for (const url of ['/', '/async', '/types']) t.strictSame(await patch(payload, url), payload, url)
  }
  t.strictSame(await patch({ address: { city: 'Bonn' } }, '/renamed'), { address: { city: 'Bonn' }, isActive: true })
  t.strictSame(await patch({ loose: { any: 1 } }), { loose: { any: 1, count: 1 } })
  t.strictSame(await patch({ odd: [{ n: 1, note: 'x' }, { n: 2 }, { n: 3 }] }), {
    odd: [
      { n: 1, note: 'x' },
      { n: 3, note: '-' }
    ]
  })
  t.strictSame([await patch({}, '/several'), (await app.inject({ method: 'PUT', url: '/several', payload: {} })).json()], [{}, { n: 1 }])
})

t.test('members of a response that are null are left out where the schema does not allow null [F3]', async (t) => {
  const app = await serve(t)
  const Row = z.object({
    id: z.int(),
    note: z.string().optional(),
    size: z.union([z.string(), z.int()]).optional(),
    seen: z.string().nullable(),
    home: z.object({ city: z.string().optional() }).optional()
  })
  const Either = z.union([z.object({ child: z.object({ a: z.string().optional() }) }), z.object({ b: z.string() })])
  const valibotRow = v.object({
    note: v.optional(v.string()),
    child: v.optional(v.union([v.object({ a: v.optional(v.string()) }), v.string()]))
  })
  const rows = [
    { id: 1, note: null, size: null, seen: null, home: { city: null } },
    { id: 2, note: 'x', seen: 'y', home: null }
  ]
  const values: Readonly<Record<string, readonly [schema: object, value: unknown]>> = {
    '/rows': [z.array(Row), rows],
    '/async': [z.array(Row.refine(async () => true)), rows],
    '/either': [z.object({ child: Either, a: z.null() }), { child: { child: { a: null } }, a: null }],
    '/valibot': [withJsonSchema(valibotRow, (typeMode) => toJsonSchema(valibotRow, { typeMode })), { note: null, child: { a: null } }],
    '/required': [Row, { id: null, seen: null }],
    '/items': [z.array(z.string()), [null]]
  }
  for (const [url, [schema, value]] of Object.entries(values))
    app.get(url, { schema: { response: { 200: schema } } }, async () => value as never)
  const bodyOf = async (url: string) => (await app.inject(url)).json()
  const reduced = [
    { id: 1, seen: null, home: {} },
    { id: 2, note: 'x', seen: 'y' }
  ]
  t.strictSame([await bodyOf('/rows'), await bodyOf('/async')], [reduced, reduced])
  t.strictSame([await bodyOf('/either'), await bodyOf('/valibot')], [{ child: { child: {} }, a: null }, { child: {} }])
  t.equal(rows[0]?.note, null, 'the value of the handler is not changed')
  t.match(await bodyOf('/required'), { statusCode: 500, message: /schema\.response: id \(expected/ })
  t.match(await bodyOf('/items'), { statusCode: 500, message: /schema\.response: 0 \(expected string\)/ })
})
