import { contributions } from '@concordat/plugin-kit/wiring'
import transportSecurity, { type TransportSecurityOptions } from '@concordat/transport-security'
import helmet from '@fastify/helmet'
import Fastify, { type InjectOptions } from 'fastify'
import t from 'tap'
import { localHttp } from './local-http.ts'

const block = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY'
}
const hsts = { 'strict-transport-security': 'max-age=63072000; includeSubDomains' }
const overTls = { 'x-forwarded-proto': 'https' }

async function service(options: TransportSecurityOptions = {}) {
  const app = Fastify({ trustProxy: ['127.0.0.1'] })
  await app.register(transportSecurity, { ...localHttp, ...options })
  app.get('/', async () => ({}))
  app.get('/broken', async () => {
    throw new Error('broken')
  })
  app.get('/empty', (_, reply) => reply.code(204).send())
  app.get('/elsewhere', (_, reply) => reply.redirect('/'))
  app.get('/text', (_, reply) => reply.headers({ 'X-Frame-Options': 'SAMEORIGIN' }).removeHeader('referrer-policy').send('text'))
  return app
}

// Returns the response headers without those that Fastify and Node.js always send.
async function headersOf(app: Awaited<ReturnType<typeof service>>, request: InjectOptions) {
  const { headers } = await app.inject(request)
  for (const name of ['content-type', 'content-length', 'date', 'connection', 'location', 'request-id']) delete headers[name]
  return headers
}

t.test('every response has the headers, whatever its status code and method [U11]', async (t) => {
  const app = await service()
  for (const request of [
    { url: '/' },
    { url: '/broken' },
    { url: '/empty' },
    { url: '/elsewhere' },
    { url: '/unknown' },
    { url: '/', method: 'HEAD' as const },
    { url: '/', method: 'POST' as const, payload: '{', headers: { 'content-type': 'application/json' } }
  ]) {
    t.strictSame(await headersOf(app, request), block, JSON.stringify(request))
    t.match((await app.inject(request)).headers['request-id'], /^[\da-f-]{36}$/)
  }
})

t.test('sends strict-transport-security only over https [U11]', async (t) => {
  t.strictSame(await headersOf(await service(), { url: '/', headers: overTls }), { ...block, ...hsts })
})

t.test('headers that a handler sets or removes take precedence', async (t) => {
  const { 'referrer-policy': _, ...rest } = block
  t.strictSame(await headersOf(await service(), { url: '/text' }), { ...rest, 'x-frame-options': 'SAMEORIGIN' })
})

t.test('the headers have the values of @fastify/helmet', async (t) => {
  const official = Fastify()
  await official.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    frameguard: { action: 'deny' },
    hsts: { maxAge: 63_072_000, includeSubDomains: true }
  })
  official.get('/', async () => ({}))
  const wanted = await headersOf(official, { url: '/' })
  const own = await headersOf(await service(), { url: '/', headers: overTls })
  t.strictSame({ ...wanted, ...own }, wanted)
})

t.test('options.overrides replaces, adds and removes headers', async (t) => {
  const app = await service({
    overrides: {
      'X-Frame-Options': 'SAMEORIGIN',
      'permissions-policy': 'camera=()',
      'referrer-policy': false,
      'strict-transport-security': 'max-age=60'
    }
  })
  const { 'referrer-policy': _, ...rest } = block
  const wanted = { ...rest, 'x-frame-options': 'SAMEORIGIN', 'permissions-policy': 'camera=()' }
  t.strictSame(await headersOf(app, { url: '/' }), wanted)
  t.strictSame(await headersOf(app, { url: '/', headers: overTls }), { ...wanted, 'strict-transport-security': 'max-age=60' })
})

t.test('contentSecurityPolicy sets the policy of a route, and does not change other headers and other routes [U11]', async (t) => {
  const app = await service()
  const early: unknown[] = []
  const policies = {
    '/page': {
      scriptSrc: ["'self'", "'sha256-5N2S7m5bX9r8gM2mYw0Vf6zE3mGkzM0m8f9Hc0m8qVI='"],
      styleSrc: ["'self'"],
      connectSrc: undefined
    },
    '/framed': { frameAncestors: ["'self'"], upgradeInsecureRequests: [] },
    '/text': " default-src 'self' "
  }
  for (const [url, contentSecurityPolicy] of Object.entries(policies).slice(0, 2))
    app.get(
      url,
      {
        config: { contentSecurityPolicy },
        onRequest: (_request, reply, done) => done(void early.push(reply.getHeader('x-frame-options')))
      },
      (_, reply) => reply.type('text/html').send('')
    )
  app.get('/whole', { config: { contentSecurityPolicy: policies['/text'] } }, async () => ({}))
  app.get('/refused', { config: { contentSecurityPolicy: policies['/text'] } }, async () => {
    throw new Error('broken')
  })
  for (const [url, policy] of Object.entries({
    '/page':
      "default-src 'none';frame-ancestors 'none';script-src 'self' 'sha256-5N2S7m5bX9r8gM2mYw0Vf6zE3mGkzM0m8f9Hc0m8qVI=';style-src 'self'",
    '/framed': "default-src 'none';frame-ancestors 'self';upgrade-insecure-requests",
    '/whole': "default-src 'self'",
    '/refused': "default-src 'self'",
    '/': block['content-security-policy']
  })) {
    for (const method of ['GET', 'HEAD'] as const)
      t.strictSame(await headersOf(app, { url, method }), { ...block, 'content-security-policy': policy }, `${method} ${url}`)
  }
  t.match(early, ['DENY', 'DENY', 'DENY', 'DENY'], 'the hooks of the route still run')
})

t.test('rejects an invalid policy at start and names the route', async (t) => {
  for (const [contentSecurityPolicy, message] of [
    ['', /: contentSecurityPolicy of GET \/page is invalid: it is empty\./],
    ['default-src\n', /is invalid/],
    ["default-src 'self'\nscript-src *", /is invalid: Invalid character/],
    [true, /is invalid: it is true\./],
    [null, /is invalid: it is null\./],
    [{ scriptSrc: "'self'" }, /is invalid: scriptSrc must have a list of sources\./],
    [
      { 'script-src': ["'self'"] },
      /GET \/page: config\.contentSecurityPolicy\["script-src"\] is unknown\. Did you mean config\.contentSecurityPolicy\.scriptSrc\?$/
    ],
    [{ scriptSrc: ["'self'; object-src *"] }, /is invalid: .*Use directives,/]
  ] as const) {
    const app = await service()
    app.get('/page', { config: { contentSecurityPolicy: contentSecurityPolicy as unknown as string } }, async () => ({}))
    const start = async () => {
      await app.ready()
    }
    if (contentSecurityPolicy === 'default-src\n') await t.resolves(start(), 'surrounding whitespace is removed')
    else await t.rejects(start(), { name: 'TypeError', message }, JSON.stringify(contentSecurityPolicy))
  }
})

t.test('rejects invalid headers and options at start with a one-line message', async (t) => {
  const refused: [unknown, RegExp][] = [
    [{ overrides: { 'x frame': 'DENY' } }, /options\.overrides contains an invalid header, "x frame": "DENY".*Use a valid header name/],
    [
      { overrides: { 'x-frame-options': 'DENY\r\nset-cookie: a' } },
      /options\.overrides contains an invalid header, "x-frame-options": "DENY\\r\\n/
    ],
    [{ overrides: { 'x-frame-options': '' } }, /options\.overrides contains an invalid header, "x-frame-options": ""/],
    [{ overrides: { 'x-frame-options': true } }, /options\.overrides contains an invalid header, "x-frame-options": true/],
    [
      { overrides: { 'x-frame-option': false } },
      /options\.overrides removes "x-frame-option", which is not sent anyway\. The headers that can be removed are: .*x-frame-options/
    ],
    [
      { overrides: { Vary: 'accept' } },
      /options\.overrides must not contain "vary", whose value differs between responses\. Set it on the reply\.$/
    ],
    [{ overrides: { 'request-id': false } }, /options\.overrides removes "request-id", which is not sent/],
    [{ remoteAddress: 'half' }, /options\.remoteAddress must be "none" or "truncate" or "full", but is "half"\.$/]
  ]
  for (const [options, message] of refused) {
    await t.rejects(service(options as TransportSecurityOptions), { name: 'TypeError', message }, JSON.stringify(options))
  }
})

t.test('contributes the same headers for responses without hooks, with a new id or the id of the request [H2]', async (t) => {
  const [headersFor] = contributions(await service({ overrides: { 'referrer-policy': false } }), 'earlyHeaders')
  const { 'referrer-policy': _, ...rest } = block
  const { 'request-id': first, ...headers } = headersFor?.({ headers: {} }) ?? {}
  t.strictSame(headers, rest)
  t.match(first, /^[\da-f-]{36}$/)
  t.not(headersFor?.({ headers: {} })['request-id'], first)
  t.strictSame(headersFor?.({ headers: {}, id: 'seven', protocol: 'https' }), { ...rest, ...hsts, 'request-id': 'seven' })
})
