import { runInNewContext } from 'node:vm'
import openapi, { type OpenapiOptions } from '@concordat/openapi'
import Fastify from 'fastify'
import t from 'tap'
import type { Loose } from './shop.ts'

async function boot(options: OpenapiOptions) {
  const app = Fastify()
  const configs = new Map<string, Loose>()
  app.addHook('onRoute', (route) => {
    configs.set(route.url, route.config)
  })
  await app.register(openapi, { lint: 'off', ...options })
  return { app, configs }
}

/** Runs the script that starts the page, as a browser that got it from this address does, and returns what it asks Scalar for. */
function started(script: string, src: string): Loose {
  let asked: Loose
  const Scalar = {
    createApiReference(place: string, configuration: object) {
      asked = { place, ...configuration }
    }
  }
  runInNewContext(script, { Scalar, URL, document: { currentScript: { src } } })
  return JSON.parse(JSON.stringify(asked))
}

t.test('the page loads its two scripts from the service, and nothing else', async (t) => {
  const { app, configs } = await boot({ title: 'Shop <& more>' })
  const page = await app.inject('/reference')
  t.equal(page.headers['content-type'], 'text/html; charset=utf-8')
  t.match(page.body, '<title>Shop &lt;&amp; more></title>')
  t.strictSame(
    [...page.body.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, target]) => target),
    ['data:,', 'reference/scalar.js', 'reference/start.js']
  )
  const script = await app.inject('/reference/scalar.js')
  t.equal(script.headers['content-type'], 'text/javascript; charset=utf-8')
  t.ok(script.body.length > 1_000_000)
  t.equal((await app.inject('/reference/scalar.js')).body, script.body)
  const { contentSecurityPolicy, ...config } = configs.get('/reference')
  t.strictSame(config, { public: true, operational: true, envelope: false, produces: ['text/html'] })
  t.strictSame(contentSecurityPolicy.scriptSrc, ["'self'"])
  t.strictSame(contentSecurityPolicy.connectSrc, ["'self'"])
  t.equal(configs.get('/v1/openapi').contentSecurityPolicy, undefined)
  await app.close()
})

t.test('it shows every version that is not retired, the newest first, under the address that it is reached by', async (t) => {
  const ending = { deprecatedAt: '2027-01-01T00:00:00Z', sunsetAt: '2027-12-31T00:00:00Z' }
  let now = Date.parse('2027-06-01T00:00:00Z')
  const { app } = await boot({ versions: { 1: ending, 2: {} }, reference: '/docs/reference', now: () => now })
  const script = async () => (await app.inject('/docs/reference/start.js')).body
  t.match(started(await script(), 'https://shop.example/base/docs/reference/start.js'), {
    place: '#reference',
    telemetry: false,
    withDefaultFonts: false,
    servers: [{ url: 'https://shop.example/base' }],
    sources: [
      { title: 'v2', url: 'https://shop.example/base/v2/openapi', default: true },
      { title: 'v1', url: 'https://shop.example/base/v1/openapi', default: false }
    ]
  })
  now = Date.parse('2028-01-01T00:00:00Z')
  t.strictSame(
    started(await script(), 'http://127.0.0.1:3000/docs/reference/start.js').sources.map(({ title }: Loose) => title),
    ['v2']
  )
})

t.test('there is none where it is not wanted, nor by default in production', async (t) => {
  t.equal((await (await boot({ reference: false })).app.inject('/reference')).statusCode, 404)
  const before = process.env['NODE_ENV']
  process.env['NODE_ENV'] = 'production'
  t.teardown(() => {
    if (before === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = before
  })
  t.equal((await (await boot({})).app.inject('/reference')).statusCode, 404)
  t.equal((await (await boot({ reference: '/reference' })).app.inject('/reference')).statusCode, 200)
})

t.test('the routes of this package are declared as the option says, and the page may ask the public address', async (t) => {
  const { configs } = await boot({ routeConfig: { permissions: ['docs:read'], operational: true }, publicUrl: 'https://shop.example/base' })
  for (const url of ['/v1/openapi', '/reference', '/reference/start.js', '/reference/scalar.js'])
    t.match(configs.get(url), { permissions: ['docs:read'], operational: true, envelope: false }, url)
  t.strictSame(configs.get('/reference').contentSecurityPolicy.connectSrc, ["'self'", 'https://shop.example'])
})

t.test('options that make no sense stop the start with one line', async (t) => {
  const cases: [Loose, RegExp][] = [
    [{ lint: 'loud' }, /^lint is "loud"\. Give "error", "warning" or "off"\.$/],
    [{ reference: '/' }, /^reference is "\/"\. Write a path as "\/reference", or false for no page\.$/],
    [{ reference: '/docs/' }, /^reference is "\/docs\/"/],
    [{ versions: {} }, /^versions is empty/],
    [{ versions: { v1: {} } }, /^versions has the key "v1"/],
    [{ versions: { 1: { deprecatedAt: 'soon', sunsetAt: 'later' } } }, /^versions\[1\] has a date that is none/],
    [{ publicUrl: 'shop.example' }, /^publicUrl is "shop\.example"/],
    [{ waivers: { Z9: 'so' } }, /^waivers has "Z9", which no lint checks/],
    [{ waivers: { F1: '' } }, /^waivers has F1 without a reason/]
  ]
  for (const [options, message] of cases) {
    const app = Fastify()
    await t.rejects(async () => app.register(openapi, options), { message })
  }
})
