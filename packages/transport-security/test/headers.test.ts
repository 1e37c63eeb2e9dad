import transportSecurity, { answerHeaders, type TransportSecurityOptions } from '@concordat/transport-security'
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

// The headers of the answer that are not there anyhow.
async function headersOf(app: Awaited<ReturnType<typeof service>>, request: InjectOptions) {
  const { headers } = await app.inject(request)
  for (const name of ['content-type', 'content-length', 'date', 'connection', 'location', 'request-id']) delete headers[name]
  return headers
}

t.test('every answer carries the headers, whatever its status and method [U11]', async (t) => {
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

t.test('strict-transport-security is sent over https, and only there [U11]', async (t) => {
  t.strictSame(await headersOf(await service(), { url: '/', headers: overTls }), { ...block, ...hsts })
})

t.test('what a handler sets or removes wins', async (t) => {
  const { 'referrer-policy': _, ...rest } = block
  t.strictSame(await headersOf(await service(), { url: '/text' }), { ...rest, 'x-frame-options': 'SAMEORIGIN' })
})

t.test('the full set is what @fastify/helmet sends, value for value', async (t) => {
  const official = Fastify()
  await official.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    frameguard: { action: 'deny' },
    hsts: { maxAge: 63_072_000, includeSubDomains: true }
  })
  official.get('/', async () => ({}))
  const wanted = await headersOf(official, { url: '/' })
  t.equal(Object.keys(wanted).length, 12)
  t.strictSame(await headersOf(await service({ headers: 'full' }), { url: '/', headers: overTls }), wanted)
})

t.test('single headers are replaced, added and left out by option', async (t) => {
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

t.test('a route has a policy of its own, for a page that loads something; other headers and other routes keep theirs [U11]', async (t) => {
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
  t.match(early, ['DENY', 'DENY', 'DENY', 'DENY'], 'hooks of the route itself still run')
})

t.test('a policy that is none stops the start and names the route', async (t) => {
  for (const [contentSecurityPolicy, message] of [
    ['', /the contentSecurityPolicy of GET \/page is none: it is empty/],
    ['default-src\n', /is none/],
    ["default-src 'self'\nscript-src *", /is none: Invalid character/],
    [true, /is none: it is true\./],
    [null, /is none: it is null\./],
    [{ scriptSrc: "'self'" }, /is none: scriptSrc has no list of sources\./],
    [{ 'script-src': ["'self'"] }, /is none: script-src is no directive\. Give directives/],
    [{ scriptSrc: ["'self'; object-src *"] }, /is none: .*Give directives/]
  ] as const) {
    const app = await service()
    const add = () => app.get('/page', { config: { contentSecurityPolicy: contentSecurityPolicy as unknown as string } }, async () => ({}))
    if (contentSecurityPolicy === 'default-src\n') t.doesNotThrow(add, 'blanks around it are cut off')
    else t.throws(add, { name: 'TypeError', message }, JSON.stringify(contentSecurityPolicy))
  }
})

t.test('headers that can not be sent to everyone are refused at boot, with one line that says why', async (t) => {
  const refused: [unknown, RegExp][] = [
    [{ headers: 'all' }, /headers is "all"\. Choose 'api' or 'full'\.$/],
    [{ overrides: { 'x frame': 'DENY' } }, /overrides has "x frame": "DENY".*Give a header name and a text/],
    [{ overrides: { 'x-frame-options': 'DENY\r\nset-cookie: a' } }, /overrides has "x-frame-options": "DENY\\r\\n/],
    [{ overrides: { 'x-frame-options': '' } }, /overrides has "x-frame-options": ""/],
    [{ overrides: { 'x-frame-options': true } }, /overrides has "x-frame-options": true/],
    [{ overrides: { 'x-frame-option': false } }, /leaves out "x-frame-option", which is not sent\. Sent are: .*x-frame-options/],
    [{ overrides: { Vary: 'accept' } }, /overrides has "vary", which differs from answer to answer\. Set it on the reply\.$/],
    [{ overrides: { 'request-id': false } }, /leaves out "request-id", which is not sent/],
    [{ remoteAddress: 'half' }, /remoteAddress is "half"\. Choose 'none', 'truncate' or 'full'\.$/],
    [{ serializers: { user: 'name' } }, /the serializer "user" is no function/]
  ]
  for (const [options, message] of refused) {
    await t.rejects(service(options as TransportSecurityOptions), { name: 'TypeError', message }, JSON.stringify(options))
  }
})

t.test('an answer that no hook sees gets the same headers and an id of its own, or that of its request [H2]', async (t) => {
  const headersFor = answerHeaders({ overrides: { 'referrer-policy': false } })
  const { 'referrer-policy': _, ...rest } = block
  const { 'request-id': first, ...headers } = headersFor()
  t.strictSame(headers, rest)
  t.match(first, /^[\da-f-]{36}$/)
  t.not(headersFor()['request-id'], first)
  t.strictSame(headersFor({ id: 'seven', protocol: 'https' }), { ...rest, ...hsts, 'request-id': 'seven' })
  t.match(answerHeaders()({ protocol: 'http' }), block)
  t.throws(() => answerHeaders({ overrides: { vary: 'accept' } }), /overrides has "vary"/)
})
