import { type AddressInfo, connect } from 'node:net'
import errorCatalogue, { errorCatalogueServerOptions } from '@concordat/error-catalogue'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'

const Item = { type: 'object', properties: { size: { type: 'integer' } } }

// A service with its own formats, as it is before it adopts anything.
async function service(addV2: (app: FastifyInstance) => Promise<void>, lines: string[] = []) {
  const app = Fastify({
    bodyLimit: 100,
    logger: { level: 'info', stream: { write: (line) => void lines.push(line) } },
    clientErrorHandler: (_error, socket) => socket.end('HTTP/1.1 400 Own\r\nConnection: close\r\n\r\nown'),
    frameworkErrors: (_error, _request, reply) => void reply.raw.writeHead(400, { connection: 'close' }).end('own')
  })
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) =>
    reply.code(error.statusCode ?? 500).send({ own: error.message })
  )
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ own: 'nothing here' }))
  await app.register(async (v1) => addItems(v1), { prefix: '/v1' })
  await app.register(addV2, { prefix: '/v2' })
  return app
}

function addItems(app: FastifyInstance) {
  app.get('/items/:id', async () => ({ id: 1 }))
  app.post('/items', { schema: { body: Item } }, async ({ body }) => body)
  app.get('/broken', async () => {
    throw new Error('the disk is full')
  })
  app.get('/nothing', async (_request, reply) => reply.callNotFound())
}

async function adopt(v2: FastifyInstance) {
  await v2.register(errorCatalogue)
  addItems(v2)
}

async function send(t: Test, app: FastifyInstance, lines: readonly string[]) {
  if (!app.server.listening) {
    await app.listen({ host: '127.0.0.1', port: 0 })
    t.teardown(() => app.close())
  }
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const text = Buffer.concat(await socket.toArray()).toString()
  return text.replace(/^Date: .*\r\n/im, '')
}

const host = ['Host: a.example', 'Connection: close']
const json = (body: string) => ['Content-Type: application/json', `Content-Length: ${body.length}`, '', body]
const requestsTo = (prefix: string): readonly string[][] => [
  [`GET ${prefix}/items/1 HTTP/1.1`, ...host],
  [`GET ${prefix}/items/1/ HTTP/1.1`, ...host],
  [`HEAD ${prefix}/broken HTTP/1.1`, ...host],
  [`GET ${prefix}/broken HTTP/1.1`, ...host],
  [`GET ${prefix}/nothing HTTP/1.1`, ...host],
  [`GET ${prefix}/unknown HTTP/1.1`, ...host],
  [`OPTIONS ${prefix}/items HTTP/1.1`, ...host],
  [`DELETE ${prefix}/items/1 HTTP/1.1`, ...host],
  [`POST ${prefix}/items HTTP/1.1`, ...host, ...json('{"size":"7","other":1}')],
  [`POST ${prefix}/items HTTP/1.1`, ...host, ...json('{"size":')],
  [`POST ${prefix}/items HTTP/1.1`, ...host, ...json(`{"size":${'1'.repeat(100)}}`)],
  [`GET ${prefix}/items/%zz HTTP/1.1`, ...host],
  [`GET ${prefix}/items/${'1'.repeat(150)} HTTP/1.1`, ...host]
]
const wire = [
  ['GET /v1/items/1 HTTP/1.1', 'Connection: close'],
  ['GET /v1/items/1 HTTP/1.1', ...host, 'Expect: something'],
  ['GET /v1/items/1 HTTP/1.1', ...host, 'Host: b.example', 'Authorization: a', 'Authorization: b'],
  ['CONNECT a.example:80 HTTP/1.1', ...host],
  ['not HTTP']
]

t.test('in a child context, every response outside its prefix is as without the plugin, also below HTTP [E4]', async (t) => {
  const plain = await service(async (v2) => addItems(v2))
  const adopted = await service(adopt)
  for (const lines of [...requestsTo('/v1'), ...requestsTo(''), ...wire]) {
    t.equal(await send(t, adopted, lines), await send(t, plain, lines), String(lines[0]))
  }
})

t.test('in a child context with a prefix, every error below the prefix is in the envelope, also for unknown paths [E4]', async (t) => {
  const app = await service(adopt)
  for (const [url, status] of [
    ['/v2/broken', 500],
    ['/v2/unknown', 404],
    ['/v2', 404],
    ['/v2/nothing', 404],
    ['/v2/items/%zz/', 400]
  ] as const) {
    const response = await app.inject(url)
    t.equal(response.statusCode, status, url)
    if (status !== 400) t.match(response.json(), { error: { status }, _links: [{ rel: 'self' }] }, url)
    else t.equal(response.body, 'own', 'the router refuses the URL before it is in any context')
  }
  const post = (payload: string) =>
    app.inject({ method: 'POST', url: '/v2/items', payload, headers: { 'content-type': 'application/json' } })
  t.match((await post('{"size":"7","other":1}')).json().error, { status: 422, errors: [{ field: 'body.other' }, { field: 'body.size' }] })
  t.match((await post('{')).json().error, { status: 400, code: 'MALFORMED_JSON' })
  t.match((await post(`{"size":${'1'.repeat(100)}}`)).json().error, { status: 413, code: 'PAYLOAD_TOO_LARGE' })
  t.match((await app.inject({ method: 'DELETE', url: '/v2/items/1' })).json().error, { status: 404, code: 'RESOURCE_NOT_FOUND' })
})

t.test('in a child context it asks for no server options, and logs what it does not cover', async (t) => {
  const lines: string[] = []
  await service(adopt, lines)
  t.notOk(lines.some((line) => line.includes('errorCatalogueServerOptions')))
  t.equal(lines.filter((line) => line.includes('error-catalogue: the plugin covers only the routes below /v2')).length, 1)
})

t.test('in a child context, server options for the whole server stop the start', async (t) => {
  const app = Fastify({ ...errorCatalogueServerOptions() })
  await t.rejects(async () => app.register(adopt, { prefix: '/v2' }), {
    message:
      'error-catalogue: the plugin is registered in a child context, but errorCatalogueServerOptions() changes the whole server. Register the plugin on the root instance, or create Fastify without errorCatalogueServerOptions().'
  })
})

t.test('a child context without a prefix of its own leaves unknown paths to the service', async (t) => {
  for (const prefix of [undefined, '/']) {
    const app = Fastify()
    app.setNotFoundHandler((_request, reply) => reply.code(404).send('own'))
    await app.register(adopt, prefix === undefined ? {} : { prefix })
    t.equal((await app.inject('/unknown')).body, 'own')
    t.match((await app.inject('/broken')).json().error, { status: 500 })
  }
  const app = await service((v2) => v2.register(adopt) as unknown as Promise<void>)
  t.strictSame((await app.inject('/v2/unknown')).json(), { own: 'nothing here' })
})

t.test('two contexts have a catalogue each, and one keeps the not-found handler that it had before', async (t) => {
  const app = await service(async (v2) => {
    v2.setNotFoundHandler((_request, reply) => reply.code(410).send('gone'))
    await adopt(v2)
  })
  await app.register(adopt, { prefix: '/v3' })
  t.match((await app.inject('/v2/unknown')).json().error, { status: 410 })
  t.match((await app.inject('/v3/unknown')).json().error, { status: 404 })
})
