import { once } from 'node:events'
import http2 from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import contentNegotiation, { type ContentNegotiationOptions } from '@concordat/content-negotiation'
import { publish } from '@concordat/plugin-kit/wiring'
import Fastify, { type FastifyInstance, type HTTPMethods } from 'fastify'
import t from 'tap'

async function service(options: ContentNegotiationOptions = {}, before: (app: FastifyInstance) => void = () => {}) {
  const app = Fastify({ bodyLimit: 1000 })
  before(app)
  await app.register(contentNegotiation, options)
  return app
}

const echo = (request: { body: unknown }) => ({ read: Buffer.isBuffer(request.body) ? request.body.toString('hex') : request.body })

t.test('a body must have a media type of its route; the response lists them [N3] [X1]', async (t) => {
  const app = await service()
  const methods: HTTPMethods[] = ['POST', 'PUT', 'PATCH', 'DELETE']
  for (const method of methods) app.route({ method, url: '/orders', handler: echo })
  app.patch('/merge', { config: { consumes: ['application/merge-patch+json', 'application/json'] } }, echo)

  for (const type of [
    '',
    'text/plain',
    'application/jsonx',
    'json',
    'application/json, application/json',
    'application/json;charset=utf-8;charset=utf-8',
    'application/json;x="',
    `application/json;x=${'a'.repeat(2030)}`
  ]) {
    for (const method of methods) {
      const response = await app.inject({ method: method as 'POST', url: '/orders', headers: { 'content-type': type }, payload: '{}' })
      const types = method === 'PATCH' ? 'application/json, application/merge-patch+json' : 'application/json'
      t.match(response, { statusCode: 415, headers: { accept: types } }, `${method} ${type}`)
      t.equal(response.json().code, 'UNSUPPORTED_MEDIA_TYPE')
      t.equal(response.headers['accept-post'], method === 'POST' ? 'application/json' : undefined)
      t.equal(response.headers['accept-patch'], method === 'PATCH' ? types : undefined)
    }
  }
  const patch = await app.inject({ method: 'PATCH', url: '/merge', headers: { 'content-type': 'text/plain' }, payload: 'a' })
  t.equal(patch.headers['accept-patch'], 'application/merge-patch+json, application/json')
  for (const type of [
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/json;charset="UTF8"',
    'application/json;',
    'application/json ; v=1',
    `application/json;x=${'a'.repeat(2029)}`
  ]) {
    t.strictSame(
      (await app.inject({ method: 'POST', url: '/orders', headers: { 'content-type': type }, payload: '{"a":1}' })).json(),
      { read: { a: 1 } },
      type
    )
  }
})

t.test('refuses a charset other than UTF-8 [N3]', async (t) => {
  const app = await service()
  app.post('/orders', echo)
  for (const charset of ['utf-16', 'iso-8859-1', '"latin1"']) {
    const response = await app.inject({
      method: 'POST',
      url: '/orders',
      headers: { 'content-type': `application/json; charset=${charset}` },
      payload: '{}'
    })
    t.match(response, { statusCode: 415, headers: { accept: 'application/json' } })
    t.equal(response.json().code, 'UNSUPPORTED_CHARSET')
  }
})

t.test('a request without a body needs no media type', async (t) => {
  const app = await service()
  app.route({ method: ['GET', 'POST', 'DELETE'], url: '/orders', handler: echo })
  app.head('/items', echo)
  t.equal((await app.inject({ method: 'POST', url: '/orders' })).statusCode, 200)
  t.equal((await app.inject({ method: 'POST', url: '/orders', headers: { 'content-length': '0' } })).statusCode, 200)
  t.equal((await app.inject({ method: 'DELETE', url: '/orders' })).statusCode, 200)
  t.equal(
    (await app.inject({ method: 'GET', url: '/orders', headers: { 'content-type': 'text/plain', 'content-length': '1' }, payload: 'a' }))
      .statusCode,
    200
  )
})

t.test('over HTTP/1.1, the framing shows whether there is a body, and a second Content-Type line is refused [N3]', async (t) => {
  const app = await service()
  app.post('/orders', echo)
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  async function send(head: string, body: string) {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    socket.end(`POST /orders HTTP/1.1\r\nHost: api.example\r\nConnection: close\r\n${head}\r\n\r\n${body}`)
    let response = ''
    socket.on('data', (chunk) => {
      response += chunk
    })
    await once(socket, 'close')
    return Number(response.slice(9, 12))
  }
  t.equal(await send('Transfer-Encoding: chunked', '2\r\n{}\r\n0\r\n\r\n'), 415)
  t.equal(await send('Transfer-Encoding: chunked\r\nContent-Type: text/plain', '2\r\n{}\r\n0\r\n\r\n'), 415)
  t.equal(await send('Transfer-Encoding: chunked\r\nContent-Type: application/json', '2\r\n{}\r\n0\r\n\r\n'), 200)
  t.equal(await send('Content-Length: 2', '{}'), 415)
  t.equal(await send('Content-Length: 2\r\ncontent-type: application/json', '{}'), 200)
  t.equal(await send('Content-Length: 2\r\nContent-Type: application/json\r\nContent-Type: application/json', '{}'), 415)
  t.equal(await send('Content-Length: 2\r\nContent-Type: application/json\r\nX-Twelve-Chr: a', '{}'), 200)
})

t.test('over HTTP/2, detects a body without any header that announces it [N3]', async (t) => {
  const app = Fastify({ http2: true })
  await app.register(contentNegotiation)
  app.post('/orders', echo)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const session = http2.connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  t.teardown(async () => {
    session.close()
    await app.close()
  })
  async function send(headers: Record<string, string>, body?: string) {
    const stream = session.request({ ':method': 'POST', ':path': '/orders', ...headers }, { endStream: body === undefined })
    if (body !== undefined) stream.end(body)
    const [response] = await once(stream, 'response')
    stream.resume()
    return response[':status']
  }
  t.equal(await send({}, '{}'), 415)
  t.equal(await send({ 'content-type': 'application/json' }, '{}'), 200)
  t.equal(await send({ 'content-type': 'text/plain', 'content-length': '2' }, '{}'), 415)
  t.equal(await send({}), 200)
})

async function sendCoded(app: FastifyInstance, coding: string) {
  const headers = { 'content-type': 'application/json', 'content-encoding': coding }
  const response = await app.inject({ method: 'POST', url: '/orders', headers, payload: '{}' })
  return response.statusCode === 200 ? 200 : `${response.json().code}: ${String(response.headers['accept-encoding'])}`
}

t.test('refuses an encoded body unless the service decodes that coding; the response lists the supported codings [N3]', async (t) => {
  const plain = await service()
  const decoding = await service({ contentEncodings: ['GZIP', 'br'] })
  for (const app of [plain, decoding]) app.post('/orders', echo)
  t.equal(await sendCoded(plain, 'identity'), 200)
  t.equal(await sendCoded(plain, 'gzip'), 'UNSUPPORTED_CONTENT_ENCODING: identity')
  t.equal(await sendCoded(decoding, 'Gzip'), 200)
  t.equal(await sendCoded(decoding, 'gzip, br'), 200)
  t.equal(await sendCoded(decoding, 'gzip, zstd'), 'UNSUPPORTED_CONTENT_ENCODING: gzip, br, identity')
})

t.test('binary types arrive as a Buffer, within the limit of the route [N5]', async (t) => {
  const app = await service()
  app.post('/images', { bodyLimit: 4, config: { consumes: ['image/png', 'Image/JPEG'] } }, echo)
  const send = (type: string, payload: Buffer) => app.inject({ method: 'POST', url: '/images', headers: { 'content-type': type }, payload })
  t.strictSame((await send('image/png', Buffer.from([1, 2, 255]))).json(), { read: '0102ff' })
  t.strictSame((await send('image/jpeg; q=1', Buffer.from([7]))).json(), { read: '07' })
  t.equal((await send('image/png', Buffer.alloc(5))).statusCode, 413)
  t.equal((await send('application/json', Buffer.from('{}'))).statusCode, 415, 'JSON is accepted only if it is listed')
  t.equal((await send('image/gif', Buffer.from([1]))).headers.accept, 'image/png, image/jpeg')
})

const Named = { type: 'object', required: ['name'], additionalProperties: false, properties: { name: { type: 'string', minLength: 3 } } }

t.test('accepts the media types of schema.body.content, each validated by its schema, and no other [N3]', async (t) => {
  const app = await service()
  const content = { 'application/json': { schema: Named }, 'application/vnd.name.v2+json': { schema: { ...Named, required: [] } } }
  app.patch('/names', { schema: { body: { content } } }, echo)
  app.patch('/new-names', { config: { consumes: ['application/vnd.name.v2+json'] }, schema: { body: { content } } }, echo)
  const send = (url: string, type: string, payload: string) =>
    app.inject({ method: 'PATCH', url, headers: { 'content-type': type }, payload })
  for (const type of ['application/merge-patch+json', 'application/vnd.other+json', 'text/plain', 'image/png']) {
    const { statusCode, headers } = await send('/names', type, '{"name":"Ada"}')
    t.match(
      [statusCode, headers],
      [415, { accept: 'application/json, application/vnd.name.v2+json', 'accept-patch': headers.accept }],
      type
    )
  }
  t.equal((await send('/names', 'application/json', '{}')).statusCode, 400, 'the status of Fastify for an invalid body')
  t.equal((await send('/names', 'application/vnd.name.v2+json', '{"name":"A"}')).statusCode, 400)
  t.strictSame((await send('/names', 'application/vnd.name.v2+json', '{}')).json(), { read: {} })
  t.equal((await send('/new-names', 'application/json', '{"name":"Ada"}')).statusCode, 415, 'consumes can list fewer types')
  t.strictSame((await send('/new-names', 'application/vnd.name.v2+json', '{}')).json(), { read: {} })
})

t.test('without schema.body.content, the schema of a route validates all bodies except bytes [N3] [N5]', async (t) => {
  const app = await service()
  const json = ['application/json', 'application/vnd.name+json', 'application/merge-patch+json']
  const binary = ['image/png', 'application/octet-stream', 'application/pdf', 'video/mp4']
  app.post('/names', { config: { consumes: [...json, ...binary] }, schema: { body: Named } }, echo)
  app.post('/images', { config: { consumes: binary } }, echo)
  const send = (url: string, type: string, payload: string) =>
    app.inject({ method: 'POST', url, headers: { 'content-type': type }, payload })
  for (const type of json) {
    t.equal((await send('/names', type, '{"name":"A"}')).statusCode, 400, type)
    t.equal((await send('/names', type, '{"name":"Ada","evil":true}')).json().read?.evil, undefined, type)
    t.strictSame((await send('/names', type, '{"name":"Ada"}')).json(), { read: { name: 'Ada' } }, type)
  }
  for (const type of binary)
    for (const url of ['/names', '/images']) t.strictSame((await send(url, type, '{}')).json(), { read: '7b7d' }, type)
  for (const type of ['image/gif', 'text/plain']) t.equal((await send('/names', type, '{}')).statusCode, 415, type)
})

t.test('parses +json types as JSON, with the prototype checks of Fastify [N4]', async (t) => {
  const app = await service()
  app.patch('/orders', { config: { consumes: ['application/merge-patch+json'] } }, echo)
  const send = (payload: string) =>
    app.inject({ method: 'PATCH', url: '/orders', headers: { 'content-type': 'application/merge-patch+json' }, payload })
  t.strictSame((await send('{"note":null,"é":1}')).json(), { read: { note: null, é: 1 } })
  t.equal((await send('{"__proto__":{}}')).statusCode, 400)
  t.equal((await send('{"broken')).statusCode, 400)
  t.equal((await send('')).statusCode, 400)
})

const parseAs = (name: string) => (_request: unknown, _body: unknown, done: (error: null, body: string) => void) => done(null, name)

t.test('parsers of the service take precedence, for a type or a pattern, before or after, in a parent or child [N4]', async (t) => {
  const consumes = ['application/a+json', 'application/b+json', 'image/png', 'multipart/form-data']
  const app = await service({}, (early) => {
    early.addContentTypeParser(/^application\/a\+json/, { parseAs: 'string' }, parseAs('early pattern'))
    early.addContentTypeParser('image/png', { parseAs: 'buffer' }, parseAs('early type'))
  })
  app.post('/', { config: { consumes } }, echo)
  app.addContentTypeParser(/^application\/b\+json/, { parseAs: 'string' }, parseAs('late pattern'))
  await app.register(async (child) => {
    child.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, parseAs('multipart plugin'))
    child.post('/child', { config: { consumes } }, echo)
  })
  const send = async (url: string, type: string) =>
    (await app.inject({ method: 'POST', url, headers: { 'content-type': type }, payload: '{}' })).json()
  t.strictSame(await send('/', 'application/a+json'), { read: 'early pattern' })
  t.strictSame(await send('/', 'application/b+json'), { read: 'late pattern' })
  t.strictSame(await send('/', 'image/png'), { read: 'early type' })
  t.strictSame(await send('/child', 'multipart/form-data; boundary=x'), { read: 'multipart plugin' })
  t.equal((await send('/', 'multipart/form-data; boundary=x')).code, 'UNSUPPORTED_MEDIA_TYPE', 'no plugin parses it here')
})

t.test('preParsing hooks of the route run after the check of the body', async (t) => {
  const app = await service()
  const preParsing = async () => void t.fail('continued')
  app.post('/orders', { preParsing }, echo)
  app.post('/declared', { preParsing, config: { consumes: ['application/json'] } }, echo)
  for (const [url, type] of [
    ['/orders', 'text/plain'],
    ['/declared', 'text/csv']
  ] as const)
    t.equal((await app.inject({ method: 'POST', url, headers: { 'content-type': type }, payload: 'a' })).statusCode, 415)
})

t.test('a route outside the API accepts only JSON and what Fastify parses', async (t) => {
  const app = await service({}, (early) => {
    publish(early, { belongsToApi: () => false })
    early.post('/early', echo)
  })
  app.post('/late', echo)
  t.equal((await app.inject({ method: 'POST', url: '/late', headers: { accept: 'image/png' }, payload: {} })).statusCode, 200)
  const send = (type: string) => app.inject({ method: 'POST', url: '/early', headers: { 'content-type': type }, payload: '{}' })
  t.equal((await send('application/json')).statusCode, 200)
  t.match(await send('image/png'), { statusCode: 415, headers: { accept: 'application/json' } })
})
