import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { mock } from 'node:test'
import { crc32 } from 'node:zlib'
import authentication, { type ApiKeyStore, createApiKey, memoryApiKeyStore } from '@concordat/authentication'
import { apiKeyStoreContract } from '@concordat/authentication/testing'
import { casesOf } from '@concordat/test-harness/contract-cases'
import Fastify from 'fastify'
import t from 'tap'
import { ownIssuer, permissions, service } from './service.ts'

const challenge = 'Bearer realm="api"'
const invalidRequest = `${challenge}, error="invalid_request"`

t.test('returns 401 without credentials, with a challenge that names no error [U1]', async (t) => {
  const { app } = await service()
  for (const headers of [{}, { authorization: '' }, { cookie: '__Host-token=x' }, { 'x-api-key': 'ak_x' }]) {
    const response = await app.inject({ url: '/orders', headers })
    t.equal(response.statusCode, 401, JSON.stringify(headers))
    t.equal(response.json().code, 'AUTHENTICATION_REQUIRED')
    t.equal(response.headers['www-authenticate'], challenge)
  }
})

t.test('returns 401 with the Bearer challenge for Basic and every other scheme [U5]', async (t) => {
  const { app } = await service()
  const right = Buffer.from('ada:secret').toString('base64')
  for (const authorization of [
    `Basic ${right}`,
    'basic eDp5',
    'Digest username="a"',
    'Negotiate abc',
    'Token abc',
    'ApiKey ak_x',
    'abc',
    'Bearer\tabc'
  ]) {
    const response = await app.inject({ url: '/orders', headers: { authorization } })
    t.equal(response.statusCode, 401, authorization)
    t.equal(response.json().code, 'AUTHENTICATION_REQUIRED')
    t.equal(response.headers['www-authenticate'], challenge)
  }
})

t.test('accepts the scheme in any case, followed by spaces', async (t) => {
  const { app, kit } = await service()
  for (const scheme of ['bearer', 'BEARER', 'Bearer  ']) {
    const authorization = `${scheme} ${kit.token({ scope: 'orders:read' })}`
    t.equal((await app.inject({ url: '/orders', headers: { authorization } })).statusCode, 200, scheme)
  }
})

t.test('returns 400 invalid_request for Bearer without a token and for two credentials in one header', async (t) => {
  const { app, kit } = await service()
  const token = kit.token({ scope: 'orders:read' })
  for (const authorization of ['Bearer', 'Bearer ', `Bearer ${token}, Bearer ${token}`, `Bearer ${token},Basic eDp5`]) {
    const response = await app.inject({ url: '/orders', headers: { authorization } })
    t.equal(response.statusCode, 400, authorization)
    t.equal(response.json().code, 'INVALID_AUTHORIZATION')
    t.equal(response.headers['www-authenticate'], invalidRequest)
  }
})

t.test('returns 400 for credentials in two places, valid or not', async (t) => {
  const { key, record } = createApiKey({ client: 'kiosk', permissions: ['orders:read'] })
  const apiKeys = { store: memoryApiKeyStore([record]), permissions: ['orders:read'] }
  const { app, kit } = await service({ apiKeys, cookie: { name: '__Host-token', origins: [] } })
  const token = kit.token({ scope: 'orders:read' })
  const bearer = { authorization: `Bearer ${token}` }
  for (const headers of [
    { ...bearer, 'x-api-key': key },
    { ...bearer, cookie: `__Host-token=${token}` },
    { 'x-api-key': key, cookie: `a=b; __Host-token=${token}` },
    { cookie: `__Host-token=${token}; __Host-token=${token}` },
    { authorization: 'Basic eDp5', 'x-api-key': key }
  ]) {
    const response = await app.inject({ url: '/orders', headers })
    t.equal(response.statusCode, 400, Object.keys(headers).join(' and '))
    t.equal(response.headers['www-authenticate'], invalidRequest)
  }
})

t.test('returns 400 for two Authorization headers on the wire, although Node keeps only the first', async (t) => {
  const { app, kit } = await service()
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const bearer = `Bearer ${kit.token({ scope: 'orders:read' })}`
  const send = async (...lines: string[]) => {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    socket.end(['GET /orders HTTP/1.1', 'Host: a', 'Connection: close', ...lines, '', ''].join('\r\n'))
    return (await text(socket)).slice(9, 12)
  }
  t.equal(await send(`Authorization: ${bearer}`), '200')
  t.equal(await send(`Authorization: ${bearer}`, 'AUTHORIZATION: Basic eDp5'), '400')
  t.equal(await send(`Authorization: ${bearer}`, `authorization: ${bearer}`), '400')
})

t.test('returns 400 for credentials in the URL before any other check, and does not repeat them [U7]', async (t) => {
  const { app, kit } = await service()
  const token = kit.token({ scope: 'orders:read' })
  for (const url of [
    ...['access_token', 'api_key', 'auth_token', 'authorization', 'client_secret', 'id_token', 'jwt', 'password', 'token'].map(
      (name) => `/orders?page=1&${name}=${token}`
    ),
    `/orders?ACCESS-TOKEN=${token}`,
    `/orders?apiKey=${token}`,
    `/orders?%61ccess%5Ftoken=${token}`,
    `/orders?token`,
    `/orders?a=b;token=${token}`,
    `/orders;token=${token}`,
    `/orders?next=/x?token=${token}`,
    `/orders?token[]=${token}`,
    `/nowhere?token=${token}`,
    `/public?access_token=${token}`
  ]) {
    const response = await app.inject({ url, headers: kit.headers({ scope: 'orders:read' }) })
    t.equal(response.statusCode, 400, url.replace(token, '…'))
    t.equal(response.json().code, 'CREDENTIALS_IN_URI')
    t.notOk(response.body.includes(token))
  }
})

t.test('returns 400 for user and password before the host, on the wire [U7]', async (t) => {
  const { app } = await service()
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const send = async (target: string) => {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    socket.end(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    return text(socket)
  }
  t.match(await send('http://ada:S3CRET@a/public'), /^HTTP\/1.1 400[^]*CREDENTIALS_IN_URI/)
  t.notMatch(await send('http://ada:S3CRET@a/public'), 'S3CRET')
  t.match(await send('/public#token=S3CRET'), /^HTTP\/1.1 400[^]*CREDENTIALS_IN_URI/)
  t.match(await send('http://a/public?mail=ada@example.com'), /^HTTP\/1.1 200/)
})

t.test('accepts parameters with similar names, and reads the list from an option', async (t) => {
  const { app } = await service()
  for (const url of [
    '/public?page=2',
    '/public?tokens=1',
    '/public?code=a&key=b&sort=-token',
    '/public?filter[status]=token',
    '/public?%zz=%',
    '/public?'
  ]) {
    t.equal((await app.inject(url)).statusCode, 200, url)
  }
})

t.test('returns 404 for unknown URLs, with and without credentials', async (t) => {
  const { app, kit } = await service()
  t.equal((await app.inject('/nowhere')).statusCode, 404)
  t.equal((await app.inject({ url: '/nowhere', headers: { authorization: 'Bearer x' } })).statusCode, 404)
  t.equal((await app.inject({ url: '/orders', method: 'DELETE', headers: kit.headers() })).statusCode, 404)
})

t.test('refuses invalid credentials on a public route, and accepts none; a valid token makes no principal', async (t) => {
  const { key } = createApiKey({ client: 'kiosk', permissions: ['orders:read'] })
  const { app, kit } = await service(
    { apiKeys: { store: memoryApiKeyStore([]), permissions: ['orders:read'] }, cookie: { name: '__Host-session', origins: [] } },
    {
      routes: (app) => {
        app.post('/tokens', { config: { public: 'ignoring-credentials' } }, async ({ principal }) => ({ principal }))
        const operational: object = { public: true, operational: true }
        app.get('/health', { config: operational }, async ({ principal }) => ({ principal }))
      }
    }
  )
  const past = Math.floor(Date.now() / 1000) - 1000
  const expired = kit.headers({ iat: past, nbf: past, exp: past + 300 }).authorization
  for (const [headers, expected] of [
    [{}, 200],
    [kit.headers(), 200],
    [{ authorization: expired }, 'TOKEN_EXPIRED'],
    [{ authorization: 'Bearer x' }, 'INVALID_TOKEN'],
    [{ authorization: 'Bearer' }, 'INVALID_AUTHORIZATION'],
    [{ authorization: 'Basic eDp5' }, 'AUTHENTICATION_REQUIRED'],
    [{ 'x-api-key': key }, 'INVALID_API_KEY'],
    [{ ...kit.headers(), 'x-api-key': key }, 'INVALID_AUTHORIZATION'],
    [{ cookie: '__Host-session=x' }, 200],
    [{ ...kit.headers(), cookie: '__Host-session=x' }, 200]
  ] as [Record<string, string>, string | number][]) {
    const response = await app.inject({ url: '/public', headers })
    t.equal(response.statusCode === 200 ? 200 : response.json().code, expected, JSON.stringify(headers).slice(0, 60))
    if (expected === 200) t.equal(response.json().principal, null)
    for (const [method, url] of [
      ['POST', '/tokens'],
      ['GET', '/health']
    ] as const)
      t.strictSame((await app.inject({ method, url, headers })).json(), { principal: null }, `${url} ignores them`)
  }
})

t.test('a public route still responds when credentials cannot be verified', async (t) => {
  const { key } = createApiKey({ client: 'kiosk', permissions: ['orders:read'] })
  const store: ApiKeyStore = { ...memoryApiKeyStore([]), find: async () => Promise.reject(new Error('down')) }
  const { app } = await service({ apiKeys: { store, permissions: ['orders:read'] } })
  const headers = { 'x-api-key': key }
  t.match((await app.inject({ url: '/orders', headers })).json(), { statusCode: 503, code: 'AUTHENTICATION_UNAVAILABLE' })
  t.match(await app.inject({ url: '/public', headers }), { statusCode: 200 })
})

t.test('authenticates a client application by API key, never a user, with low-risk permissions only [U6]', async (t) => {
  const { key, record } = createApiKey({ client: 'kiosk', permissions: ['orders:read', 'orders:create', 'staff', 'orders:*'] })
  t.notOk(JSON.stringify(record).includes(key.slice(12, -9)), 'the secret is not in the record')
  for (const [header, headers] of [
    ['x-api-key', { 'x-api-key': key }],
    ['x-client', { 'x-client': key }],
    ['authorization', { authorization: `ApiKey ${key}` }]
  ] as const) {
    const apiKeys = { store: memoryApiKeyStore([record]), permissions: ['orders:read', 'products:read'], header }
    const { app } = await service({ apiKeys, roles: { staff: ['orders:*'] } })
    const response = await app.inject({ url: '/orders', headers })
    t.equal(response.statusCode, 200, header)
    t.strictSame(response.json(), { kind: 'client', issuer: 'api-key', client: 'kiosk', permissions: ['orders:read'], roles: [] })
    t.equal((await app.inject({ url: '/orders', method: 'POST', headers })).statusCode, 403)
    if (header !== 'authorization')
      t.equal((await app.inject({ url: '/orders', headers: { [header]: [key, key] } })).statusCode === 200, false)
  }
})

t.test('returns 401 for a wrong API key and looks up only well-formed keys', async (t) => {
  const { key, record } = createApiKey({ client: 'kiosk', permissions: ['orders:read'] })
  const expired = createApiKey({ client: 'kiosk', permissions: ['orders:read'], expiresAt: Date.now() - 1 })
  const unknown = createApiKey({ client: 'kiosk', permissions: ['orders:read'] })
  // Records that a migration or a column that is too short has changed.
  const changes = [{ secretHash: 'short' }, { secretHash: '' }, { secretHash: record.secretHash }, { expiresAt: 0 }]
  const stored = changes.map((change) => {
    const made = createApiKey({ client: 'kiosk', permissions: ['orders:read'] })
    return { key: made.key, record: { ...made.record, ...change } }
  })
  const cut = createApiKey({ client: 'kiosk', permissions: ['orders:read'] })
  stored.push({ ...cut, record: { ...cut.record, secretHash: cut.record.secretHash.slice(0, 22) } })
  const memory = memoryApiKeyStore([record, expired.record, ...stored.map((one) => one.record)])
  const requested: string[] = []
  const store: ApiKeyStore = { ...memory, find: (id) => (requested.push(id), memory.find(id)) }
  const { app, kit } = await service({ apiKeys: { store, permissions: ['orders:read'] } })
  const send = (key: string) => app.inject({ url: '/orders', headers: { 'x-api-key': key } })

  t.equal((await send(key)).statusCode, 200)
  const swapped = unknown.key.replace(unknown.record.id, record.id)
  for (const wrong of [
    'x',
    key.slice(0, -1),
    `${key}0`,
    `${key.slice(0, -8)}00000000`,
    key.toUpperCase(),
    swapped,
    kit.token(),
    'ak_',
    '\u00e9'
  ]) {
    const response = await send(wrong)
    t.equal(response.statusCode, 401, wrong)
    t.equal(response.json().code, 'INVALID_API_KEY')
    t.equal(response.headers['www-authenticate'], challenge)
  }
  t.strictSame(requested, [record.id])
  // The stored hash is not a secret: a stolen database contains it.
  const forged = [randomBytes(32).toString('base64url'), record.secretHash].map((secret) => {
    const body = `ak_${record.id}_${secret}`
    return { key: `${body}_${crc32(body).toString(16).padStart(8, '0')}` }
  })
  for (const { key } of [expired, unknown, ...forged, ...stored]) t.equal((await send(key)).json().code, 'INVALID_API_KEY')
  t.equal(requested.length, 10)
})

t.test('rejects a key in place of a token and a token in place of a key, also when they are cached', async (t) => {
  const { key, record } = createApiKey({ client: 'kiosk', permissions: ['orders:read'] })
  const { app, kit } = await service({ apiKeys: { store: memoryApiKeyStore([record]), permissions: ['orders:read'] } })
  const token = kit.token({ scope: 'orders:read' })
  t.equal((await app.inject({ url: '/orders', headers: { 'x-api-key': key } })).statusCode, 200)
  t.equal((await app.inject({ url: '/orders', headers: { authorization: `Bearer ${token}` } })).statusCode, 200)
  t.equal((await app.inject({ url: '/orders', headers: { 'x-api-key': token } })).statusCode, 401)
  t.equal((await app.inject({ url: '/orders', headers: { authorization: `Bearer ${key}` } })).statusCode, 401)
})

t.test('caches a key for a short time and returns 503 when its store fails', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: Date.now() })
  t.teardown(() => mock.timers.reset())
  const { key, record } = createApiKey({ client: 'kiosk', permissions: ['orders:read'] })
  const memory = memoryApiKeyStore([record])
  let down = false
  const store: ApiKeyStore = { ...memory, find: (id) => (down ? Promise.reject(new Error('down')) : memory.find(id)) }
  const { app } = await service({ apiKeys: { store, permissions: ['orders:read'] } })
  const send = () => app.inject({ url: '/orders', headers: { 'x-api-key': key } })
  t.equal((await send()).statusCode, 200)
  down = true
  t.equal((await send()).statusCode, 200)
  mock.timers.tick(10_000)
  const response = await send()
  t.equal(response.statusCode, 503)
  t.equal(response.json().code, 'AUTHENTICATION_UNAVAILABLE')
  t.equal(response.headers['retry-after'], '1')
  down = false
  await memory.remove(record.id)
  t.equal((await send()).statusCode, 401)
})

t.test('a cached key ends with its expiry, and after 10 seconds', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: Date.now() })
  t.teardown(() => mock.timers.reset())
  for (const [lifetimeMs, cachedMs] of [
    [3000, 3000],
    [60_000, 10_000]
  ] as const) {
    const { key, record } = createApiKey({ client: 'kiosk', permissions: ['orders:read'], expiresAt: Date.now() + lifetimeMs })
    const memory = memoryApiKeyStore([record])
    let found = 0
    const store: ApiKeyStore = { ...memory, find: (id) => ((found += 1), memory.find(id)) }
    const { app } = await service({ apiKeys: { store, permissions: ['orders:read'] } })
    const status = async () => (await app.inject({ url: '/orders', headers: { 'x-api-key': key } })).statusCode
    t.strictSame([await status(), await status()], [200, 200])
    mock.timers.tick(cachedMs - 1)
    t.equal(await status(), 200)
    t.equal(found, 1)
    mock.timers.tick(1)
    t.equal(await status(), lifetimeMs === 3000 ? 401 : 200)
    t.equal(found, 2)
  }
})

t.test('passes the contract with the store in memory', async (t) => {
  apiKeyStoreContract(casesOf(t), () => memoryApiKeyStore())
})

t.test('accepts a cookie for reads, and for changes only from allowed pages [U12]', async (t) => {
  const { app, kit } = await service({ cookie: { name: '__Host-token', origins: ['https://app.example.com'] } })
  const cookie = `theme=dark; __Host-token=${kit.token({ scope: 'orders:read orders:create' })}`
  const send = (method: 'GET' | 'POST', headers: Record<string, string>) =>
    app.inject({ url: '/orders', method, headers: { cookie, ...headers } })
  t.equal((await send('GET', {})).statusCode, 200)
  t.equal((await send('GET', { 'sec-fetch-site': 'cross-site' })).statusCode, 200)
  for (const headers of [
    { 'sec-fetch-site': 'same-origin' },
    { origin: 'https://app.example.com' },
    { origin: 'https://app.example.com', 'sec-fetch-site': 'same-site' }
  ]) {
    t.equal((await send('POST', headers)).statusCode, 200, JSON.stringify(headers))
  }
  for (const headers of [
    {},
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://attacker.example' },
    { origin: 'https://app.example.com.attacker.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'null' },
    { origin: 'null', 'sec-fetch-site': 'same-origin' },
    { referer: 'https://app.example.com/' }
  ] as Record<string, string>[]) {
    const response = await send('POST', headers)
    t.equal(response.statusCode, 403, JSON.stringify(headers))
    t.equal(response.json().code, 'CROSS_SITE_REQUEST')
  }
  const bad = await app.inject({ url: '/orders', headers: { cookie: '__Host-token=x' } })
  t.equal(bad.json().code, 'INVALID_TOKEN')
  t.equal((await app.inject({ url: '/orders', headers: { cookie: 'x__Host-token=a; b' } })).json().code, 'AUTHENTICATION_REQUIRED')
})

t.test(
  'a cookie from a page of another site changes nothing, whatever the method and however similar its origin or name [U12]',
  async (t) => {
    const methods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const
    const { app, kit } = await service(
      { cookie: { name: '__Host-token', origins: ['https://app.example.com'] } },
      {
        routes: (app) =>
          app.route({ method: [...methods], url: '/things', config: { permissions: ['orders:read'] }, handler: async () => 'changed' })
      }
    )
    const token = kit.token({ scope: 'orders:read' })
    const send = async (method: (typeof methods)[number], headers: Record<string, string>, cookie = `__Host-token=${token}`) => {
      const { statusCode, payload } = await app.inject({ method, url: '/things', headers: { cookie, ...headers } })
      return statusCode === 200 ? 200 : (JSON.parse(payload).code as string)
    }
    const origins = ['https://app.example.com.', 'https://app.example.com/', 'https://app.example.com:8443', 'http://app.example.com']
    const hosts = [
      'https://evil-app.example.com',
      'https://x.app.example.com',
      'https://app.example.com.evil',
      'app.example.com',
      'HTTPS://APP.EXAMPLE.COM'
    ]
    for (const method of methods) {
      t.equal(await send(method, { origin: 'https://app.example.com' }), 200)
      t.equal(await send(method, { 'sec-fetch-site': 'same-origin' }), 200)
      for (const origin of [...origins, ...hosts, 'null', ''])
        t.equal(await send(method, { origin }), 'CROSS_SITE_REQUEST', `${method} ${origin}`)
      for (const site of ['cross-site', 'same-site', 'none', '', 'SAME-ORIGIN'])
        t.equal(await send(method, { 'sec-fetch-site': site }), 'CROSS_SITE_REQUEST', `${method} ${site}`)
      const allowed = { origin: 'https://app.example.com' }
      for (const name of ['__host-token', '__HOST-TOKEN', 'token', '__Secure-token', 'x__Host-token', '__Host-token2'])
        t.equal(await send(method, allowed, `${name}=${token}`), 'AUTHENTICATION_REQUIRED', name)
      t.equal(await send(method, allowed, `__Host-token=%${token.charCodeAt(0).toString(16)}${token.slice(1)}`), 'INVALID_TOKEN')
    }
  }
)

t.test('accepts a Bearer token from any page', async (t) => {
  const { app, kit } = await service({ cookie: { name: '__Host-token', origins: [] } })
  const headers = { ...kit.headers({ scope: 'orders:create' }), 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example' }
  t.equal((await app.inject({ url: '/orders', method: 'POST', headers })).statusCode, 200)
})

t.test('applies the same rules over HTTP/2, where a cookie may be split', async (t) => {
  const { kit, issuer } = ownIssuer()
  const app = Fastify({ http2: true })
  await app.register(authentication, { issuers: [issuer], permissions, cookie: { name: '__Host-token', origins: [] } })
  app.get('/orders', { config: { permissions: ['orders:read'] } }, async () => 'x')
  const session = connectHttp2(await app.listen({ host: '127.0.0.1', port: 0 }))
  t.teardown(async () => {
    session.close()
    await app.close()
  })
  const send = async (headers: Record<string, string | string[]>) => {
    const stream = session.request({ ':path': '/orders', ...headers })
    const [{ ':status': status }] = (await once(stream, 'response')) as [Record<string, unknown>]
    stream.resume()
    return status
  }
  const token = kit.token({ scope: 'orders:read' })
  t.equal(await send({}), 401)
  t.equal(await send({ authorization: `Bearer ${token}` }), 200)
  t.equal(await send({ cookie: ['theme=dark', `__Host-token=${token}`] }), 200)
  t.equal(await send({ cookie: [`__Host-token=${token}`, `__Host-token=${token}`] }), 400)
  t.equal(await send({ cookie: [`__Host-token=${token}`], authorization: `Bearer ${token}` }), 400)
  t.equal(await send({ ':path': '/orders?token=x' }), 400)
})
