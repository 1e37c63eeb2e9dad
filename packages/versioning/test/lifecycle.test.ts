import { once } from 'node:events'
import { request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { contractOf } from '@concordat/plugin-kit/wiring'
import { movedDate } from '@concordat/test-harness/moved-date'
import versioning, { type VersioningOptions } from '@concordat/versioning'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'

const deprecatedAt = Date.UTC(2027, 0, 1)
const sunsetAt = Date.UTC(2028, 0, 1)
const documentation = 'https://docs.example.com/moving-to-v2'
const link =
  '<https://docs.example.com/moving-to-v2>; rel="deprecation", <https://docs.example.com/moving-to-v2>; rel="sunset", ' +
  '<https://api.example.com/v2>; rel="successor-version", <https://api.example.com/v3>; rel="latest-version"'

async function service(options: VersioningOptions = {}, prepare: (app: FastifyInstance) => void = () => {}) {
  const app = Fastify()
  await app.register(versioning, {
    versions: { 1: { deprecatedAt: '2027-01-01T00:00:00Z', sunsetAt: new Date(sunsetAt), documentation, successor: 2 }, 2: {}, 3: {} },
    publicUrl: 'https://api.example.com',
    ...options
  })
  prepare(app)
  await app.apiVersion(1, async (v1) => {
    v1.get('/orders/:id', async ({ apiVersion }) => ({ version: apiVersion }))
    v1.get('/baskets/:id', async (_request, reply) => {
      reply.header('link', '<https://api.example.com/logo.png>; rel="icon"')
      return {}
    })
    v1.get('/carts/:id', async (_request, reply) => {
      reply.header('link', ['<https://a.example>; rel="icon"', '<https://b.example>; rel="author"'])
      return {}
    })
    v1.get('/crates/:id', async (_request, reply) => {
      reply.header('link', `<https://a.example>; rel="icon", ${String(reply.getHeader('link'))}`)
      return {}
    })
    v1.get('/failures/:id', async () => {
      throw new Error('broken')
    })
  })
  await app.apiVersion(3, async (v3) => {
    v3.get('/orders/:id', async ({ apiVersion }) => ({ version: apiVersion }))
  })
  return app
}

t.test('a running service changes a version from current to deprecated to 410 at its dates [V5] [V6]', async (t) => {
  const clock = movedDate(t, deprecatedAt - 1)
  const app = await service()

  const current = await app.inject('/v1/orders/a')
  t.equal(current.statusCode, 200)
  for (const header of ['deprecation', 'sunset', 'link', 'warning'])
    t.notOk(header in current.headers, `no ${header} before the deprecation date`)
  t.equal((await app.inject('/')).json().versions[0].status, 'current')

  clock.now = deprecatedAt
  const deprecated = await app.inject('/v1/orders/a')
  t.equal(deprecated.statusCode, 200)
  t.equal(deprecated.headers.deprecation, '@1798761600')
  t.equal(deprecated.headers.sunset, 'Sat, 01 Jan 2028 00:00:00 GMT')
  t.equal(deprecated.headers.link, link)
  t.notOk('warning' in deprecated.headers)
  t.equal((await app.inject('/')).json().versions[0].status, 'deprecated')

  clock.now = sunsetAt - 1
  t.equal((await app.inject('/v1/orders/a')).statusCode, 200)

  clock.now = sunsetAt
  const retired = await app.inject('/v1/orders/a')
  t.equal(retired.statusCode, 410)
  t.equal(retired.headers.deprecation, '@1798761600')
  t.equal(retired.headers.sunset, 'Sat, 01 Jan 2028 00:00:00 GMT')
  t.equal(retired.headers.link, link)
  t.equal(retired.json().code, 'VERSION_RETIRED')
  t.equal((await app.inject('/')).json().versions[0].status, 'retired')

  const successor = await app.inject('/v3/orders/a')
  t.equal(successor.statusCode, 200)
  t.notOk('deprecation' in successor.headers, 'other versions are not affected')
})

t.test('in a brown-out, all but the operational routes of a deprecated version respond with 503 until its end', async (t) => {
  const [from, until] = [Date.UTC(2027, 9, 4, 9), Date.UTC(2027, 9, 4, 10)]
  const brownouts = [{ from: '2027-10-04T09:00:00Z', until: new Date(until) }]
  const versions = { 1: { deprecatedAt: new Date(deprecatedAt), sunsetAt: new Date(sunsetAt), documentation, brownouts }, 2: {} }
  const clock = movedDate(t, from - 1)
  const app = await service({ versions: { ...versions, 3: {} } }, (prepared) => {
    void prepared.apiVersion(1, async (v1) => void v1.get('/openapi', { config: { operational: true } }, async () => ({})))
  })
  t.equal((await app.inject('/v1/orders/a')).statusCode, 200)
  t.strictSame((await app.inject('/')).json().versions[0].brownouts, [
    { from: '2027-10-04T09:00:00.000Z', until: '2027-10-04T10:00:00.000Z' }
  ])
  t.notOk('brownouts' in (await app.inject('/')).json().versions[1])

  clock.now = until - 1500
  for (const [method, url] of [
    ['GET', '/v1/orders/a'],
    ['POST', '/v1/orders/a'],
    ['GET', '/v1/unknown']
  ] as const) {
    const { statusCode, headers, json } = await app.inject({ method, url })
    t.equal(statusCode, 503, url)
    t.match(headers, {
      'retry-after': '2',
      'cache-control': 'no-store',
      deprecation: '@1798761600',
      sunset: /2028/,
      link: /successor-version/
    })
    t.match(json(), { code: 'VERSION_BROWNOUT', message: /off until 2027-10-04T10:00:00\.000Z, because it ends on 2028-01-01\. See https/ })
  }
  for (const url of ['/v1/openapi', '/v1', '/v3/orders/a', '/']) t.equal((await app.inject(url)).statusCode, 200, url)

  clock.now = until
  t.equal((await app.inject('/v1/orders/a')).statusCode, 200)
})

t.test('all responses of a deprecated version have its headers, also for unknown URLs [V6]', async (t) => {
  movedDate(t, deprecatedAt)
  const app = await service()
  for (const [url, statusCode] of [
    ['/v1/failures/a', 500],
    ['/v1/unknown', 404],
    ['/v1/', 404],
    ['/v1', 200]
  ] as const) {
    const received = await app.inject(url)
    t.equal(received.statusCode, statusCode, url)
    t.match(received.headers, { deprecation: '@1798761600', sunset: 'Sat, 01 Jan 2028 00:00:00 GMT', link }, url)
  }
})

t.test('a retired version responds with 410 to every URL and method, also without registered routes [V5]', async (t) => {
  movedDate(t, sunsetAt)
  const app = await service()
  const bare = Fastify()
  await bare.register(versioning, {
    versions: { 1: { deprecatedAt: new Date(deprecatedAt), sunsetAt: new Date(sunsetAt), documentation } }
  })

  for (const running of [app, bare]) {
    for (const url of [
      '/v1',
      '/v1/',
      '/v1?page=1',
      '/v1/orders/a',
      '/v1/unknown/deep/down',
      '/%761/unknown',
      'http://api.example.com/v1/unknown',
      '/v1/%25'
    ]) {
      for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'] as const) {
        const received = await running.inject({ method, url, ...(method === 'POST' && { payload: { a: 1 } }) })
        t.equal(received.statusCode, 410, `${method} ${url}`)
        t.equal(received.headers.sunset, 'Sat, 01 Jan 2028 00:00:00 GMT')
      }
    }
  }
  t.equal(
    (await bare.inject('/v1')).headers.link,
    `<${documentation}>; rel="deprecation", <${documentation}>; rel="sunset"`,
    'the last version does not name a successor'
  )
})

t.test('a retired version responds with 410 to a request target in absolute form', async (t) => {
  movedDate(t, sunsetAt)
  const app = await service()
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const request = send({ host: '127.0.0.1', port, path: 'http://api.example.com/v1/unknown', agent: false }).end()
  const [response] = await once(request, 'response')
  response.resume()
  t.equal(response.statusCode, 410)
})

t.test('a hook registered later does not replace the 410 response', async (t) => {
  movedDate(t, sunsetAt)
  const app = await service({}, (app) =>
    app.addHook('onRequest', async (_request, reply) => reply.code(401).send({ code: 'AUTHENTICATION_REQUIRED' }))
  )
  t.equal((await app.inject('/v1/orders/a')).statusCode, 410)
  t.equal((await app.inject('/v3/orders/a')).statusCode, 401)
})

t.test('an error from a later hook has the headers of a deprecated version', async (t) => {
  movedDate(t, deprecatedAt)
  const app = await service({}, (app) => app.addHook('onRequest', async (_request, reply) => reply.code(401).send({})))
  t.match((await app.inject('/v1/orders/a')).headers, { deprecation: '@1798761600', link })
})

t.test('keeps the links that a handler or an earlier hook sets, in addition to the links of the version', async (t) => {
  movedDate(t, deprecatedAt)
  const app = await service()
  t.equal((await app.inject('/v1/baskets/a')).headers.link, `<https://api.example.com/logo.png>; rel="icon", ${link}`)
  t.equal((await app.inject('/v1/carts/a')).headers.link, `<https://a.example>; rel="icon", <https://b.example>; rel="author", ${link}`)
  t.equal((await app.inject('/v1/crates/a')).headers.link, `<https://a.example>; rel="icon", ${link}`, 'no link is repeated')

  const hooked = Fastify()
  hooked.addHook('onRequest', async (_request, reply) => {
    reply.header('link', '<https://a.example>; rel="license"')
  })
  const versions = { 1: { deprecatedAt: new Date(deprecatedAt), sunsetAt: new Date(sunsetAt), documentation } }
  await hooked.register(versioning, { versions })
  t.equal(
    (await hooked.inject('/v1/orders/a')).headers.link,
    `<https://a.example>; rel="license", <${documentation}>; rel="deprecation", <${documentation}>; rel="sunset"`
  )

  movedDate(t, 0)
  const current = await service()
  t.equal((await current.inject('/v1/baskets/a')).headers.link, '<https://api.example.com/logo.png>; rel="icon"')
})

t.test('deprecation links have the origin of each request when several hosts are allowed', async (t) => {
  movedDate(t, deprecatedAt)
  const app = await service({ publicUrl: undefined, allowedHosts: ['a.example', 'b.example'] })
  for (const host of ['a.example', 'b.example', 'a.example']) {
    const received = await app.inject({ url: '/v1/orders/a', headers: { host } })
    t.match(received.headers.link, `<http://${host}/v2>; rel="successor-version", <http://${host}/v3>; rel="latest-version"`)
  }
  const foreign = await app.inject({ url: '/v1/orders/a', headers: { host: 'evil.example' } })
  t.notMatch(foreign.headers.link, 'evil', 'an unchecked Host never reaches a link')
})

t.test('apiVersion is the version of the request, or the newest current version outside versions [V8]', async (t) => {
  const clock = movedDate(t, 0)
  const seen: string[] = []
  const app = Fastify()
  await app.register(versioning, {
    versions: {
      1: { deprecatedAt: '2027-01-01T00:00:00Z', sunsetAt: '2028-01-01T00:00:00Z', documentation },
      2: { deprecatedAt: '2027-06-01T00:00:00Z', sunsetAt: '2028-06-01T00:00:00Z', documentation }
    }
  })
  app.addHook('onSend', async (request) => {
    seen.push(`${request.apiVersion}${contractOf(app, 'versions')?.prefixOf(request)}`)
    t.equal(contractOf(app, 'versions')?.nameOf(request), request.apiVersion)
  })
  app.get('/health', { config: { operational: true } }, async () => 'well')
  await app.apiVersion(1, async (v1) => {
    v1.get('/orders', async () => 'x')
  })

  for (const [now, url, expected] of [
    [0, '/v1/orders', 'v1/v1'],
    [0, '/v1/unknown', 'v1/v1'],
    [0, '/health', 'v2'],
    [0, '/', 'v2'],
    [0, '/unknown', 'v2'],
    [0, '/v9/unknown', 'v2'],
    [Date.UTC(2027, 2, 1), '/health', 'v2'],
    [Date.UTC(2027, 7, 1), '/health', 'v2'],
    [Date.UTC(2028, 2, 1), '/v1/orders', 'v1/v1'],
    [Date.UTC(2029, 0, 1), '/health', 'v2']
  ] as const) {
    clock.now = now
    await app.inject(url)
    t.equal(seen.pop(), expected, url)
  }
})

t.test('outside versions, apiVersion skips a newest version that is retired before an older one [V8]', async (t) => {
  const app = Fastify()
  const clock = movedDate(t, 0)
  await app.register(versioning, {
    versions: {
      1: { deprecatedAt: '2027-01-01T00:00:00Z', sunsetAt: '2029-01-01T00:00:00Z', documentation },
      2: { deprecatedAt: '2027-01-01T00:00:00Z', sunsetAt: '2028-01-01T00:00:00Z', documentation }
    }
  })
  for (const [now, expected] of [
    [Date.UTC(2026, 0, 1), 'v2'],
    [Date.UTC(2027, 6, 1), 'v2'],
    [Date.UTC(2028, 6, 1), 'v1'],
    [Date.UTC(2030, 0, 1), 'v2']
  ] as const) {
    clock.now = now
    t.equal(contractOf(app, 'versions')?.nameOf(), expected)
  }
})

t.test('GET / lists every version with its dates, including future dates [V5]', async (t) => {
  movedDate(t, 0)
  const app = await service()
  const received = await app.inject('/')
  t.equal(received.statusCode, 200)
  t.strictSame(received.json(), {
    versions: [
      {
        version: 'v1',
        status: 'current',
        href: 'https://api.example.com/v1',
        deprecatedAt: '2027-01-01T00:00:00.000Z',
        sunsetAt: '2028-01-01T00:00:00.000Z',
        documentation
      },
      { version: 'v2', status: 'current', href: 'https://api.example.com/v2' },
      { version: 'v3', status: 'current', href: 'https://api.example.com/v3' }
    ]
  })
  t.equal((await app.inject({ method: 'HEAD', url: '/' })).statusCode, 200)
})
