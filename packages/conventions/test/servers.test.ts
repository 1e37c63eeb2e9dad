import { connect, type IncomingHttpHeaders } from 'node:http2'
import { request as requestHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import conventions, { serverOptions } from '@concordat/conventions'
import { type TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { generate } from 'selfsigned'
import t, { type Test } from 'tap'

// The preset on the other servers of Node.js: the same requests get the same responses.

const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }])
const Thing = Type.Object({ id: Type.String(), name: Type.String() })

interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what is being tested
  readonly body: any
}
type Send = (method: string, path: string, headers?: Record<string, string>, body?: object) => Promise<Received>

async function start(t: Test, server: FastifyInstance) {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false,
    idempotency: { scope: () => 'a client' }
  })
  await app.apiVersion(1, async (v1) => {
    v1.get('/things/:id', { schema: { params: Type.Object({ id: Type.String() }), response: { 200: Thing } } }, async ({ params }) => ({
      id: params.id,
      name: 'A'
    }))
    v1.post(
      '/things',
      { config: { idempotency: 'required' }, schema: { body: Type.Omit(Thing, ['id']), response: { 201: Thing } } },
      async ({ body }, reply) => reply.created('/things/a', { id: 'a', ...body })
    )
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

/** Sends requests over one session of HTTP/2. */
function overHttp2(t: Test, origin: string): Send {
  const session = connect(origin, { rejectUnauthorized: false })
  t.teardown(() => session.close())
  return (method, path, headers = {}, body) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const stream = session.request({ ':method': method, ':path': path, ...type, ...headers })
    stream.end(body === undefined ? undefined : JSON.stringify(body))
    return new Promise((resolve, reject) => {
      let text = ''
      let received: IncomingHttpHeaders & { ':status'?: number | undefined } = {}
      stream
        .setEncoding('utf8')
        .on('response', (headers) => (received = headers))
        .on('data', (data: string) => (text += data))
        .on('end', () =>
          resolve({ status: Number(received[':status']), headers: received, body: text === '' ? undefined : JSON.parse(text) })
        )
        .on('error', reject)
    })
  }
}

/** Sends requests over HTTP/1.1 and TLS. */
function overHttps(port: number): Send {
  return (method, path, headers = {}, body) =>
    new Promise((resolve, reject) => {
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      const target = { host: '127.0.0.1', port, method, path, headers: { ...type, ...headers }, rejectUnauthorized: false, agent: false }
      requestHttps(target, (response) => {
        let text = ''
        response
          .setEncoding('utf8')
          .on('data', (data: string) => (text += data))
          .on('end', () =>
            resolve({ status: response.statusCode as number, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) })
          )
      })
        .on('error', reject)
        .end(body === undefined ? undefined : JSON.stringify(body))
    })
}

const options = serverOptions()
for (const [name, open] of [
  ['https', async (t: Test) => overHttps(await start(t, Fastify({ ...options, https: { key, cert } })))],
  [
    'http2 with TLS',
    async (t: Test) => {
      const server = Fastify({ ...options, http2: true, https: { allowHTTP1: true, key, cert } }) as unknown as FastifyInstance
      return overHttp2(t, `https://127.0.0.1:${await start(t, server)}`)
    }
  ],
  [
    'http2 without TLS',
    async (t: Test) =>
      overHttp2(t, `http://127.0.0.1:${await start(t, Fastify({ ...options, http2: true }) as unknown as FastifyInstance)}`)
  ]
] as const) {
  t.test(`the preset works on ${name}`, async (t) => {
    const send: Send = await open(t)
    const found = await send('GET', '/v1/things/7')
    t.match([found.status, found.body], [200, { data: { id: '7', name: 'A' }, _links: [{ rel: 'self' }], _meta: { version: 'v1' } }])
    t.match(found.headers, { 'request-id': /./, 'x-content-type-options': 'nosniff', etag: /^"/ })
    const etag = String(found.headers['etag'])
    t.equal((await send('GET', '/v1/things/7', { 'if-none-match': etag })).status, 304)
    t.match((await send('HEAD', '/v1/things/7')).headers, { etag, 'content-length': found.headers['content-length'] })
    t.match((await send('OPTIONS', '/v1/things/7')).headers, { allow: 'GET, HEAD, OPTIONS' })

    const created = await send('POST', '/v1/things', { 'idempotency-key': '"a"' }, { name: 'B' })
    t.match([created.status, created.headers['location']], [201, 'https://api.example.com/v1/things/a'])
    const again = await send('POST', '/v1/things', { 'idempotency-key': '"a"' }, { name: 'B' })
    t.match([again.status, again.headers['idempotency-replayed'], again.body], [201, 'true', created.body])

    for (const [method, path, headers, body, status, code] of [
      ['GET', '/v1/nothing', {}, undefined, 404, 'RESOURCE_NOT_FOUND'],
      ['GET', '/v2/things/7', {}, undefined, 404, 'VERSION_NOT_FOUND'],
      ['DELETE', '/v1/things/7', {}, undefined, 405, 'METHOD_NOT_ALLOWED'],
      ['GET', '/v1/things/7', { accept: 'text/csv' }, undefined, 406, 'NOT_ACCEPTABLE'],
      ['POST', '/v1/things', { 'content-type': 'text/plain' }, {}, 415, 'UNSUPPORTED_MEDIA_TYPE'],
      ['POST', '/v1/things', { 'idempotency-key': '"b"' }, { name: 5 }, 422, 'VALIDATION_FAILED'],
      ['POST', '/v1/things', {}, { name: 'C' }, 400, 'IDEMPOTENCY_KEY_REQUIRED']
    ] as const) {
      const refused = await send(method, path, headers, body)
      t.match(
        [refused.status, refused.body],
        [status, { error: { status, code }, _links: [{ rel: 'self', method }] }],
        `${method} ${path} ${code}`
      )
    }
  })
}
