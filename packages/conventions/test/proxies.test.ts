// The preset behind real proxies that terminate TLS. Each client has its own address on this machine: 127.0.0.1 is the proxy.
import { type IncomingHttpHeaders, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import { freePort } from '@concordat/test-harness/fleet'
import Fastify, { type FastifyInstance } from 'fastify'
import { generate } from 'selfsigned'
import t, { type Test } from 'tap'
import { runProxy } from './proxy-process.ts'

interface Ports {
  readonly service: number
  readonly tls: number
  readonly plain: number
}

interface Proxy {
  readonly program: string | undefined
  readonly missing: string
  /** Returns the text of the configuration file; `words` returns the arguments that start the proxy, given its folder. */
  readonly configuration: (ports: Ports, folder: string) => string
  readonly words: (folder: string) => string[]
}

const proxies: Readonly<Record<string, Proxy>> = {
  nginx: {
    program: process.env['TEST_NGINX'],
    missing: 'set TEST_NGINX to the path of nginx',
    configuration: ({ service, tls, plain }, folder) => `
      daemon off; master_process off; pid ${folder}/pid; error_log stderr;
      events {}
      http {
        access_log off; server_tokens off;
        client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
        uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
        server {
          listen 127.0.0.1:${tls} ssl; listen 127.0.0.1:${plain};
          ssl_certificate ${folder}/both.pem; ssl_certificate_key ${folder}/both.pem;
          location / {
            proxy_pass http://127.0.0.1:${service};
            proxy_set_header Host internal;
            proxy_set_header X-Forwarded-Host $http_host;
            proxy_set_header X-Forwarded-Proto $scheme;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Request-Id $request_id;
          }
        }
      }`,
    words: (folder) => ['-p', folder, '-c', join(folder, 'configuration')]
  },
  HAProxy: {
    program: process.env['TEST_HAPROXY'],
    missing: 'set TEST_HAPROXY to the path of haproxy',
    configuration: ({ service, tls, plain }, folder) => `
defaults
  mode http
  timeout connect 5s
  timeout client 10s
  timeout server 10s
frontend public
  bind 127.0.0.1:${tls} ssl crt ${folder}/both.pem
  bind 127.0.0.1:${plain}
  http-request set-header X-Forwarded-Host %[req.hdr(host)]
  http-request set-header X-Forwarded-Proto https if { ssl_fc }
  http-request set-header X-Forwarded-Proto http if !{ ssl_fc }
  http-request set-header X-Request-Id %[uuid]
  option forwardfor
  default_backend service
backend service
  server one 127.0.0.1:${service}
`,
    words: (folder) => ['-db', '-q', '-f', join(folder, 'configuration')]
  }
}

const Seen = {
  type: 'object',
  required: ['protocol', 'host', 'ip'],
  properties: { protocol: { type: 'string' }, host: { type: 'string' }, ip: { type: 'string' } }
}

const forged = {
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-for': '203.0.113.9',
  'x-forwarded-port': '666',
  'x-request-id': 'forged-request-id-0001',
  'request-id': 'forged-request-id-0002',
  forwarded: 'for=203.0.113.9;proto=https;host=evil.example',
  'x-real-ip': '203.0.113.9'
}

class Service {
  lines = ''
  readonly app: FastifyInstance
  constructor() {
    const stream = { write: (line: string) => void (this.lines += line) }
    const part = serverOptions({ trustProxy: ['127.0.0.1'], requestIdFrom: 'proxy' })
    this.app = Fastify({ ...part, logger: { level: 'trace', stream } })
  }

  get port() {
    return (this.app.server.address() as AddressInfo).port
  }
}

async function startService(t: Test, options: Partial<ConventionsOptions> = {}) {
  const service = new Service()
  const { app } = service
  await app.register(conventions, {
    allowedHosts: ['shop.example', '*.shops.example'],
    versions: { 1: { status: 'current' } },
    authentication: false,
    ...options,
    transportSecurity: { remoteAddress: 'full', ...options.transportSecurity }
  })
  await app.apiVersion(1, async (v1) => {
    v1.get('/visits', { schema: { response: { 200: Seen } } }, async ({ protocol, host, ip }) => ({ protocol, host, ip }))
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  return service
}

async function startProxy(t: Test, { program, configuration, words }: Proxy, service: number): Promise<Ports> {
  const ports = { service, tls: await freePort(), plain: await freePort() }
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'shop.example' }])
  await runProxy(t, program as string, ports.plain, (folder) => ({
    files: { 'both.pem': `${cert}\n${key}\n`, configuration: configuration(ports, folder) },
    words: words(folder)
  }))
  return ports
}

interface Input {
  readonly port: number
  readonly tls?: boolean
  readonly path?: string
  /** The address of the client. */
  readonly address?: string
  readonly headers?: Record<string, string>
}

interface ReceivedResponse {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what is being tested
  readonly body: any
}

function call({ port, tls = false, path = '/v1/visits', address = '127.0.0.7', headers = {} }: Input): Promise<ReceivedResponse> {
  const options = {
    host: '127.0.0.1',
    port,
    path,
    localAddress: address,
    headers: { host: 'shop.example', ...headers },
    agent: false as const
  }
  return new Promise((resolve, reject) => {
    const request = tls ? requestHttps({ ...options, rejectUnauthorized: false }) : requestHttp(options)
    request.on('error', reject).on('response', (response) => {
      let text = ''
      response.on('data', (data) => (text += data))
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body: JSON.parse(text) }))
    })
    request.end()
  })
}

for (const [name, proxy] of Object.entries(proxies)) {
  if (proxy.program === undefined) {
    t.test(`behind ${name}`, { skip: proxy.missing }, () => {})
    continue
  }

  t.test(`behind ${name}, links have https and the public host, and request.ip is the address of the client [S4] [S10] [K2]`, async (t) => {
    const service = await startService(t)
    const { tls } = await startProxy(t, proxy, service.port)
    const { status, headers, body } = await call({ port: tls, tls: true })
    t.equal(status, 200)
    t.strictSame(body.data, { protocol: 'https', host: 'shop.example', ip: '127.0.0.7' })
    t.strictSame(body._links, [{ rel: 'self', href: 'https://shop.example/v1/visits', method: 'GET' }])
    t.match(headers, { 'strict-transport-security': /max-age=\d+/, 'x-frame-options': 'DENY' })
    const other = await call({ port: tls, tls: true, headers: { host: 'a.shops.example' } })
    t.match(other.body._links, [{ href: 'https://a.shops.example/v1/visits' }])
    const missing = await call({ port: tls, tls: true, path: '/v1/nothing' })
    t.match(missing.body, { error: { status: 404 }, _links: [{ href: 'https://shop.example/v1/nothing' }] })
  })

  t.test(`behind ${name}, forged headers do not affect links, address, log or request id [S10] [H2]`, async (t) => {
    const service = await startService(t)
    const { tls } = await startProxy(t, proxy, service.port)
    const { status, headers, body } = await call({ port: tls, tls: true, headers: forged })
    t.equal(status, 200)
    t.strictSame(body.data, { protocol: 'https', host: 'shop.example', ip: '127.0.0.7' })
    t.match(body._links, [{ href: 'https://shop.example/v1/visits' }])
    const line = service.lines.split('\n').find((text) => text.includes('request completed')) ?? '{}'
    t.match(JSON.parse(line), { remoteAddress: '127.0.0.7', reqId: headers['request-id'] })
    t.match(headers['request-id'], /^[\da-f-]{32,36}$/, 'the id is from the proxy')
    t.notMatch(service.lines + JSON.stringify([headers, body]), /evil|203\.0\.113|forged/)
  })

  t.test(`behind ${name}, refuses plain HTTP and unknown hosts in the envelope [S4]`, async (t) => {
    const service = await startService(t)
    const { tls, plain } = await startProxy(t, proxy, service.port)
    const insecure = await call({ port: plain, headers: { forwarded: forged.forwarded } })
    t.match([insecure.status, insecure.body.error.code], [403, 'HTTPS_REQUIRED'])
    t.equal(insecure.headers['strict-transport-security'], undefined)
    const lying = await call({ port: plain, headers: forged })
    t.match([lying.status, lying.body.error.code], [403, 'HTTPS_REQUIRED'])
    const foreign = await call({ port: tls, tls: true, headers: { host: 'evil.example' } })
    t.match([foreign.status, foreign.body.error.code], [421, 'MISDIRECTED_REQUEST'])
    t.notMatch(JSON.stringify(foreign.body), 'evil')
  })

  t.test(`behind ${name}, dangerouslyAllowHttp does not accept clients of the proxy [S4]`, async (t) => {
    const service = await startService(t, { transportSecurity: { dangerouslyAllowHttp: 'loopback' } })
    const { plain } = await startProxy(t, proxy, service.port)
    t.equal((await call({ port: plain, headers: { 'x-forwarded-for': '203.0.113.9' }, address: '127.0.0.1' })).status, 403)
  })
}

t.test('refuses a client that bypasses the proxy, with every forged header [S4] [S10]', async (t) => {
  const service = await startService(t)
  const { status, headers, body } = await call({ port: service.port, headers: forged })
  t.match([status, body.error.code], [403, 'HTTPS_REQUIRED'])
  t.match(body._links, [{ href: 'http://shop.example/v1/visits' }])
  t.equal(headers['strict-transport-security'], undefined)
  t.notMatch(service.lines + JSON.stringify([headers, body]), /evil|203\.0\.113|forged/)
  const foreign = await call({ port: service.port, headers: { ...forged, host: 'evil.example', 'x-forwarded-host': 'shop.example' } })
  t.match([foreign.status, foreign.body.error.code], [421, 'MISDIRECTED_REQUEST'])
})

t.test('ignores forged headers of such a client where plain HTTP is allowed [S10]', async (t) => {
  const service = await startService(t, { transportSecurity: { dangerouslyAllowHttp: true } })
  const { status, headers, body } = await call({ port: service.port, headers: forged })
  t.equal(status, 200)
  t.strictSame(body.data, { protocol: 'http', host: 'shop.example', ip: '127.0.0.7' })
  t.match(body._links, [{ href: 'http://shop.example/v1/visits' }])
  t.equal(headers['strict-transport-security'], undefined)
  t.notMatch(service.lines + JSON.stringify([headers, body]), /evil|203\.0\.113|forged/)
})
