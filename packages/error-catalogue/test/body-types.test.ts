import errorCatalogue, { errorCatalogueServerOptions } from '@concordat/error-catalogue'
import Fastify, { type FastifyInstance, type HTTPMethods } from 'fastify'
import t from 'tap'

const Item = { type: 'object', required: ['id'], properties: { id: { type: 'string', minLength: 3 } } }

async function service(): Promise<FastifyInstance> {
  const app = Fastify(errorCatalogueServerOptions())
  await app.register(errorCatalogue)
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, bytes: Buffer) => bytes)
  return app
}

async function send(app: FastifyInstance, url: string, type: string | undefined, payload?: string, method: HTTPMethods = 'POST') {
  const response = await app.inject({
    method: method as 'POST',
    url,
    ...(payload !== undefined && { payload }),
    headers: type === undefined ? {} : { 'content-type': type }
  })
  return [response.statusCode, response.json().error?.code, response.headers['accept']]
}

t.test('a body of a media type for which the route has no schema gets 415, and the response lists the types [N3]', async (t) => {
  const app = await service()
  const content = { 'application/json': { schema: Item }, 'application/vnd.item.v2+json': { schema: Item } }
  const methods: HTTPMethods[] = ['POST', 'PUT', 'PATCH', 'DELETE']
  const bodies: unknown[] = []
  app.route({ method: methods, url: '/items', schema: { body: { content } }, handler: async ({ body }) => ({ count: bodies.push(body) }) })
  const accept = 'application/json, application/vnd.item.v2+json'
  for (const method of methods) {
    for (const type of [
      'application/vnd.other+json',
      'application/merge-patch+json',
      'text/plain',
      'application/octet-stream',
      'image/png',
      'application/json-seq'
    ])
      for (const body of ['{"id":"1","evil":true}', '{"id":"123"}', ''])
        t.strictSame(await send(app, '/items', type, body, method), [415, 'UNSUPPORTED_MEDIA_TYPE', accept], `${method} ${type}`)
    for (const type of ['application/json', 'APPLICATION/JSON', 'application/json\t; charset=utf-8', ' application/vnd.item.v2+json ;v=1'])
      t.strictSame(await send(app, '/items', type, '{"id":"1"}', method), [422, 'VALIDATION_FAILED', undefined], `${method} ${type}`)
  }
  t.strictSame(bodies, [])
  t.strictSame(await send(app, '/items', 'application/json', '{"id":"123"}'), [200, undefined, undefined])
})

const body = (schema: object) => ({ schema: { body: { content: { 'application/json': { schema } } } } })

t.test('a missing body gets 415 too, unless one of the schemas allows null', async (t) => {
  const app = await service()
  app.post('/required', body(Item), async () => ({}))
  app.post('/nullable', body({ ...Item, type: ['object', 'null'] }), async () => ({}))
  app.post('/marked', body({ ...Item, nullable: true }), async () => ({}))
  t.strictSame(await send(app, '/required', undefined), [415, 'UNSUPPORTED_MEDIA_TYPE', 'application/json'])
  for (const url of ['/nullable', '/marked']) t.strictSame(await send(app, url, undefined), [200, undefined, undefined], url)
})

t.test('a media type that no request can match stops the start', async (t) => {
  for (const type of ['Application/JSON', 'application/json; charset=utf-8', 'application/*', '*/*', 'json', 'application/json ', '']) {
    const app = await service()
    app.post(
      '/items',
      { schema: { body: { content: { 'application/json': { schema: Item }, [type]: { schema: Item } } } } },
      async () => ({})
    )
    await t.rejects(async () => app.ready(), {
      message: `error-catalogue: POST /items schema.body.content has the media type "${type}", with which no request is compared. Write it in lower case, without parameters or wildcards.`
    })
  }
})

t.test('a JSON media type without a body is accepted where the route declares no body', async (t) => {
  const app = await service()
  const methods: HTTPMethods[] = ['POST', 'PUT', 'PATCH', 'DELETE']
  app.route({ method: methods, url: '/plain', handler: async ({ body }) => ({ body: body ?? 'none' }) })
  app.route({ method: methods, url: '/described', schema: { querystring: { type: 'object' } }, handler: async () => ({}) })
  app.route({ method: methods, url: '/body', schema: { body: Item }, handler: async () => ({}) })
  for (const method of methods)
    for (const type of ['application/json', 'application/json; charset=utf-8', 'application/merge-patch+json'])
      for (const payload of [undefined, '']) {
        t.strictSame(await send(app, '/plain', type, payload, method), [200, undefined, undefined], `${method} ${type}`)
        t.strictSame(await send(app, '/described', type, payload, method), [200, undefined, undefined])
        t.strictSame(await send(app, '/body', type, payload, method), [400, 'EMPTY_BODY', undefined])
      }
  t.strictSame((await app.inject({ method: 'POST', url: '/plain', headers: { 'content-type': 'application/json' } })).json(), {
    body: 'none'
  })
  t.strictSame(await send(app, '/plain', 'application/json', ' '), [400, 'MALFORMED_JSON', undefined])
})
