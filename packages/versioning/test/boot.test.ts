import { contribute } from '@concordat/plugin-kit/wiring'
import versioning, { type VersioningOptions } from '@concordat/versioning'
import Fastify, { type FastifyServerOptions, type RouteOptions } from 'fastify'
import t from 'tap'

const documentation = 'https://docs.example.com/moving'
const ending = { deprecatedAt: '2027-01-01T00:00:00Z', sunsetAt: '2027-07-01T00:00:00Z', documentation }

function complete(route: Partial<RouteOptions>) {
  return { method: 'GET', url: '/orders', handler: async () => 'x', ...route } as RouteOptions
}

async function boot(options: VersioningOptions, routes: Partial<RouteOptions>[] = [], outside: Partial<RouteOptions>[] = []) {
  const app = Fastify()
  await app.register(versioning, options)
  await app.apiVersion(1, async (v1) => {
    for (const route of routes) v1.route(complete(route))
  })
  for (const route of outside) app.route(complete(route))
  await app.ready()
  return app
}

t.test('rejects inconsistent versions at boot with a one-line message', async (t) => {
  for (const [versions, says] of [
    [{}, /options\.versions is empty/],
    [{ 0: {} }, /key "0".*plain integer of at least 1/],
    [{ 1.2: {} }, /key "1\.2"/],
    [{ '01': {} }, /key "01"/],
    [{ v1: {} }, /key "v1"/],
    [
      { 1: { depreciatedAt: 'x' } },
      /options\.versions\[1\]\.depreciatedAt is unknown\. Did you mean options\.versions\[1\]\.deprecatedAt\?$/
    ],
    [{ 1: { status: 'retired' } }, /options\.versions\[1\]\.status must not be "retired": .* set the dates/],
    [
      { 1: { status: 'current' }, 2: { status: 'current' } },
      /^versioning: options\.versions\[1\]\.status must not be "current", because only the newest version, 2, is\. Remove it, and set the dates/
    ],
    [{ 1: {}, 2: { status: 'current' }, 3: {} }, /options\.versions\[2\]\.status must not be "current"/],
    [{ 1: { ...ending, status: 'current' } }, /status must not be "current" for a version with deprecatedAt/],
    [{ 1: { deprecatedAt: '2027-01-01T00:00:00Z' } }, /must have deprecatedAt, sunsetAt and documentation, or none of them/],
    [{ 1: { ...ending, documentation: undefined } }, /must have deprecatedAt, sunsetAt and documentation, or none of them/],
    [{ 1: { sunsetAt: '2027-01-01T00:00:00Z' } }, /must have deprecatedAt, sunsetAt and documentation, or none of them/],
    [{ 1: { successor: 2 }, 2: {} }, /must have deprecatedAt, sunsetAt and documentation, or none of them/],
    [
      { 1: { ...ending, deprecatedAt: '2027-01-01' } },
      /versions\[1\]\.deprecatedAt must be a valid Date or an ISO 8601 date-time with Z or an offset.*, but is "2027-01-01"/
    ],
    [{ 1: { ...ending, deprecatedAt: '2027-01-01T00:00:00' } }, /Z or an offset/],
    [{ 1: { ...ending, sunsetAt: '2027-13-01T00:00:00Z' } }, /versions\[1\]\.sunsetAt/],
    // The parser of JavaScript ignores text in brackets.
    [{ 1: { ...ending, sunsetAt: '2027-07-01T00:00:00Z (UTC)' } }, /versions\[1\]\.sunsetAt/],
    [{ 1: { ...ending, sunsetAt: new Date('nonsense') } }, /sunsetAt must be a valid Date .*, but is Invalid Date/],
    [{ 1: { ...ending, documentation: '/moving' } }, /documentation must be the absolute https URL .*but is "\/moving"/],
    [{ 1: { ...ending, documentation: 'http://docs.example.com' } }, /absolute https URL/],
    [{ 1: { ...ending, documentation: 'https://user@docs.example.com' } }, /absolute https URL/],
    [{ 1: { ...ending, documentation: 'https://:pass@docs.example.com' } }, /absolute https URL/],
    [{ 1: { ...ending, sunsetAt: '2026-12-31T00:00:00Z' } }, /retired before it is deprecated/],
    [{ 1: { brownouts: [] } }, /must have deprecatedAt, sunsetAt and documentation, or none of them/],
    [{ 1: { ...ending, brownouts: [{ from: '2027-02-01T09:00:00Z', until: 'soon' }] } }, /versions\[1\]\.brownouts\[0\]\.until/],
    ...[
      ['2026-12-31T23:00:00Z', '2027-01-01T01:00:00Z', /must be between deprecatedAt and sunsetAt/],
      ['2027-06-30T23:00:00Z', '2027-07-01T01:00:00Z', /must be between deprecatedAt and sunsetAt/],
      ['2027-02-01T09:00:00Z', '2027-02-01T09:00:00Z', /must each end after they begin, and take at most a day/],
      ['2027-02-01T09:00:00Z', '2027-02-02T09:00:01Z', /must each end after they begin, and take at most a day/]
    ].map(([from, until, message]) => [{ 1: { ...ending, brownouts: [{ from, until }] } }, message]),
    [{ 1: { ...ending, sunsetAt: '2027-06-29T00:00:00Z' } }, /must be retired at least 180 days after it is deprecated, not 179/],
    [{ 1: { ...ending, successor: 1 } }, /successor must be a later version .*but is 1/],
    [{ 1: { ...ending, successor: 3 }, 2: {} }, /successor must be .*but is 3/],
    [{ 1: {}, 2: { ...ending, successor: 1 } }, /versions\[2\]\.successor must be .*but is 1/]
  ] as const) {
    await t.rejects(boot({ versions: versions as NonNullable<VersioningOptions['versions']> }), { name: 'TypeError', message: says })
  }
})

t.test('minNoticeDays shortens the notice, and a notice of exactly the minimum is accepted', async (t) => {
  await boot({ versions: { 1: { ...ending, sunsetAt: '2027-06-30T00:00:00Z' } } })
  await boot({ versions: { 1: { ...ending, sunsetAt: '2027-01-01T00:00:00+00:00' } }, minNoticeDays: 0 })
  for (const minNoticeDays of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    await t.rejects(boot({ minNoticeDays }), {
      message: `versioning: options.minNoticeDays must be a number of at least 0, but is ${minNoticeDays}.`
    })
  }
  await t.rejects(boot({ publicUrl: 'nonsense' }), /publicUrl/)
})

t.test('rejects a route that breaks rules at boot, with the route, each rule and the fix [P1] [P2] [P3]', async (t) => {
  await t.rejects(boot({}, [{ url: '/getOrder' }]), {
    message: /^versioning: GET \/v1\/getOrder breaks the path rules\. P2: "getOrder".*P3: "getOrder" starts with a verb.*config\.waivers/
  })
  await t.rejects(boot({}, [{ method: 'POST', url: '/orders/:id' }]), /^versioning: POST \/v1\/orders\/:id breaks.*P5: /)
})

const bootBelow = async (route: Partial<RouteOptions>, server: FastifyServerOptions = {}) => {
  const app = Fastify(server)
  await app.register(versioning, { publicUrl: 'https://shop.example', versions: { 1: {} } })
  await app.apiVersion(1, async (v1) => {
    await v1.register(async (tasks) => void tasks.route(complete(route)), { prefix: '/tasks' })
  })
  await app.ready()
}

const refusal = (methods: string) => ({
  message: `versioning: ${methods} /v1/tasks/ breaks the path rules. P1: it must not end with a slash, which "/" below a prefix adds. Write '' in place of '/', or set prefixTrailingSlash: 'no-slash' on the route. Or waive a rule with config.waivers and the reason.`
})

t.test('names the remedy for the URL "/" below a prefix, which Fastify also adds with a trailing slash [P1]', async (t) => {
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', ['GET', 'POST'], ['PUT', 'PATCH']]) {
    const name = String(method)
    // For GET, Fastify reports the HEAD route with the slash.
    const refused = refusal(name.includes('GET') ? 'GET' : name)
    await t.rejects(bootBelow({ method, url: '/' }), refused, name)
    await t.rejects(bootBelow({ method, url: '/', prefixTrailingSlash: 'slash' }), refusal(name), `${name}, slash`)
    await t.resolves(bootBelow({ method, url: '' }), name)
    await t.resolves(bootBelow({ method, url: '/', prefixTrailingSlash: 'no-slash' }), `${name}, no-slash`)
    await t.resolves(bootBelow({ method, url: '/', config: { waivers: { P1: 'clients use it' } } }), `${name}, waived`)
  }
  for (const server of [{ ignoreTrailingSlash: true }, { routerOptions: { ignoreTrailingSlash: true } }])
    await t.resolves(bootBelow({ method: 'POST', url: '/' }, server), 'one path for both')
})

t.test('rejects a route that has the path of a version and is not registered in one [P1]', async (t) => {
  for (const url of ['/v1/orders', '/v1/', '/v1/getOrder', '/v9/orders'])
    await t.rejects(boot({}, [], [{ url }]), {
      message: `versioning: GET ${url} has the path of a version, but is not registered through app.apiVersion(n, …). Register it there, or waive P1 with config.waivers and the reason.`
    })
  await boot({}, [], [{ url: '/v1/legacy-things', config: { waivers: { P1: 'a proxy to the old service' } } }])
})

t.test('operational routes, routes outside the versions and OPTIONS are not linted', async (t) => {
  const app = await boot(
    {},
    [{ url: '/openapi', config: { operational: true } }],
    [
      { url: '/health/live', config: { operational: true } },
      { url: '/getStatus' },
      { url: '/50%' },
      { url: '/reference/assets/*' },
      { method: 'OPTIONS', url: '*' }
    ]
  )
  t.equal((await app.inject('/reference/assets/a.js')).statusCode, 200)
  t.equal((await app.inject('/getStatus')).statusCode, 200)
})

t.test('the list of versions can move or be left out, and a second route at its path is rejected with the remedy', async (t) => {
  const home = { url: '/', handler: async () => 'home' }
  await t.rejects(boot({}, [], [home]), {
    message: 'versioning: GET / already describes the versions. Set options.versionsPath to another path, or to false for no description.'
  })
  const moved = await boot({ versionsPath: '/versions' }, [], [home])
  t.equal((await moved.inject('/')).body, 'home')
  t.match((await moved.inject('/versions')).json(), { versions: [{ version: 'v1' }] })
  const none = await boot({ versionsPath: false }, [], [home])
  t.equal((await none.inject('/')).body, 'home')
  t.equal((await none.inject('/v1')).statusCode, 404)
  await t.rejects(boot({}, [{ url: '', handler: async () => 'entry' }]), /^versioning: GET \/v1 already describes the versions\./)
  t.equal(
    (await (await boot({ versionsPath: false }, [{ url: '', handler: async () => 'entry', config: { operational: true } }])).inject('/v1'))
      .body,
    'entry'
  )
  const other = await boot({}, [], [{ ...home, constraints: { host: 'www.example.com' } }])
  t.equal((await other.inject({ url: '/', headers: { host: 'www.example.com' } })).body, 'home')
  for (const versionsPath of ['versions', '/:id', '/*'])
    await t.rejects(boot({ versionsPath }), {
      message: `versioning: options.versionsPath must be a path such as "/versions", or false, but is "${versionsPath}".`
    })
})

t.test('a rule can be waived only with a reason', async (t) => {
  const app = await boot({}, [{ url: '/staff-order', config: { waivers: { P2: 'the name is a trade mark' } } }])
  t.equal((await app.inject('/v1/staff-order')).statusCode, 200)
  t.equal((await app.inject({ method: 'HEAD', url: '/v1/staff-order' })).statusCode, 200)
  await boot({}, [{ method: 'POST', url: '/order-searches', config: { waivers: { M10: 'documented: filters over four resources' } } }])

  await t.rejects(boot({}, [{ url: '/getOrders', config: { waivers: { P2: 'only this one' } } }]), /P3/)
  for (const reason of ['', '  ', 1 as unknown as string]) {
    await t.rejects(
      boot({}, [{ config: { waivers: { P2: reason } } }]),
      /config\.waivers of GET \/v1\/orders waives P2 without a reason\. Add the reason: \{ P2: 'why it does not apply' \}/
    )
  }
  await t.rejects(boot({}, [{ config: { waivers: { P9: 'why not' } } }]), /waives "P9", which is not a known rule\. Use one of P1, P2/)
  await t.rejects(boot({}, [{ config: { operational: true, waivers: { P9: 'why not' } } }]), /waives "P9"/)
  const other = Fastify()
  contribute(other, 'rules', ['F1'])
  await other.register(versioning)
  const ofAnotherPlugin = { config: { waivers: { F1: 'a field of the bank' } } }
  await other.apiVersion(1, async (v1) => void v1.get('/orders', ofAnotherPlugin, async () => ({})))
})

t.test('the service waives path rules for all routes until a day, but not that a path of a version belongs to it', async (t) => {
  const old = { reason: 'Clients read the old paths.', until: '2999-12-31' }
  const waivers = { P1: old, P2: old, P3: old }
  const app = await boot({ waivers }, [{ url: '/getOrder' }, { url: '/order', method: 'POST' }])
  t.equal((await app.inject('/v1/getOrder')).statusCode, 200)
  await t.rejects(boot({ waivers: { P3: old } }, [{ url: '/getOrder' }]), /P2: "getOrder"/)
  await t.rejects(boot({ waivers: { M10: old } }, [{ url: '/order' }]), /P2: "order" is not a plural\./)
  await t.rejects(boot({ waivers }, [], [{ url: '/v1/order' }]), /has the path of a version, but is not registered/)
  await t.rejects(boot({ waivers: { F1: old } }), /^versioning: options\.waivers waives "F1", which is not a known rule\. Use one of P1, /)
  await t.rejects(boot({ waivers: { P2: { ...old, to: 'x' } as never } }), /options\.waivers\.P2\.to is unknown/)
})

t.test('does not lint the HEAD route that Fastify adds, but lints a separate HEAD route', async (t) => {
  const readings = await Promise.all(
    [false, true].map(async (exposeHeadRoute) => {
      let readings = 0
      const querystring = {
        get properties() {
          readings++
          return {}
        }
      }
      const app = Fastify()
      await app.register(versioning)
      await app.apiVersion(1, async (v1) => {
        v1.get('/orders', { exposeHeadRoute, schema: { querystring } }, async () => 'x')
      })
      t.equal(app.hasRoute({ method: 'HEAD', url: '/v1/orders' }), exposeHeadRoute)
      return readings
    })
  )
  t.ok(readings[0])
  t.equal(readings[1], readings[0])
  await t.rejects(boot({}, [{ method: 'HEAD', url: '/order' }]), /HEAD \/v1\/order .*P2/)
})
