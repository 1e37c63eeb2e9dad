import { Readable } from 'node:stream'
import envelope from '@concordat/envelope'
import { contractOf } from '@concordat/plugin-kit/wiring'
import { movedDate } from '@concordat/test-harness/moved-date'
import { turns } from '@concordat/test-harness/until'
import Fastify, { type RouteHandlerMethod } from 'fastify'
import t from 'tap'

const Thing = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }

async function responseOf(handler: RouteHandlerMethod, response: Record<string, unknown> = { 200: Thing }, config: object = {}) {
  const app = Fastify()
  await app.register(envelope, { publicUrl: 'https://api.example.com' })
  app.post('/things', { config, schema: { response } }, handler)
  return app.inject({ method: 'POST', url: '/things' })
}

t.test('created responds with 201 and Location, and the self link is the new resource [M2]', async (t) => {
  const received = await responseOf(async (_request, reply) => reply.created('/things/9', { id: '9' }), { 201: Thing })
  t.equal(received.statusCode, 201)
  t.equal(received.headers.location, 'https://api.example.com/things/9')
  t.strictSame(received.json().data, { id: '9' })
  t.strictSame(received.json()._links, [{ rel: 'self', href: 'https://api.example.com/things/9', method: 'GET' }])
})

t.test('noContent responds with 204 and no body', async (t) => {
  const received = await responseOf(async (_request, reply) => reply.noContent(), { 204: { type: 'null' } })
  t.strictSame([received.statusCode, received.body, received.headers['content-type']], [204, '', undefined])
})

t.test('205 has no envelope, and 206 without a declared media type is refused', async (t) => {
  const reset = await responseOf((_request, reply) => reply.code(205).send())
  t.strictSame([reset.statusCode, reset.body], [205, ''])
  t.equal((await responseOf((_request, reply) => reply.code(206).send('half'))).statusCode, 500)
})

t.test('a redirect has no envelope', async (t) => {
  const received = await responseOf((_request, reply) => reply.code(303).header('location', '/elsewhere').send())
  t.strictSame([received.statusCode, received.body], [303, ''])
})

t.test('never sends a field that the schema does not declare [F9]', async (t) => {
  const received = await responseOf(async () => ({ id: '1', passwordHash: 'secret' }))
  t.strictSame(received.json().data, { id: '1' })
})

for (const [name, handler] of Object.entries<RouteHandlerMethod>({
  'a string': async () => 'secret',
  nothing: async () => undefined,
  null: async () => null,
  'a Buffer': async () => Buffer.from('secret'),
  'a Response': async () => new Response('secret'),
  'a stream': async () => Readable.from(['secret']),
  'a stream that has failed': async () => Readable.from(['secret']).destroy(new Error('secret'))
})) {
  t.test(`responds with 500 to ${name}, without details`, async (t) => {
    const received = await responseOf(handler)
    t.equal(received.statusCode, 500)
    t.notMatch(received.body, /secret/)
    t.match(received.json(), { code: 'INTERNAL_ERROR' })
  })
}

t.test('a range of statuses may share a schema', async (t) => {
  const received = await responseOf(async (_request, reply) => reply.code(202).send({ id: '1' }), { '2xx': Thing })
  t.strictSame([received.statusCode, received.json().data], [202, { id: '1' }])
})

t.test('sends other declared media types unchanged, and puts JSON next to them in the envelope', async (t) => {
  const response = {
    200: { content: { 'application/json': { schema: Thing }, 'text/csv': { schema: { type: 'string' } } } }
  }
  const csv = await responseOf(async (_request, reply) => reply.type('text/csv').send('id\r\n1\r\n'), response)
  t.strictSame([csv.statusCode, csv.body], [200, 'id\r\n1\r\n'])
  const json = await responseOf(async () => ({ id: '1', more: true }), response)
  t.strictSame(json.json().data, { id: '1' })
  const html = await responseOf(async (_request, reply) => reply.type('text/html').send('<b>'), response)
  t.equal(html.statusCode, 500)
})

const adding = (count: number) =>
  responseOf(async (_request, reply) => {
    for (let index = 0; index < count; index += 1) reply.link('related', `/things/${index}`)
    return { id: '1' }
  })

t.test('a handler that adds more links than the description says has failed', async (t) => {
  t.equal((await adding(90)).json()._links.length, 91)
  t.match((await adding(91)).json(), { statusCode: 500, message: /at most 90 links/ })
})

t.test('streamed sends a list piece by piece in the envelope, at the pace of the client', async (t) => {
  const response = { 200: { type: 'array', items: Thing } }
  const received = await responseOf(
    async (_request, reply) => reply.link('up', '/x').streamed(Readable.from(['{"id":"1"}', '', '{"id":"2"},{"id":"3"}'])),
    response
  )
  t.match([received.statusCode, received.headers['content-type']], [200, 'application/json; charset=utf-8'])
  t.match(received.json(), {
    data: [{ id: '1' }, { id: '2' }, { id: '3' }],
    _links: [{ rel: 'self' }, { rel: 'up', href: 'https://api.example.com/x' }],
    _meta: { version: 'v1', timestamp: /Z$/ }
  })
  const empty = await responseOf(async (_request, reply) => reply.streamed((async function* () {})()), response)
  t.strictSame(empty.json().data, [])

  let requested = 0
  const endless = async function* () {
    for (;;) yield JSON.stringify({ id: 'x'.repeat((requested += 1) && 10_000) })
  }
  const app = Fastify()
  await app.register(envelope, { publicUrl: 'https://api.example.com' })
  app.get('/things', { schema: { response } }, async (_request, reply) => reply.streamed(endless()) as never)
  t.teardown(() => app.close())
  const { body } = await fetch(`${await app.listen({ port: 0 })}/things`)
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  await reader.read()
  // Both ends of the connection are in this process: if no piece is read in many turns of the event loop, the stream waits.
  for (let before = -1; before !== requested; await turns(100)) before = requested
  t.ok(requested < 5000, `waits after ${requested} pieces`)
  await reader.cancel()
})

t.test('a media type that a route produces must have a response schema, because its responses would all be refused [S3]', async (t) => {
  const text = { schema: { type: 'string' } }
  const csv = { content: { 'application/json': { schema: Thing }, 'text/csv': text } }
  const declared: readonly [produces: readonly string[], response: Record<string, unknown>, refused?: string][] = [
    [['text/csv'], { 200: { type: 'string' } }, 'text/csv'],
    [['application/json', 'text/csv'], { '2xx': Thing }, 'text/csv'],
    [['application/pdf', 'text/csv'], { 200: csv }, 'application/pdf'],
    [['text/csv'], { 200: csv }],
    [['Text/CSV', 'application/json', 'application/hal+json'], { 200: Thing, 201: csv }],
    [['application/problem+json'], { 200: Thing }],
    [['text/csv'], { 204: { type: 'null' } }],
    [['image/png'], { 302: { type: 'null' } }]
  ]
  for (const [produces, response, refused] of declared) {
    const start = responseOf(async (_request, reply) => reply.noContent(), response, { produces, otherConfigKeys: ['produces'] })
    const line = `envelope: POST /things has "${refused}" in config.produces, but no response schema for it, .* Add schema\\.response`
    if (refused === undefined)
      await t.resolves(
        start.then(() => undefined),
        produces.join()
      )
    else await t.rejects(start, { name: 'TypeError', message: new RegExp(`^${line.replaceAll('/', '\\/')}`) })
  }
})

t.test('headers and the text of a response are described beside the envelope, not within the resource', async (t) => {
  const app = Fastify()
  let declared: unknown
  await app.register(envelope, { publicUrl: 'https://api.example.com' })
  app.addHook('onRoute', ({ schema }) => {
    declared = schema?.response
  })
  const about = { headers: { 'X-Count': { type: 'integer' } }, 'x-response-description': 'Everything.' }
  app.get('/things', { schema: { response: { 200: { ...Thing, ...about } } } }, async () => ({ id: '1' }))
  t.match(declared, { 200: { ...about, properties: { data: Thing } } })
  t.notMatch(declared, { 200: { properties: { data: { headers: {} } } } })
  t.strictSame((await app.inject('/things')).json().data, { id: '1' })
})

t.test('a route that declares no success, or an error, stops the boot', async (t) => {
  await t.rejects(
    responseOf(async () => ({}), {}),
    /envelope: POST \/things must declare a success response\. Add schema\.response/
  )
  await t.rejects(
    responseOf(async () => ({}), { 200: Thing, 404: Thing }),
    /envelope: POST \/things must not declare a schema for "404"/
  )
})

t.test('the hooks of a route receive the resource, then the serialized body', async (t) => {
  const app = Fastify()
  await app.register(envelope)
  const seen: unknown[] = []
  app.get(
    '/things',
    {
      schema: { response: { 200: Thing } },
      preSerialization: async (_request, _reply, payload) => {
        seen.push(payload)
        return payload
      },
      onSend: [
        async (_request, _reply, payload) => {
          seen.push(typeof payload)
          return payload
        }
      ]
    },
    async () => ({ id: '1' })
  )
  await app.inject('/things')
  t.strictSame(seen, [{ id: '1' }, 'string'])
})

t.test('does not change the schema of the author', async (t) => {
  const app = Fastify()
  await app.register(envelope)
  const schema = { response: { 200: Thing } }
  const before = structuredClone(schema)
  app.get('/a', { schema }, async () => ({ id: '1' }))
  app.get('/b', { schema }, async () => ({ id: '2' }))
  t.strictSame((await app.inject('/b')).json().data, { id: '2' })
  t.strictSame(schema, before)
})

t.test('the volatile tail covers what differs each time, and is 0 for a body that only looks like an envelope', async (t) => {
  const app = Fastify()
  const clock = movedDate(t, 0)
  await app.register(envelope)
  const tail = contractOf(app, 'envelope')?.volatileTail
  const fronts: string[] = []
  app.addHook('onSend', async (_request, reply, payload) => {
    fronts.push((payload as string).slice(0, (payload as string).length - (tail?.(reply, payload as string) ?? 0)))
    return payload
  })
  app.get('/things', { schema: { response: { 200: Thing } } }, async () => ({ id: '1' }))
  app.get('/copy', { config: { envelope: false } }, async (_request, reply) =>
    reply.type('application/json').send('{"_meta":{"timestamp":"2026-01-02T00:00:00.000Z"}}')
  )
  const first = await app.inject('/things')
  clock.now += 1000
  const bodies = [first, await app.inject('/things')].map(({ body }) => body)
  t.not(bodies[0], bodies[1])
  t.equal(fronts[0], fronts[1])
  t.match(fronts[0], /"version":"v1",$/)
  await app.inject('/copy')
  t.match(fronts[2], /000Z"\}\}$/)
})

const part = { type: 'object', properties: { name: { type: 'string' }, parts: { type: 'array', items: { $ref: '#/definitions/Part' } } } }

for (const [what, schema, resource] of [
  [
    'refers to its definitions',
    { type: 'object', properties: { main: { $ref: '#/definitions/Part' } }, definitions: { Part: part } },
    { main: { name: 'a', parts: [{ name: 'b', parts: [] }] } }
  ],
  [
    'refers to itself',
    { type: 'object', properties: { name: { type: 'string' }, parts: { type: 'array', items: { $ref: '#' } } } },
    { name: 'a', parts: [{ name: 'b', parts: [] }] }
  ],
  [
    'refers to itself and has an $id',
    { $id: 'machine', type: 'object', properties: { name: { type: 'string' }, parts: { type: 'array', items: { $ref: '#' } } } },
    { name: 'a', parts: [{ name: 'b', parts: [] }] }
  ],
  [
    'is a list of its definitions',
    { type: 'array', items: { $ref: '#/definitions/Part' }, definitions: { Part: part } },
    [{ name: 'a', parts: [] }]
  ]
] as const) {
  t.test(`a resource whose schema ${what} is sent with what the schema declares, on several routes [F9]`, async (t) => {
    const secret = JSON.parse(JSON.stringify(resource), (_key, value) => (value?.name === undefined ? value : { ...value, secret: 'x' }))
    const app = Fastify()
    await app.register(envelope)
    for (const url of ['/a', '/b']) app.get(url, { schema: { response: { 200: schema } } }, async () => secret)
    for (const url of ['/a', '/b']) t.strictSame((await app.inject(url)).json().data, resource)
    t.strictSame(Object.keys(app.getSchemas()), [], 'no schema of the envelope is visible to others')
  })
}
