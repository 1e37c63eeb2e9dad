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
