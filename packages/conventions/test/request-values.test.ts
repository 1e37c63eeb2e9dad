import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import conventions, { serverOptions } from '@concordat/conventions'
import { collection } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import formbody from '@fastify/formbody'
import { Type } from '@sinclair/typebox'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { z } from 'zod'

async function start(t: Test, routes: (v1: FastifyInstance) => Promise<void>, outside: (app: FastifyInstance) => void = () => undefined) {
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: {} },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false
  })
  outside(app)
  await app.apiVersion(1, routes)
  await app.listen({ host: '127.0.0.1', port: 0 })
  return app
}

/** Sends a request exactly as it is, and returns the status, the error code and the fields of the response, or its resource. */
async function send(app: FastifyInstance, line: string, { headers = [], body = '' }: { headers?: readonly string[]; body?: string } = {}) {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  const length =
    body === '' || headers.some((line) => line.startsWith('Transfer-Encoding')) ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const lines = [`${line} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close', ...length, ...headers]
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  await once(socket, 'close')
  const [head = '', text = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
  const { error, data } = text === '' ? {} : JSON.parse(text)
  if (error === undefined) return data ?? Number(head.split(' ')[1])
  return [error.status, error.code, ...(error.errors ?? []).map(({ field }: { field: string }) => field)]
}

const json = ['Content-Type: application/json']
const Pet = {
  type: 'object',
  required: ['id', 'name'],
  properties: { id: { type: 'string' }, name: { type: 'string', maxLength: 40 }, age: { type: 'integer' } }
}

t.test('values that cannot be stored never reach a handler, with a collection, a schema or neither [Q11]', async (t) => {
  const pets = collection(Pet)({
    name: 'pets',
    style: 'page',
    id: 'id',
    defaultSort: ['name'],
    sort: { keys: ['name'] },
    filter: { name: ['eq', 'in', 'prefix'], age: ['eq', 'gt'] }
  })
  const reached: unknown[] = []
  const config = { idempotency: 'off' } as const
  const app = await start(
    t,
    async (v1) => {
      await v1.register(formbody)
      v1.addHook('preHandler', async ({ url }) => void reached.push(url))
      v1.get(
        '/pets',
        { config: { collection: pets }, schema: { response: { 200: { type: 'array', items: Pet } } } },
        async (request, reply) => reply.page(runArray([], request.listQuery(pets)))
      )
      v1.get('/pets/:id', { config: { projection: { id: 'id' } }, schema: { response: { 200: Pet } } }, async () => ({
        id: '1',
        name: 'a'
      }))
      v1.post('/pets', { config, schema: { body: Pet, response: { 201: Pet } } }, async (_request, reply) =>
        reply.created('/pets/1', { id: '1', name: 'a' })
      )
      v1.post(
        '/forms',
        { config: { ...config, consumes: ['application/x-www-form-urlencoded'] }, schema: { response: { 201: Pet } } },
        async () => ({})
      )
    },
    (root) => {
      root.addHook('preHandler', async ({ url }) => void reached.push(url))
      root.post('/hooks/:id', async () => ({}))
      root.get('/pages', async () => ({}))
    }
  )
  const form = ['Content-Type: application/x-www-form-urlencoded']
  for (const [line, sent, ...expected] of [
    ['GET /v1/pets/a%00b', {}, 404, 'RESOURCE_NOT_FOUND'],
    ['POST /hooks/%00', { headers: json, body: '{}' }, 404, 'RESOURCE_NOT_FOUND'],
    ['GET /v1/pets?name=a%00', {}, 422, 'INVALID_QUERY_PARAMETERS', 'query.name'],
    ['GET /v1/pets?name[in]=a,%00', {}, 422, 'INVALID_QUERY_PARAMETERS', 'query.name[in]'],
    ['GET /v1/pets?age=%00', {}, 422, 'INVALID_QUERY_PARAMETERS', 'query.age'],
    ['GET /v1/pets?sort=%00&fields=%00', {}, 422, 'INVALID_QUERY_PARAMETERS', 'query.fields', 'query.sort'],
    ['GET /v1/pets/1?fields=%00', {}, 422, 'INVALID_QUERY_PARAMETERS', 'query.fields'],
    ['GET /pages?q=%00', {}, 422, 'VALIDATION_FAILED', 'query.q'],
    ['GET /v1/pets?name=%FF', {}, 400, 'MALFORMED_URI'],
    ['GET /v1/pets/1?fields=%ED%A0%80', {}, 400, 'MALFORMED_URI'],
    ['GET /pages?q=%', {}, 400, 'MALFORMED_URI'],
    ['GET /v1/pets?age=Infinity', {}, 422, 'INVALID_QUERY_PARAMETERS', 'query.age'],
    ['GET /v1/pets?age[gt]=07', {}, 422, 'INVALID_QUERY_PARAMETERS', 'query.age[gt]'],
    [
      'POST /v1/pets',
      { headers: json, body: String.raw`{"id":"\u0000","name":"\udfff"}` },
      422,
      'VALIDATION_FAILED',
      'body.id',
      'body.name'
    ],
    ['POST /v1/pets', { headers: json, body: '{"id":"1","name":"a","age":9007199254740993}' }, 422, 'VALIDATION_FAILED', 'body.age'],
    ['POST /v1/pets', { headers: json, body: '{"id":"1","name":"a","age":-1e999}' }, 422, 'VALIDATION_FAILED', 'body.age'],
    ['POST /hooks/1', { headers: json, body: String.raw`[{"deep":"\ud800"}]` }, 422, 'VALIDATION_FAILED', 'body.0.deep'],
    ['POST /v1/forms', { headers: form, body: 'a=1&b=%00' }, 422, 'VALIDATION_FAILED', 'body.b']
  ] as const)
    t.strictSame(await send(app, line, sent), expected, `${line} ${JSON.stringify(sent)}`)
  t.strictSame(reached, [])
})

t.test('reads numbers in a query by the grammar of JSON with every schema library', async (t) => {
  const integers: Readonly<Record<string, object>> = {
    schemas: { type: 'object', properties: { n: { type: 'integer' } } },
    typeboxes: Type.Object({ n: Type.Optional(Type.Integer()) }),
    zods: z.object({ n: z.int().optional() }),
    'coerced-zods': z.object({ n: z.coerce.number().int().optional() }),
    valibots: toStandardJsonSchema(v.object({ n: v.optional(v.pipe(v.number(), v.integer())) })),
    arktypes: type({ 'n?': 'number.integer' })
  }
  const app = await start(t, async (v1) => {
    const response = { 200: { type: 'object', properties: { n: { type: 'number' } } } }
    for (const [name, querystring] of Object.entries(integers))
      v1.get(`/${name}`, { schema: { querystring, response } }, async ({ query }) => query)
  })
  for (const name of Object.keys(integers)) {
    for (const text of ['0', '-12', '9007199254740991'])
      t.strictSame(await send(app, `GET /v1/${name}?n=${text}`), { n: Number(text) }, name)
    for (const text of ['Infinity', '-Infinity', '1e999', '0x10', '%2010', '1e3', '007', '1.0', '9007199254740993', 'NaN', ''])
      t.strictSame(await send(app, `GET /v1/${name}?n=${text}`), [422, 'VALIDATION_FAILED', 'query.n'], `${name} ${text}`)
  }
})

t.test('no media type escapes the schemas of a route, in a version and outside [N3] [N5]', async (t) => {
  const bodies: unknown[] = []
  const config = { idempotency: 'off' } as const
  const Name = z.object({ name: z.string().refine((name) => name !== 'evil') })
  const content = { 'application/json': { schema: Name }, 'application/vnd.pet+json': { schema: Pet } }
  const response = { 201: Type.Object({ read: Type.String() }) }
  const created = async ({ body }: { body: unknown }) => bodies.push(body) && { read: Buffer.isBuffer(body) ? 'bytes' : 'object' }
  const app = await start(
    t,
    async (v1) => {
      v1.post('/maps', { config, schema: { body: { content }, response } }, async (request, reply) =>
        reply.created('/maps/1', await created(request))
      )
      v1.post(
        '/portraits',
        { config: { ...config, consumes: ['application/json', 'application/x+json', 'image/png'] }, schema: { body: Name, response } },
        async (request, reply) => reply.created('/portraits/1', await created(request))
      )
    },
    (root) =>
      void root.post('/raw', { schema: { body: { content: { 'application/json': { schema: Pet } } } } }, async ({ body }) =>
        bodies.push(body)
      )
  )
  const valid = '{"name":"Ada"}'
  for (const [path, mediaType, body, ...expected] of [
    ['/v1/maps', 'application/json', '{"name":"evil"}', 422, 'VALIDATION_FAILED', 'body.name'],
    ['/v1/maps', 'application/json\t; charset=utf-8', '{"name":"evil"}', 422, 'VALIDATION_FAILED', 'body.name'],
    ['/v1/maps', 'application/vnd.pet+json', valid, 422, 'VALIDATION_FAILED', 'body.id'],
    ['/v1/maps', 'application/vnd.other+json', valid, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['/v1/maps', 'application/merge-patch+json', valid, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['/v1/maps', 'text/plain', valid, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['/v1/portraits', 'application/x+json', '{"name":"evil"}', 422, 'VALIDATION_FAILED', 'body.name'],
    ['/v1/portraits', 'image/gif', valid, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['/raw', 'application/json', valid, 422, 'VALIDATION_FAILED', 'body.id'],
    ['/raw', 'application/vnd.a+json', valid, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['/raw', 'application/merge-patch+json', valid, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['/raw', 'text/plain', valid, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['/raw', 'image/png', valid, 415, 'UNSUPPORTED_MEDIA_TYPE']
  ] as const)
    t.strictSame(await send(app, `POST ${path}`, { headers: [`Content-Type: ${mediaType}`], body }), expected, `${path} ${mediaType}`)
  t.strictSame(bodies, [])
  t.strictSame(await send(app, 'POST /v1/maps', { headers: json, body: valid }), { read: 'object' })
  t.strictSame(await send(app, 'POST /v1/portraits', { headers: json, body: valid }), { read: 'object' })
  t.strictSame(await send(app, 'POST /v1/portraits', { headers: ['Content-Type: image/png'], body: '\u0000PNG' }), { read: 'bytes' })
  const document = JSON.parse((await app.inject('/v1/openapi')).body)
  t.strictSame(Object.keys(document.paths['/v1/portraits'].post.requestBody.content), [
    'application/json',
    'application/x+json',
    'image/png'
  ])
})

t.test('accepts a JSON media type without a body where the route declares none', async (t) => {
  const app = await start(t, async (v1) => {
    const config = { idempotency: 'off' } as const
    v1.delete('/pets/:id', { schema: { response: { 204: { type: 'null' } } } }, async (_request, reply) => reply.noContent())
    v1.post('/pets/:id/resets', { config, schema: { response: { 201: Pet } } }, async (_request, reply) =>
      reply.created('/pets/1', { id: '1', name: 'a' })
    )
    v1.patch('/pets/:id', { config, schema: { body: { ...Pet, required: [] }, response: { 200: Pet } } }, async () => ({
      id: '1',
      name: 'a'
    }))
  })
  for (const framing of [[], ['Content-Length: 0'], ['Transfer-Encoding: chunked']]) {
    const sent = { headers: [...json, ...framing], body: framing.length > 0 && framing[0] !== 'Content-Length: 0' ? '0\r\n\r\n' : '' }
    t.equal(await send(app, 'DELETE /v1/pets/1', sent), 204)
    t.match(await send(app, 'POST /v1/pets/1/resets', sent), { id: '1' })
    t.strictSame(await send(app, 'PATCH /v1/pets/1', sent), [400, 'EMPTY_BODY'])
  }
})

t.test('a response never has null, or other digits, in place of a number', async (t) => {
  const Rate = {
    type: 'object',
    required: ['id', 'rate'],
    properties: { id: { type: 'string' }, rate: { type: 'number' }, count: { type: 'integer' } }
  }
  const app = await start(t, async (v1) => {
    v1.get('/rates/:id', { schema: { response: { 200: Rate } } }, async ({ params }) => ({
      id: '1',
      rate: Number((params as { id: string }).id),
      count: '12'
    }))
    v1.get('/counts/:id', { schema: { response: { 200: Rate } } }, async ({ params }) => ({
      id: '1',
      rate: 1,
      count: (params as { id: string }).id
    }))
  })
  t.strictSame(await send(app, 'GET /v1/rates/1.5'), { id: '1', rate: 1.5, count: 12 })
  for (const id of ['Infinity', '-Infinity', 'NaN', '1e999'])
    t.strictSame(await send(app, `GET /v1/rates/${id}`), [500, 'INTERNAL_ERROR'], id)
  t.match(await send(app, 'GET /v1/counts/9007199254740991'), { count: Number.MAX_SAFE_INTEGER })
  t.strictSame(await send(app, 'GET /v1/counts/9007199254740993'), [500, 'INTERNAL_ERROR'])
})
