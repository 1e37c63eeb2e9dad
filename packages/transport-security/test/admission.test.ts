import { connect as connectHttp2 } from 'node:http2'
import { request as requestHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { inEnvironment } from '@concordat/test-harness/environment'
import transportSecurity, {
  type TransportSecurityOptions,
  type TransportSecurityServerOptions,
  transportSecurityServerOptions
} from '@concordat/transport-security'
import Fastify, { type FastifyContextConfig, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { generate } from 'selfsigned'
import t from 'tap'
import { CapturedLog } from './captured-log.ts'
import { localHttp } from './local-http.ts'
import { responseOf, send } from './raw-request.ts'

const proxy = '10.0.0.5'
const stranger = '198.51.100.7'
const overTls = { 'x-forwarded-proto': 'https' }

async function service(options: TransportSecurityOptions = {}, server: TransportSecurityServerOptions = { trustProxy: [proxy] }) {
  return addRoutes(Fastify(transportSecurityServerOptions(server)), options)
}

async function addRoutes(app: FastifyInstance, options: TransportSecurityOptions) {
  await app.register(transportSecurity, options)
  app.get('/', async ({ protocol, host, ip }) => ({ protocol, host, ip }))
  app.get('/health', { config: { directAccess: true } }, async () => ({}))
  app.post('/', async () => ({}))
  return app
}

async function statusOf(app: FastifyInstance, remoteAddress: string, headers: Record<string, string> = {}, url = '/') {
  const { statusCode, body } = await app.inject({ url, headers, remoteAddress })
  return statusCode < 400 ? statusCode : `${statusCode} ${JSON.parse(body).code}`
}

t.test('refuses plain HTTP with the security headers, also from this machine and for unknown paths and methods [S4]', async (t) => {
  const app = await service({}, {})
  for (const remoteAddress of ['127.0.0.1', '::1', stranger]) t.equal(await statusOf(app, remoteAddress), '403 HTTPS_REQUIRED')
  for (const [method, url] of [
    ['GET', '/unknown'],
    ['POST', '/'],
    ['DELETE', '/'],
    ['OPTIONS', '/']
  ] as const) {
    const response = await app.inject({ method, url })
    t.match([response.statusCode, response.json().code], [403, 'HTTPS_REQUIRED'], `${method} ${url}`)
    t.match(response.headers, { 'x-frame-options': 'DENY', 'request-id': /./, 'strict-transport-security': undefined })
  }
})

t.test('accepts a request that a trusted proxy received over https, and sends HSTS [S4] [S10]', async (t) => {
  const app = await service()
  const response = await app.inject({ url: '/', headers: overTls, remoteAddress: proxy })
  t.equal(response.statusCode, 200)
  t.match(response.headers, { 'strict-transport-security': /max-age/ })
  t.equal(await statusOf(app, proxy, { 'x-forwarded-proto': 'http' }), '403 HTTPS_REQUIRED')
  t.equal(await statusOf(app, proxy, { 'x-forwarded-proto': 'https, http' }), '403 HTTPS_REQUIRED', 'the value of the nearest proxy counts')
  t.equal(await statusOf(app, proxy, { 'x-forwarded-proto': 'javascript' }), '403 HTTPS_REQUIRED')
  t.equal(await statusOf(app, proxy), '403 HTTPS_REQUIRED', 'a proxy without X-Forwarded-Proto does not mean https')
})

t.test('trustProxy accepts addresses, ranges and names, and an IPv4 peer of an IPv6 socket is the same peer', async (t) => {
  const app = await service(
    {},
    {
      trustProxy: ['10.0.0.0/8', '172.16.0.0/255.240.0.0', '2001:db8:aaaa::/48', 'fc00::/7', 'fe80::/10', '::ffff:10.1.0.0/112', 'loopback']
    }
  )
  for (const [peer, status] of [
    ['10.9.8.7', 200],
    ['::ffff:10.9.8.7', 200],
    ['127.0.0.9', 200],
    ['::1', 200],
    ['2001:db8:aaaa:1::9', 200],
    ['2001:db8:bbbb::9', '403 HTTPS_REQUIRED'],
    ['11.0.0.1', '403 HTTPS_REQUIRED'],
    ['::ffff:11.0.0.1', '403 HTTPS_REQUIRED'],
    ['no address', '403 HTTPS_REQUIRED'],
    ['1'.repeat(50), '403 HTTPS_REQUIRED']
  ] as const) {
    t.equal(await statusOf(app, peer, overTls), status, peer)
    t.equal(await statusOf(app, peer, overTls), status, `${peer}, remembered`)
  }
})

t.test('distinguishes more addresses than the cache holds', async (t) => {
  const app = await service()
  const chain = Array.from({ length: 1200 }, (_, index) => `203.0.${index >> 8}.${index & 255}`)
  for (const address of chain)
    await app.inject({ url: '/', remoteAddress: proxy, headers: { ...overTls, 'x-forwarded-for': `1.1.1.1, ${address}` } })
  const response = await app.inject({ url: '/', remoteAddress: proxy, headers: { ...overTls, 'x-forwarded-for': '203.0.113.9' } })
  t.match(response.json(), { ip: '203.0.113.9' })
  t.equal(await statusOf(app, stranger, overTls), '403 HTTPS_REQUIRED')
})

t.test('ignores the forwarded headers of any other peer: protocol, host, address, log [S10]', async (t) => {
  const log = new CapturedLog()
  const options = { dangerouslyAllowHttp: true, remoteAddress: 'full' } as const
  const part = transportSecurityServerOptions({ trustProxy: [proxy] })
  const app = await addRoutes(Fastify({ ...part, logger: { stream: log.stream } }), options)
  log.text = ''
  const forged = {
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-for': '203.0.113.9',
    forwarded: 'for=203.0.113.9;proto=https;host=evil.example',
    'x-real-ip': '203.0.113.9'
  }
  for (const peer of [stranger, '127.0.0.1']) {
    const response = await app.inject({ url: '/', remoteAddress: peer, headers: { host: 'api.example.com', ...forged } })
    t.strictSame(response.json(), { protocol: 'http', host: 'api.example.com', ip: peer })
    t.equal(response.headers['strict-transport-security'], undefined)
    t.equal(log.lines.at(-1)?.['remoteAddress'], peer)
  }
  t.notMatch(log.text, /evil|203\.0\.113/)
  const believed = await app.inject({ url: '/', remoteAddress: proxy, headers: forged })
  t.strictSame(believed.json(), { protocol: 'https', host: 'evil.example', ip: '203.0.113.9' })
})

t.test('a server that terminates TLS itself needs no proxy, over HTTP/1.1 and HTTP/2 [S4]', async (t) => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }])
  const part = transportSecurityServerOptions()
  const one = await addRoutes(Fastify({ ...part, https: { key, cert } }), {
    allowedHosts: ['api.example.com']
  })
  const two = await addRoutes(Fastify({ ...part, http2: true, https: { key, cert } }) as unknown as FastifyInstance, {
    allowedHosts: ['api.example.com']
  })
  t.teardown(() => Promise.all([one.close(), two.close()]))
  for (const app of [one, two]) await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = one.server.address() as AddressInfo
  const status = await new Promise((resolve, reject) =>
    requestHttps({ port, host: '127.0.0.1', headers: { host: 'api.example.com' }, rejectUnauthorized: false, agent: false }, (response) =>
      resolve([response.resume().statusCode, typeof response.headers['strict-transport-security']])
    )
      .on('error', reject)
      .end()
  )
  t.strictSame(status, [200, 'string'])

  const client = connectHttp2(`https://127.0.0.1:${(two.server.address() as AddressInfo).port}`, { rejectUnauthorized: false })
  const statusFor = (authority: string) =>
    new Promise((resolve) =>
      client
        .request({ ':path': '/', ':authority': authority })
        .on('response', (headers) => resolve(headers[':status']))
        .resume()
    )
  t.equal(await statusFor('api.example.com'), 200)
  t.equal(await statusFor('evil.example'), 421)
  client.close()
})

t.test('refuses plain HTTP over HTTP/2', async (t) => {
  const app = await addRoutes(Fastify({ http2: true }) as unknown as FastifyInstance, {})
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const client = connectHttp2(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  const status = await new Promise((resolve) =>
    client
      .request({ ':path': '/' })
      .on('response', (headers) => resolve(headers[':status']))
      .resume()
  )
  t.equal(status, 403)
  client.close()
})

t.test('dangerouslyAllowHttp loopback allows only this machine, and no clients of a proxy on this machine', async (t) => {
  const app = await service(localHttp, { trustProxy: ['127.0.0.9'] })
  for (const [peer, headers, status] of [
    ['127.0.0.1', {}, 200],
    ['127.8.8.8', {}, 200],
    ['::1', {}, 200],
    ['::ffff:127.0.0.1', {}, 200],
    [stranger, {}, '403 HTTPS_REQUIRED'],
    ['::ffff:198.51.100.7', {}, '403 HTTPS_REQUIRED'],
    ['127.0.0.1.example', {}, '403 HTTPS_REQUIRED'],
    ['127.0.0.9', { 'x-forwarded-for': stranger }, '403 HTTPS_REQUIRED'],
    ['127.0.0.9', { 'x-forwarded-for': stranger, ...overTls }, 200],
    [stranger, { 'x-forwarded-for': '127.0.0.1' }, '403 HTTPS_REQUIRED'],
    ['127.0.0.1', { via: '1.1 proxy' }, '403 HTTPS_REQUIRED'],
    ['127.0.0.1', { host: 'rebind.attacker.example' }, '421 MISDIRECTED_REQUEST']
  ] as const) {
    t.equal(await statusOf(app, peer, headers), status, `${peer} ${JSON.stringify(headers)}`)
  }
  t.equal(await statusOf(await service({ dangerouslyAllowHttp: true }), stranger), 200)
  // The host of an https URL arrives over plain HTTP only through a proxy.
  for (const [publicUrl, status] of [
    ['http://shop.test:3000', 200],
    ['https://shop.test:3000', '403 HTTPS_REQUIRED']
  ] as const)
    t.equal(await statusOf(await service({ ...localHttp, publicUrl }), '127.0.0.1', { host: 'shop.test:3000' }), status, publicUrl)
})

t.test('dangerouslyAllowHttp logs a warning, and stops the start in production', async (t) => {
  for (const [dangerouslyAllowHttp, whom] of [
    ['loopback', /from this machine/],
    [true, /from any client/]
  ] as const) {
    const log = new CapturedLog()
    await Fastify({ ...transportSecurityServerOptions(), logger: { stream: log.stream } }).register(transportSecurity, {
      dangerouslyAllowHttp
    })
    t.match(log.lines, [{ level: 40, msg: whom }])
  }
  const quiet = new CapturedLog()
  await Fastify({ ...transportSecurityServerOptions(), logger: { stream: quiet.stream } }).register(transportSecurity, {
    dangerouslyAllowHttp: false
  })
  t.equal(quiet.text, '')
  inEnvironment(t, 'production')
  await t.rejects(service(localHttp), { name: 'TypeError', message: /options\.dangerouslyAllowHttp must be false in production/ })
  await t.rejects(service({ dangerouslyAllowHttp: true }), /options\.dangerouslyAllowHttp must be false in production/)
  await service()
})

t.test('a production server that would refuse every request warns at start, once, with the remedies [S4]', async (t) => {
  inEnvironment(t, 'production')
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], { keySize: 2048 })
  const remedies = /get 403, .* List the TLS proxy in trustProxy, set https .*, or set config\.directAccess on routes/
  const api = { '/orders': {} }
  const health = { '/health/live': { directAccess: true }, '/health/ready': { directAccess: true } }
  for (const [server, routes, says] of [
    [{}, api, /^transport-security: every request will get 403/],
    [{ trustProxy: [] }, api, remedies],
    [{ trustProxy: false }, api, remedies],
    [{ http2: true }, api, remedies],
    [{}, { ...api, ...health }, /every request, except to routes with config\.directAccess, will get 403/],
    [{}, { ...api, '/open': { directAccess: false } }, remedies],
    [{}, health, undefined],
    [{ trustProxy: ['10.0.0.0/8'] }, api, undefined],
    [transportSecurityServerOptions({ trustProxy: ['10.0.0.5'] }), api, undefined],
    [{ https: { key, cert } }, api, undefined],
    [{ http2: true, https: { key, cert } }, api, undefined]
  ] satisfies [object, Record<string, FastifyContextConfig>, RegExp | undefined][]) {
    const log = new CapturedLog()
    const app: FastifyInstance = Fastify({
      ...transportSecurityServerOptions(),
      ...server,
      logger: { stream: log.stream }
    } as FastifyServerOptions)
    t.teardown(() => app.close())
    await app.register(transportSecurity)
    for (const [url, config] of Object.entries(routes)) app.get(url, { config }, async () => ({}))
    await app.ready()
    const warnings = log.lines.filter(({ msg }) => String(msg).includes('403'))
    if (says === undefined) t.strictSame(warnings, [], JSON.stringify(Object.keys(server)))
    else t.match(warnings, [{ level: 40, msg: says }])
    const { statusCode } = await app.inject({ url: Object.keys(routes)[0] as string, remoteAddress: '203.0.113.1' })
    t.equal(statusCode, routes === health ? 200 : 403)
  }
})

t.test('the warning about refused requests is for production only', async (t) => {
  const log = new CapturedLog()
  const app = Fastify({ ...transportSecurityServerOptions(), logger: { stream: log.stream } })
  await addRoutes(app, {})
  await app.ready()
  t.equal(log.text, '')
})

async function startTrusting(trustProxy: FastifyServerOptions['trustProxy'], log: CapturedLog = new CapturedLog()) {
  const app = Fastify({ ...transportSecurityServerOptions(), trustProxy: trustProxy ?? false, logger: { stream: log.stream } })
  await app.register(transportSecurity)
  return log
}

t.test('a trustProxy that trusts every client stops the start in production, and logs a warning otherwise', async (t) => {
  const everyone: FastifyServerOptions['trustProxy'][] = [
    true,
    () => true,
    (_address, hop) => hop < 1,
    '0.0.0.0/1, 128.0.0.0/1',
    '127.0.0.1/1',
    ['2001:db8::/32']
  ]
  const some: FastifyServerOptions['trustProxy'][] = [
    false,
    ['10.0.0.0/8'],
    'loopback, 10.0.0.1',
    (address) => address === proxy,
    () => {
      throw new Error('broken')
    }
  ]
  for (const trustProxy of everyone)
    t.match((await startTrusting(trustProxy)).lines, [{ level: 40, msg: /trustProxy must not trust every client/ }], String(trustProxy))
  for (const trustProxy of some) t.equal((await startTrusting(trustProxy)).text, '', String(trustProxy))
  inEnvironment(t, 'production')
  for (const trustProxy of everyone)
    await t.rejects(startTrusting(trustProxy), { name: 'TypeError', message: /trustProxy must not trust every client\. List the proxies/ })
  for (const trustProxy of some) await startTrusting(trustProxy)
})

t.test('returns 421 for a host that is not on the list, in Host and in a trusted X-Forwarded-Host [S10]', async (t) => {
  const app = await service({
    allowedHosts: ['api.example.com', 'admin.example.com:8443', '*.shops.example.com'],
    publicUrl: 'https://public.example.com/shop'
  })
  const status = (headers: Record<string, string>) => statusOf(app, proxy, { ...overTls, ...headers })
  for (const host of ['api.example.com', 'API.Example.com:443', 'admin.example.com:8443', 'a.shops.example.com', 'public.example.com'])
    t.equal(await status({ host }), 200, host)
  for (const host of ['evil.example', 'api.example.com:80', 'admin.example.com', 'shops.example.com', 'example.com:', '127.0.0.1'])
    t.equal(await status({ host }), '421 MISDIRECTED_REQUEST', host)
  t.equal(await status({ host: 'internal', 'x-forwarded-host': 'api.example.com' }), 200)
  t.equal(await status({ host: 'api.example.com', 'x-forwarded-host': 'evil.example' }), '421 MISDIRECTED_REQUEST')
  t.equal(await status({ host: 'api.example.com', 'x-forwarded-host': 'api.example.com, evil.example' }), '421 MISDIRECTED_REQUEST')
})

t.test('ignores the forwarded host of an untrusted peer', async (t) => {
  const app = await service({ allowedHosts: ['api.example.com'], dangerouslyAllowHttp: true })
  t.equal(await statusOf(app, stranger, { host: 'api.example.com', 'x-forwarded-host': 'evil.example' }), 200)
  t.equal(await statusOf(app, stranger, { host: 'evil.example', 'x-forwarded-host': 'api.example.com' }), '421 MISDIRECTED_REQUEST')
})

t.test(
  'checks the host of an absolute target, accepts the asterisk, and refuses a missing, empty or malformed Host with 400 or 421',
  async (t) => {
    const app = await service({ allowedHosts: ['api.example.com'], dangerouslyAllowHttp: true })
    app.options('*', async () => 'all')
    t.teardown(() => app.close())
    await app.listen({ host: '127.0.0.1', port: 0 })
    const status = async (head: string) => Number((await responseOf(send(app, `${head}\r\nConnection: close\r\n\r\n`))).split(' ')[1])
    t.equal(await status('GET http://api.example.com/ HTTP/1.1\r\nHost: api.example.com'), 200)
    t.equal(await status('GET http://evil.example/ HTTP/1.1\r\nHost: api.example.com'), 421)
    t.equal(await status('GET http://user@api.example.com/ HTTP/1.1\r\nHost: api.example.com'), 400)
    t.equal(await status('GET http://evil.example/ HTTP/1.1\r\nHost:'), 400)
    for (const host of ['', ' ', 'a b', 'a<script>', '[::1', 'user@api.example.com', 'api.example.com:port', 'api.example.com:65536'])
      for (const [path, version] of [
        ['/', '1.1'],
        ['/', '1.0'],
        ['/health', '1.1']
      ])
        t.equal(await status(`GET ${path} HTTP/${version}\r\nHost: ${host}`), 400, `${path} by HTTP/${version} with Host: ${host}`)
    t.equal(await status('OPTIONS * HTTP/1.1\r\nHost: api.example.com'), 200)
    t.equal(await status('GET / HTTP/1.1'), 400)
    t.equal(await status('GET / HTTP/1.0'), 421)
    t.equal(await status('GET /health HTTP/1.0'), 200)
    Object.assign(app.server, { requireHostHeader: false })
    t.equal(await status('GET / HTTP/1.1'), 400, 'a server where Node.js accepts requests without a Host')
  }
)

t.test('accepts every host without allowedHosts', async (t) => {
  t.equal(await statusOf(await service({ publicUrl: 'https://api.example.com' }), proxy, { ...overTls, host: 'other.example' }), 200)
})

t.test('directAccess accepts requests by address and over plain HTTP, and only for its route', async (t) => {
  const app = await service({ allowedHosts: ['api.example.com'] })
  t.equal(await statusOf(app, stranger, { host: '10.0.0.7:3000' }, '/health'), 200)
  t.equal((await app.inject({ method: 'HEAD', url: '/health', remoteAddress: stranger })).statusCode, 200)
  t.equal(await statusOf(app, stranger, { host: '10.0.0.7:3000' }), '421 MISDIRECTED_REQUEST')
  t.equal(await statusOf(app, stranger, { host: 'api.example.com' }), '403 HTTPS_REQUIRED')
})

t.test('rejects invalid options at start with a one-line message', async (t) => {
  const refused: [unknown, RegExp][] = [
    [{ dangerouslyAllowHttp: 'localhost' }, /options\.dangerouslyAllowHttp must be "loopback" or true or false, but is "localhost"\.$/],
    [{ allowedHosts: ['https://api.example.com'] }, /allowedHosts contains the invalid host "https:\/\/api\.example\.com"/],
    [{ hiddenFields: 'iban' }, /options\.hiddenFields must be an array of names, .*but is "iban"/],
    [{ hiddenFields: [''] }, /options\.hiddenFields must be an array of names, .*but is \[""\]/]
  ]
  for (const [options, message] of refused) {
    await t.rejects(service(options as TransportSecurityOptions), { name: 'TypeError', message }, JSON.stringify(options))
  }
  for (const [trustProxy, message] of [
    [true, /options\.trustProxy must be an array/],
    [1, /options\.trustProxy must be an array/],
    ['10.0.0.0/8', /options\.trustProxy must be an array/],
    [['proxy.internal'], /options\.trustProxy contains an invalid IP address: proxy\.internal\. Use addresses/],
    [['gateway', '10.0.0.0/8'], /options\.trustProxy must contain nothing else beside 'gateway'\. Remove the other entries\.$/],
    ...['1', '10.1', '010.0.0.1', '0x7f.0.0.1', '10.0.0.1:80', '10.0.0.0/08', '10.0.0.0/8/8', '', 'Loopback', 1].map(
      (range) => [[range], /options\.trustProxy contains an invalid IP address: .*\. Use addresses/] as const
    ),
    [['10.0.0.0/33'], /options\.trustProxy contains an invalid range/],
    [['0.0.0.0/0'], /options\.trustProxy contains an invalid range/],
    ...[
      '0.0.0.0/1',
      '128.0.0.0/1',
      '127.0.0.1/1',
      '8.0.0.0/7',
      '10.0.0.0/254.0.0.0',
      '2000::/3',
      '2400::/12',
      'f000::/4',
      '::/1',
      '::ffff:10.0.0.0/103'
    ].map(
      (range) =>
        [[range], new RegExp(`options\\.trustProxy contains "${range}", a range that includes arbitrary clients\\. List only`)] as const
    )
  ] as const)
    t.throws(
      () => transportSecurityServerOptions({ trustProxy } as TransportSecurityServerOptions),
      { name: 'TypeError', message },
      String(trustProxy)
    )
})
