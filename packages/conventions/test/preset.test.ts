import { readFileSync } from 'node:fs'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import { defineErrors } from '@concordat/plugin-kit/api-error'
import { movedDate } from '@concordat/test-harness/moved-date'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'

const localHttp = { dangerouslyAllowHttp: 'loopback' } as const
const Order = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }

async function routes(instance: FastifyInstance) {
  instance.get('/orders/:id', { schema: { response: { 200: Order } } }, async (_request, reply) => {
    reply.link('collection', '/orders')
    return { id: '7' }
  })
  instance.get('/failures/:id', { schema: { response: { 200: Order } } }, async () => {
    throw new Error('internal')
  })
  instance.post('/orders', { config: { idempotency: 'off' }, schema: { body: Order, response: { 201: Order } } }, async (_request, reply) =>
    reply.created('/orders/8', { id: '8' })
  )
}

async function start(options: Partial<ConventionsOptions> = {}) {
  const app = Fastify(serverOptions())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: localHttp,
    authentication: false,
    ...options
  })
  await (options.versioning === false ? app.register(routes, { prefix: '/v1' }) : app.apiVersion(1, routes))
  return app
}

t.test('a success has the envelope, the version, links within that version, the security headers and Vary [H1]', async (t) => {
  const app = await start()
  const response = await app.inject('/v1/orders/7')
  t.match(response.json(), {
    data: { id: '7' },
    _links: [
      { rel: 'self', href: 'https://api.example.com/v1/orders/7', method: 'GET' },
      { rel: 'collection', href: 'https://api.example.com/v1/orders', method: 'GET' }
    ],
    _meta: { version: 'v1' }
  })
  t.match(response.headers, { 'request-id': /^[0-9a-f-]{36}$/, 'x-content-type-options': 'nosniff', vary: 'accept' })
})

t.test('reply.created resolves the path relative to the version', async (t) => {
  const app = await start()
  const response = await app.inject({ method: 'POST', url: '/v1/orders', body: { id: '8' } })
  t.strictSame([response.statusCode, response.headers.location], [201, 'https://api.example.com/v1/orders/8'])
})

t.test('an error has the error envelope in the language of the client, and Vary lists both headers [G1] [N6]', async (t) => {
  const app = await start()
  const response = await app.inject({ url: '/v1/nothing', headers: { 'accept-language': 'es-MX,es;q=0.9' } })
  t.match(response.json().error, { status: 404, code: 'RESOURCE_NOT_FOUND', message: /No / })
  t.match(response.headers, { 'content-language': 'es', vary: 'accept-language, accept', 'cache-control': 'no-store' })
})

t.test('a URL that never reaches a hook gets the same language, version and headers', async (t) => {
  const app = await start()
  const response = await app.inject({ url: '/v1/%zz', headers: { 'accept-language': 'es' } })
  t.match(response.json(), { error: { code: 'MALFORMED_URI' }, _meta: { version: 'v1' } })
  t.match(response.headers, { 'content-language': 'es', 'request-id': /./, 'x-content-type-options': 'nosniff' })
})

t.test('GET / lists the versions in the envelope', async (t) => {
  const app = await start()
  t.match((await app.inject('/')).json(), {
    data: { versions: [{ version: 'v1', status: 'current', href: 'https://api.example.com/v1' }] },
    _meta: { version: 'v1' }
  })
})

t.test('the catalogue includes the errors of the service', async (t) => {
  const include = [defineErrors({ SOLD_OUT: { statusCode: 409, message: { en: 'Sold out.', es: 'Agotado.' }, remedy: 'Wait.' } })]
  const app = await start({ errorCatalogue: { include } })
  t.ok(app.errorCatalogue.find('SOLD_OUT'))
  t.ok(app.errorCatalogue.find('METHOD_NOT_ALLOWED'))
})

for (const [name, expected] of Object.entries<(app: Awaited<ReturnType<typeof start>>) => Promise<[unknown, unknown]>>({
  transportSecurity: async (app) => [(await app.inject('/v1/orders/7')).headers['request-id'], undefined],
  errorCatalogue: async (app) => [(await app.inject('/v1/failures/7')).json().statusCode, 500],
  versioning: async (app) => [(await app.inject('/')).statusCode, 404],
  httpMethods: async (app) => [(await app.inject({ method: 'DELETE', url: '/v1/orders/7' })).statusCode, 404],
  contentNegotiation: async (app) => [(await app.inject({ url: '/v1/orders/7', headers: { accept: 'image/webp' } })).statusCode, 200]
})) {
  t.test(`${name} can be left out`, async (t) => {
    const [found, wanted] = await expected(await start({ [name]: false }))
    t.equal(found, wanted)
  })
}

t.test('envelope can be left out', async (t) => {
  const app = Fastify(serverOptions())
  await app.register(conventions, { versions: { 1: {} }, transportSecurity: localHttp, authentication: false, envelope: false })
  t.match((await app.inject('/')).json(), { versions: [{ version: 'v1' }] })
})

t.test('options of a plugin override those that the preset sets', async (t) => {
  const app = await start({
    envelope: { version: () => 'v9' },
    transportSecurity: { ...localHttp, overrides: { 'x-frame-options': 'SAMEORIGIN' } }
  })
  const response = await app.inject('/v1/orders/7')
  t.equal(response.json()._meta.version, 'v9')
  t.equal(response.headers['x-frame-options'], 'SAMEORIGIN')
})

t.test('invalid options stop the boot with one line', async (t) => {
  await t.rejects(
    async () => Fastify(serverOptions()).register(conventions, { authentication: false }),
    /conventions: options\.versions is missing/
  )
  await t.rejects(
    async () => Fastify(serverOptions()).register(conventions, { versions: { 1: {} } }),
    /conventions: options\.authentication is missing/
  )
  t.throws(() => serverOptions({ trustProxy: true as never }), /options\.trustProxy must be an array/)
})

t.test('trusts the listed proxies, and no others', async (t) => {
  t.equal(serverOptions().trustProxy, false)
  const { trustProxy } = serverOptions({ trustProxy: ['10.0.0.0/8'] })
  t.strictSame(trustProxy && [trustProxy('10.9.8.7', 0), trustProxy('11.0.0.1', 0)], [true, false])
})

t.test('allowedHosts applies to links and to requests: for other hosts, returns 421 in the envelope [S10]', async (t) => {
  const app = await start({ publicUrl: undefined, allowedHosts: ['api.example.com', '*.shops.example.com'] })
  for (const host of ['api.example.com', 'a.shops.example.com'])
    t.match((await app.inject({ url: '/v1/orders/7', headers: { host } })).json()._links, [{ href: `http://${host}/v1/orders/7` }])
  const response = await app.inject({ url: '/v1/orders/7', headers: { host: 'evil.example', 'accept-language': 'es' } })
  t.match(
    [response.statusCode, response.json().error],
    [421, { code: 'MISDIRECTED_REQUEST', error: 'Misdirected Request', message: /host/ }]
  )
  t.match(response.headers, { 'content-language': 'es', 'cache-control': 'no-store' })
  t.notMatch(response.body, 'evil')
})

t.test('refuses plain HTTP in the envelope, for unknown paths too [S4]', async (t) => {
  const app = await start({ transportSecurity: {} })
  for (const url of ['/', '/v1/orders/7', '/nothing']) {
    const response = await app.inject(url)
    t.match([response.statusCode, response.json().error], [403, { code: 'HTTPS_REQUIRED', error: 'Forbidden' }])
    t.match(response.headers, { 'request-id': /./, 'strict-transport-security': undefined })
  }
})

t.test(
  'every link of a success or an error has exactly rel, href and method, with registered and custom relations [K4] [K5]',
  async (t) => {
    const app = await start()
    app.get('/probe', { config: { operational: true }, schema: { response: { 200: Order } } }, async (_request, reply) => {
      reply.link('collection', '/orders').link('cancel', '/orders/7/cancellations', 'POST')
      return { id: '7' }
    })
    const links = [await app.inject('/probe'), await app.inject('/nothing'), await app.inject('/%zz')].flatMap(
      (response) => response.json()._links
    )
    t.strictSame(
      links.map(({ rel, method }) => `${rel} ${method}`),
      ['self GET', 'collection GET', 'cancel POST', 'self GET', 'self GET']
    )
    for (const link of links) {
      t.strictSame(Object.keys(link), ['rel', 'href', 'method'])
      t.match(link.href, /^https:\/\/api\.example\.com\//)
    }
  }
)

t.test('timestamps are ISO 8601 in UTC in every language [F2] [G2]', async (t) => {
  const clock = movedDate(t, Date.UTC(2026, 0, 2, 3, 4, 5, 6))
  const app = await start()
  const headers = { 'accept-language': 'es' }
  t.equal((await app.inject({ url: '/v1/orders/7', headers })).json()._meta.timestamp, '2026-01-02T03:04:05.006Z')
  t.equal((await app.inject({ url: '/v1/nothing', headers })).json()._meta.timestamp, '2026-01-02T03:04:05.006Z')
  clock.now += 94
  t.equal((await app.inject('/v1/orders/7')).json()._meta.timestamp, '2026-01-02T03:04:05.100Z')
  clock.now -= 60_000
  t.equal((await app.inject('/v1/orders/7')).json()._meta.timestamp, '2026-01-02T03:03:05.100Z')
})

t.test('a 301 has an absolute Location within the version and no body [X4]', async (t) => {
  const app = await start()
  await app.apiVersion(1, async (v1) => {
    v1.get('/purchases/:id', { schema: { response: { 200: Order } } }, async (_request, reply) => reply.moved('/orders/7'))
  })
  const response = await app.inject('/v1/purchases/7')
  t.strictSame([response.statusCode, response.headers.location, response.body], [301, 'https://api.example.com/v1/orders/7', ''])
})

t.test('an error of a deprecated version has the Deprecation and Sunset headers too [V6]', async (t) => {
  const documentation = 'https://docs.example.com/v2'
  const versions = { 1: { deprecatedAt: '2026-01-01T00:00:00Z', sunsetAt: '2027-01-01T00:00:00Z', documentation }, 2: {} }
  movedDate(t, Date.UTC(2026, 5, 1))
  const app = await start({ versions })
  for (const url of ['/v1/orders/7', '/v1/failures/7', '/v1/nothing']) {
    const { headers } = await app.inject(url)
    t.match(headers, { deprecation: '@1767225600', sunset: 'Fri, 01 Jan 2027 00:00:00 GMT', link: /rel="deprecation"/ })
  }
})

t.test('parses a merge patch with the strict JSON parser', async (t) => {
  const app = await start()
  await app.apiVersion(1, async (v1) => {
    const config = { consumes: ['application/merge-patch+json'], idempotency: 'off' } as const
    v1.patch(
      '/orders/:id',
      { config, schema: { body: Order, response: { 200: Order } } },
      async (request) => request.body as { id: string }
    )
  })
  const patch = (body: string) =>
    app.inject({ method: 'PATCH', url: '/v1/orders/7', headers: { 'content-type': 'application/merge-patch+json' }, body })
  t.strictSame((await patch('{"id":"7"}')).json().data, { id: '7' })
  t.match((await patch('{"id":"\\u0000"}')).json().error, { status: 422, errors: [{ field: 'body.id' }] })
})

t.test('every plugin states its name, for plugins that depend on it, and its major version of Fastify', async (t) => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { dependencies: Record<string, string> }
  // The kit has entry points by subject only.
  const names = [...Object.keys(manifest.dependencies), '@concordat/conventions'].filter((name) => /^@concordat\/(?!plugin-kit)/.test(name))
  const modules = await Promise.all(names.map(async (name) => [name, (await import(name)).default] as const))
  const plugins = modules.filter(([, plugin]) => plugin !== undefined)
  t.equal(plugins.length, 20)
  for (const [name, plugin] of plugins) t.match(plugin[Symbol.for('plugin-meta')], { name, fastify: '^5.12.1' })
})
