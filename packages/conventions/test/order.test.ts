import { readFileSync } from 'node:fs'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { serverOptions } from '@concordat/conventions'
import { movedDate } from '@concordat/test-harness/moved-date'
import Fastify from 'fastify'
import t from 'tap'

const issuer = 'https://tokens.example.com'
const kit = testKit({ issuer, audience: 'orders' })
const bearer = (scope: string) => `Bearer ${kit.token({ scope })}`

interface Input {
  method: 'POST' | 'PUT'
  version: number
  query: string
  headers: Record<string, string>
  body: string
  remoteAddress: string
}

// One fault for each row of the table that can refuse a request, by its status.
const faults: Readonly<Record<number, (input: Input) => void>> = {
  421: (input) => (input.headers['host'] = 'evil.example'),
  403: (input) => (input.remoteAddress = '198.51.100.7'),
  414: (input) => (input.query = `?q=${'x'.repeat(9000)}`),
  429: (input) => (input.remoteAddress = '127.0.0.9'),
  410: (input) => (input.version = 1),
  401: (input) => (input.headers['authorization'] = 'Bearer invalid'),
  406: (input) => (input.headers['accept'] = 'image/webp'),
  405: (input) => (input.method = 'PUT'),
  415: (input) => (input.headers['content-type'] = 'text/plain'),
  400: (input) => (input.body = '{'),
  422: (input) => (input.body = '{}'),
  412: (input) => (input.headers['if-match'] = '"stale"'),
  409: () => {}
}
const packages: Readonly<Record<number, [string, string]>> = {
  421: ['transport-security', 'onRequest'],
  403: ['transport-security', 'onRequest'],
  414: ['error-catalogue', 'onRequest'],
  429: ['rate-limiting', 'onRequest'],
  410: ['versioning', 'onRequest'],
  401: ['authentication', 'onRequest'],
  406: ['content-negotiation', 'onRequest of the route'],
  405: ['http-methods', 'preParsing'],
  415: ['content-negotiation', 'preParsing of the route'],
  400: ['error-catalogue', 'parsing'],
  422: ['error-catalogue', 'validation'],
  412: ['conditional-caching', 'around the handler'],
  409: ['the service', 'handler']
}
// A URL or method that does not exist requires neither authentication nor negotiation; a body has one fault at a time, and a client
// has one address; and the host is checked first.
const apart = new Set(['401 405', '406 405', '400 422', '403 421', '403 429'])

const table = readFileSync(new URL('../../../docs/architecture.md', import.meta.url), 'utf8')
  .split('<!-- request:start -->')[1]
  ?.split('<!-- request:end -->')[0]
const rows = (table ?? '')
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))

function orderOf(status: number) {
  const [name, stage] = packages[status] as [string, string]
  return rows.findIndex((cells) => cells[2] === stage && cells[3] === name)
}

movedDate(t, Date.UTC(2026, 0, 1))
const app = Fastify(serverOptions())
await app.register(conventions, {
  publicUrl: 'https://api.example.com',
  allowedHosts: ['localhost'],
  transportSecurity: { dangerouslyAllowHttp: 'loopback' },
  rateLimiting: { addressLimit: { limit: 500, windowSeconds: 3600 } },
  authentication: { issuers: [ownTokens({ issuer, audience: 'orders', keys: kit.keys })], permissions: ['orders:create', 'orders:read'] },
  versions: {
    1: { deprecatedAt: '2024-01-01T00:00:00Z', sunsetAt: '2025-01-01T00:00:00Z', documentation: 'https://docs.example.com/' },
    2: { status: 'current' }
  }
})
const Order = { type: 'object', required: ['quantity'], properties: { quantity: { type: 'integer' } } }
for (const version of [1, 2]) {
  await app.apiVersion(version, async (instance) => {
    instance.post(
      '/orders',
      {
        config: { permissions: ['orders:create'], idempotency: 'off', validator: () => ({ exists: true, etag: 7 }) },
        schema: { body: Order, response: { 201: Order } }
      },
      async () => {
        throw Object.assign(new Error('sold out'), { statusCode: 409 })
      }
    )
  })
}

// Uses up the limit of this address.
for (let count = 0; count < 500; count += 1) await app.inject({ url: '/v2', remoteAddress: '127.0.0.9' })

t.test('the architecture page has a row for each package that can refuse a request', async (t) => {
  for (const status of Object.keys(packages)) t.ok(orderOf(Number(status)) >= 0, `${status} has a row`)
})

const statuses = Object.keys(faults)
  .map(Number)
  .toSorted((a, b) => orderOf(a) - orderOf(b))
for (const [index, earlier] of statuses.entries()) {
  for (const later of statuses.slice(index + 1)) {
    if (apart.has(`${earlier} ${later}`)) continue
    t.test(`a request that qualifies for ${earlier} and ${later} gets ${earlier}, as the architecture page says`, async (t) => {
      const input: Input = {
        method: 'POST',
        version: 2,
        query: '',
        headers: { 'content-type': 'application/json', authorization: bearer('orders:create') },
        body: '{"quantity":1}',
        remoteAddress: '127.0.0.1'
      }
      faults[later]?.(input)
      faults[earlier]?.(input)
      const response = await app.inject({
        method: input.method,
        url: `/v${input.version}/orders${input.query}`,
        headers: input.headers,
        body: input.body,
        remoteAddress: input.remoteAddress
      })
      t.equal(response.json().error.status, earlier)
      t.equal(response.statusCode, earlier)
    })
  }
}

t.test('404 and 405 take precedence over 406', async (t) => {
  const headers = { accept: 'image/webp' }
  t.equal((await app.inject({ url: '/v2/nothing', headers })).statusCode, 404)
  t.equal((await app.inject({ method: 'PUT', url: '/v2/orders', headers })).statusCode, 405)
})

t.test('returns 403 for a missing permission before negotiation, and 404 for an unknown URL before authentication', async (t) => {
  const headers = { accept: 'image/webp', authorization: bearer('orders:read') }
  const refused = await app.inject({ method: 'POST', url: '/v2/orders', headers })
  t.match(refused.json().error, { status: 403, code: 'INSUFFICIENT_PERMISSION' })
  t.match((await app.inject({ url: '/v2/nothing' })).json().error, { status: 404, code: 'RESOURCE_NOT_FOUND' })
  t.match((await app.inject({ url: '/v2/nothing?access_token=x' })).json().error, { status: 400, code: 'CREDENTIALS_IN_URI' })
})

t.test('responds to OPTIONS without credentials, which a browser does not send', async (t) => {
  const { statusCode, headers } = await app.inject({ method: 'OPTIONS', url: '/v2/orders' })
  t.strictSame([statusCode, headers['allow']], [204, 'OPTIONS, POST'])
})
