import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import autoload from '@fastify/autoload'
import cors from '@fastify/cors'
import httpProxy from '@fastify/http-proxy'
import replyFrom from '@fastify/reply-from'
import sse from '@fastify/sse'
import statics from '@fastify/static'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import underPressure from '@fastify/under-pressure'
import view from '@fastify/view'
import websocket from '@fastify/websocket'
// @ts-expect-error: the package has no types.
import ejs from 'ejs'
import metricsPlugin from 'fastify-metrics'
import type { Row } from './row.ts'

const pages = join(import.meta.dirname, 'pages')
const envelopeOf404 = { error: { status: 404, code: 'RESOURCE_NOT_FOUND' } }

// The service behind the proxies, for all rows.
const upstream = createServer((request, response) => {
  response.writeHead(request.url === '/missing' ? 404 : 200, { 'content-type': 'text/plain', 'x-upstream': 'yes' })
  request.pipe(response.writable ? response : response)
}).listen(0, '127.0.0.1')
upstream.unref()
await once(upstream, 'listening')
const upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`

/** Plugins that add routes of their own, or whose routes do not respond with JSON. */
export const rowsWithRoutes: readonly Row[] = [
  {
    name: '@fastify/cors',
    plugin: async (app) => app.register(cors, { origin: ['https://app.example'] }),
    refused: { before: /@fastify\/cors is registered before the preset.*Remove it, and set options\.cors to its options/ },
    note: 'Use the option `cors` of the preset, so that pages can also read the errors of all plugins.',
    async probe({ t, send }) {
      const headers = { origin: 'https://app.example', 'access-control-request-method': 'PATCH' }
      const preflight = await send({ method: 'OPTIONS', url: '/v1/things/1', headers })
      t.match(preflight, { statusCode: 204, headers: { 'access-control-allow-origin': 'https://app.example', 'request-id': /./ } })
      t.equal((await send({ method: 'OPTIONS', url: '/v1/things/1' })).statusCode, 204, 'a request that is not a preflight')
    }
  },
  {
    name: '@fastify/static',
    plugin: async (app) => app.register(statics, { root: pages, prefix: '/pages/' }),
    outside: ['/pages/*'],
    async probe({ t, send }) {
      const page = await send({ url: '/pages/index.html', headers: { accept: 'text/html' } })
      t.match(page, { statusCode: 200, headers: { 'content-type': /^text\/html/, 'x-content-type-options': 'nosniff', 'request-id': /./ } })
      t.match(page.body, '<title>A page</title>')
      const etag = String(page.headers.etag)
      t.equal((await send({ url: '/pages/index.html', headers: { 'if-none-match': etag } })).statusCode, 304)
      t.match((await send('/pages/none.html')).json(), envelopeOf404)
    }
  },
  {
    name: '@fastify/swagger-ui',
    async plugin(app) {
      await app.register(swagger, { openapi: { info: { title: 'Others', version: '1' } } })
      await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true })
    },
    outside: ['/docs/*'],
    note: 'Set `staticCSP: true`, so that its page has a policy that fits. The preset has a reference page of its own.',
    async probe({ t, send }) {
      const page = await send({ url: '/docs/', headers: { accept: 'text/html' } })
      t.match(page, { statusCode: 200, headers: { 'content-type': /^text\/html/, 'content-security-policy': /script-src/ } })
      t.match((await send('/docs/json')).json(), { info: { title: 'Others' } })
    }
  },
  {
    name: '@fastify/under-pressure',
    plugin: async (app) => app.register(underPressure, { exposeStatusRoute: '/status' }),
    outside: ['/status'],
    async probe({ t, send }) {
      t.match((await send('/status')).json(), { status: 'ok' })
    }
  },
  {
    name: 'fastify-metrics',
    plugin: async (app) => app.register(metricsPlugin as never, { endpoint: '/metrics', clearRegisterOnInit: true }),
    outside: ['/metrics'],
    async probe({ t, send }) {
      await send('/v1/things/1')
      const page = await send('/metrics')
      t.match(page, { statusCode: 200, headers: { 'content-type': /^text\/plain/ } })
    }
  },
  {
    name: '@fastify/websocket',
    plugin: async (app) => app.register(websocket),
    routes: (app) =>
      app.get(
        '/sockets',
        { websocket: true },
        (socket: { on: (event: 'message', listener: (message: unknown) => void) => void; send: (text: string) => void }) => {
          socket.on('message', (message) => socket.send(`echo ${String(message)}`))
        }
      ),
    outside: ['/sockets'],
    async probe({ t, listen }) {
      const socket = new WebSocket(`${(await listen()).replace('http', 'ws')}/sockets`)
      await new Promise((resolve) => socket.addEventListener('open', resolve))
      const received = new Promise<MessageEvent>((resolve) => socket.addEventListener('message', resolve))
      socket.send('hello')
      t.equal(String((await received).data), 'echo hello')
      const closed = new Promise((resolve) => socket.addEventListener('close', resolve))
      socket.close()
      await closed
    }
  },
  {
    name: '@fastify/view',
    plugin: async (app) => app.register(view, { engine: { ejs }, root: pages }),
    routes(app) {
      app.get('/hello', async (_request, reply) =>
        reply.header('content-security-policy', "script-src 'self'").view('hello.ejs', { name: 'Ada' })
      )
    },
    outside: ['/hello'],
    async probe({ t, send }) {
      const page = await send({ url: '/hello', headers: { accept: 'text/html' } })
      t.match(page, { statusCode: 200, headers: { 'content-type': /^text\/html/, 'content-security-policy': "script-src 'self'" } })
      t.match(page.body, '<p>Hello Ada</p>')
    }
  },
  {
    name: '@fastify/autoload',
    plugin: async (app) => app.register(autoload, { dir: join(import.meta.dirname, 'autoloaded'), forceESM: true }),
    outside: ['/autoloaded'],
    note: 'Each file is a context of its own: see [autoload](autoload.md).',
    async probe({ t, send }) {
      t.match(await send('/autoloaded'), { statusCode: 200, body: 'autoloaded' })
    }
  },
  {
    name: '@fastify/http-proxy',
    plugin: async (app) => app.register(httpProxy, { upstream: upstreamUrl, prefix: '/legacy' }),
    outside: ['/legacy/*'],
    note: 'A response of the upstream with an error status leaves in the error envelope.',
    async probe({ t, send }) {
      t.match(await send({ method: 'POST', url: '/legacy/echo', headers: { 'content-type': 'text/csv' }, payload: 'a,b' }), {
        statusCode: 200,
        body: 'a,b',
        headers: { 'x-upstream': 'yes', 'request-id': /./ }
      })
      const json = await send({ method: 'POST', url: '/legacy/echo', payload: { a: 1 } })
      t.match(json, { statusCode: 200, body: '{"a":1}' })
      t.match((await send('/legacy/missing')).json(), envelopeOf404)
    }
  },
  {
    name: '@fastify/reply-from',
    plugin: async (app) => app.register(replyFrom, { base: upstreamUrl }),
    routes: (app) => app.get('/forwarded', (_request, reply) => reply.from('/echo')),
    outside: ['/forwarded'],
    async probe({ t, send }) {
      t.match(await send('/forwarded'), { statusCode: 200, headers: { 'x-upstream': 'yes' } })
    }
  },
  {
    name: '@fastify/sse',
    plugin: async (app) => app.register(sse as never),
    routes(app) {
      app.get('/events', { sse: true }, async (_request, reply) => {
        await reply.sse.send({ data: 'one' })
        await reply.sse.send({ data: 'two' })
      })
    },
    outside: ['/events'],
    async probe({ t, listen }) {
      const response = await fetch(`${await listen()}/events`, { headers: { accept: 'text/event-stream' } })
      t.match(response.headers.get('content-type'), /^text\/event-stream/)
      t.match(await response.text(), /data: "one"\n\n.*data: "two"\n\n/s)
    }
  },
  {
    name: 'a stream, a download and a hijacked reply',
    plugin: async () => {},
    routes(app) {
      app.get('/download', async (_request, reply) =>
        reply.header('content-disposition', 'attachment; filename="a.csv"').type('text/csv').send('a,b')
      )
      app.get('/hijacked', (_request, reply) => {
        reply.hijack()
        reply.raw.end('taken')
      })
    },
    outside: ['/download', '/hijacked'],
    async probe({ t, send }) {
      t.match(await send('/download'), { statusCode: 200, body: 'a,b', headers: { 'content-type': /^text\/csv/ } })
      t.equal((await send('/hijacked')).body, 'taken')
    }
  }
]
