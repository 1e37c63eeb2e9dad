// Every privilege of development × the proxies that are trusted × the headers of proxies, and × the names of hosts over HTTP/1 and HTTP/2.
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { serverOptions } from '@concordat/conventions'
import { inEnvironment } from '@concordat/test-harness/environment'
import signInRoutes, {
  memoryLoginAttemptStore,
  memoryRefreshTokenStore,
  passwords,
  tokenIssuer,
  tokenIssuingErrors
} from '@concordat/token-issuing'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'

type Headers = Readonly<Record<string, string>>
const publicUrl = 'https://api.example.com'
const username = 'ada@example.com'
const password = 'correct horse battery staple'
const user = { id: 'u1', passwordHash: await passwords().hash(password), roles: [] }

/** A service with everything that development allows, which does not listen yet. */
async function start(
  t: Test,
  trustProxy: readonly string[],
  { isProduction = false, server = {} }: { readonly isProduction?: boolean; readonly server?: object } = {}
) {
  const trust = { issuer: 'https://tokens.example.com', audience: 'orders' }
  const tokens = ownTokens({ ...trust, keys: testKit(trust).keys })
  const limits = { limit: 10_000, windowSeconds: 900 }
  const issuer = tokenIssuer({
    sign: tokens.sign,
    findUser: (name) => (name === username ? user : undefined),
    findUserById: () => user,
    refreshKeys: ['Jq3vZ8mB1xT6yW0rLd5uKc9nHs2gPf7a'],
    stores: { refreshTokens: memoryRefreshTokenStore(), loginAttempts: memoryLoginAttemptStore() },
    attempts: { perAccountAndAddress: limits, perAccount: limits, perAddress: limits },
    revocations: { isRevoked: () => false, revoke: async () => {} }
  })
  const app = Fastify({ ...serverOptions({ trustProxy }), ...server }) as FastifyInstance
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl,
    allowedHosts: isProduction ? [new URL(publicUrl).host] : [],
    versions: { 1: { status: 'current' } },
    authentication: { issuers: [tokens], permissions: ['things:read'] },
    transportSecurity: { dangerouslyAllowHttp: isProduction ? false : 'loopback' },
    rateLimiting: { addressLimit: false, overload: false },
    telemetry: { prometheus: true },
    health: { required: { database: { check: async () => {} } } },
    errorCatalogue: { include: [tokenIssuingErrors] }
  })
  await app.apiVersion(1, async (v1) => {
    await v1.register(signInRoutes, { issuer, verify: tokens.verify, localUsers: ['Ada@Example.com'] })
    const schema = { response: { 200: { type: 'object', properties: { open: { type: 'boolean' } } } } }
    v1.get('/things', { config: { public: true }, schema }, async () => ({ open: true }))
  })
  await app.ready()
  return app
}

/** Whether a request with these headers has each privilege. */
const privileges: Readonly<Record<string, (app: FastifyInstance, headers: Headers) => Promise<boolean>>> = {
  'plain HTTP': async (app, headers) => (await app.inject({ url: '/v1/things', headers })).statusCode === 200,
  'users of development': async (app, headers) => {
    const response = await app.inject({ method: 'POST', url: '/v1/tokens', headers, payload: { username: ' ADA@example.com', password } })
    return response.statusCode === 200
  },
  'reference page': async (app, headers) => (await app.inject({ url: '/reference', headers })).statusCode === 200,
  metrics: async (app, headers) => (await app.inject({ url: '/metrics', headers })).statusCode === 200,
  'names of stores': async (app, headers) => (await app.inject({ url: '/health/ready', headers })).json().data?.stores !== undefined
}
const settings: Readonly<Record<string, readonly string[]>> = {
  none: [],
  'this machine': ['127.0.0.1'],
  list: ['127.0.0.0/8', '::1', '10.0.0.0/8'],
  gateway: ['gateway']
}
const address = '203.0.113.7'
const ofProxies: Headers = {
  forwarded: `for=${address};proto=https`,
  via: '1.1 proxy',
  'x-forwarded-for': address,
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'localhost',
  'x-forwarded-port': '443',
  'x-forwarded-prefix': '/shop',
  'x-forwarded-server': 'traefik',
  'x-forwarded-by': 'proxy',
  'x-forwarded-ssl': 'on',
  'x-forwarded-scheme': 'https',
  'x-forwarded-client-cert': 'By=x',
  'x-real-ip': address,
  'x-client-ip': address,
  'x-cluster-client-ip': address,
  'x-original-forwarded-for': address,
  'x-original-host': 'api.example.com',
  'x-original-url': '/',
  'x-envoy-external-address': address,
  'x-envoy-internal': 'true',
  'x-varnish': '32770',
  'cf-connecting-ip': address,
  'cf-ray': '8a-FRA',
  'cdn-loop': 'cloudflare',
  'true-client-ip': address,
  'client-ip': address,
  'fastly-client-ip': address,
  'fly-client-ip': address,
  'proxy-connection': 'keep-alive',
  'x-proxyuser-ip': address,
  'x-azure-clientip': address,
  'x-appengine-user-ip': address,
  'x-vercel-forwarded-for': address,
  'x-nf-client-connection-ip': address,
  'x-amzn-trace-id': 'Root=1-67891233',
  'x-cloud-trace-context': 'x/1',
  'ngrok-trace-id': 'x',
  'tailscale-user-login': 'ada'
}
const https = { 'x-forwarded-proto': 'https' }
const combinations: readonly Headers[] = [
  ...Object.entries(ofProxies).map(([name, value]) => ({ [name]: value })),
  // A proxy that also terminates TLS, so that the request itself is accepted where the proxy is trusted.
  ...Object.entries(ofProxies).map(([name, value]) => ({ [name]: value, ...https })),
  // What a client elsewhere could send to look like one that is here.
  { 'x-forwarded-for': '127.0.0.1' },
  { 'x-forwarded-for': '127.0.0.1', ...https },
  { 'x-forwarded-for': '::1, 127.0.0.1', 'x-forwarded-host': 'localhost:3000', ...https },
  { 'x-forwarded-for': '', ...https },
  { 'X-Forwarded-For': address },
  ofProxies
]

for (const [proxies, trustProxy] of Object.entries(settings)) {
  t.test(`a request that a proxy passed on has no privilege of development; trusted proxies: ${proxies}`, async (t) => {
    const app = await start(t, trustProxy)
    for (const [privilege, isGranted] of Object.entries(privileges)) {
      t.equal(await isGranted(app, {}), proxies !== 'gateway', `${privilege}, without a proxy`)
      t.equal(await isGranted(app, { host: 'shop.localhost:8080' }), proxies !== 'gateway', `${privilege}, by a name of this machine`)
      for (const headers of combinations) {
        // With TLS at a trusted proxy, the request needs no plain HTTP.
        if (privilege === 'plain HTTP' && 'x-forwarded-proto' in headers && proxies !== 'none') continue
        t.equal(await isGranted(app, headers), false, `${privilege}: ${JSON.stringify(headers)}`)
      }
    }
    const served = await app.inject({ url: '/v1/things', headers: { ...https, 'x-forwarded-host': new URL(publicUrl).host } })
    t.equal(served.statusCode, proxies === 'none' ? 403 : 200, 'what needs no privilege is served')
  })
}

t.test('in production, no client has what only development allows', async (t) => {
  inEnvironment(t, 'production')
  for (const [proxies, trustProxy] of Object.entries(settings)) {
    const app = await start(t, trustProxy, { isProduction: true })
    for (const headers of [{}, { host: 'localhost' }, ...combinations]) {
      for (const path of ['/v1/things', '/reference'])
        t.not(
          (await app.inject({ url: path, headers: { host: 'localhost', ...headers } })).statusCode,
          200,
          `${proxies} ${path} ${JSON.stringify(headers)}`
        )
    }
  }
})

const own = ['localhost', 'localhost:1', 'a.localhost', '127.0.0.1', '127.1.2.3:65535', '[::1]', '[::1]:3000']
const foreign = [
  'rebind.attacker.example',
  'localhost.attacker.example',
  '127.0.0.1.nip.io',
  'localhost.',
  '127.0.0.1.',
  'localhost.localdomain',
  '0x7f000001',
  '2130706433',
  '0177.0.0.1',
  '127.1',
  '0.0.0.0',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::]',
  '10.0.0.1',
  'user@localhost',
  'localhost:99999',
  'localhost:x',
  '%6cocalhost',
  'host.docker.internal'
]
const paths = ['/v1/things', '/reference', '/metrics', '/health/ready']

/** Returns what a raw request of HTTP/1 gets: the status code and the body. */
async function http1(port: number, target: string, host: string) {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (bytes) => (text += String(bytes)))
  socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  await once(socket, 'close')
  return { status: Number(text.split(' ')[1]), text }
}

async function http2(port: number, path: string, host: string) {
  const client = connectHttp2(`http://127.0.0.1:${port}`)
  const stream = client.request({ ':path': path, ':authority': host })
  let text = ''
  let status = 0
  stream.on('response', (headers) => (status = Number(headers[':status'])))
  stream.on('data', (bytes) => (text += String(bytes)))
  await once(stream, 'close').catch(() => {})
  client.close()
  return { status, text }
}

for (const [protocol, server, request] of [
  ['HTTP/1', {}, http1],
  ['HTTP/2', { http2: true }, http2]
] as const) {
  for (const environment of ['development', 'production']) {
    t.test(
      `${environment} over ${protocol}: only names of this machine have privileges, so no page reaches them under its own name`,
      async (t) => {
        inEnvironment(t, environment)
        const app = await start(t, [], { isProduction: environment === 'production', server })
        await app.listen({ host: '127.0.0.1', port: 0 })
        const { port } = app.server.address() as AddressInfo
        const granted = async (path: string, host: string, target = path) => {
          const { status, text } = await request(port, target, host)
          return status === 200 && (path !== '/health/ready' || text.includes('"stores"'))
        }
        const inDevelopment = environment === 'development'
        for (const path of paths) {
          const isKept = path === '/metrics' || path === '/health/ready'
          for (const host of own) t.equal(await granted(path, host), inDevelopment || isKept, `${host}${path}`)
          for (const host of [...foreign, new URL(publicUrl).host]) t.equal(await granted(path, host), false, `${host}${path}`)
          if (protocol === 'HTTP/2') continue
          t.equal(await granted(path, 'localhost', `http://127.0.0.1:${port}${path}`), inDevelopment || isKept, `absolute ${path}`)
          for (const host of foreign) t.equal(await granted(path, 'localhost', `http://${host}${path}`), false, `http://${host}${path}`)
          t.equal(await granted(path, 'rebind.attacker.example', `http://localhost${path}`), false, `another Host than that of ${path}`)
        }
      }
    )
  }
}
