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

/** Runs the start script as a browser does that loaded it from `src`, and returns the configuration that Scalar gets. */
function started(script: string, src: string): Loose {
  let requested: Loose
  const Scalar = {
    createApiReference(place: string, configuration: object) {
      requested = { place, ...configuration }
    }
  }
  runInNewContext(script, { Scalar, URL, document: { currentScript: { src } } })
  return JSON.parse(JSON.stringify(requested))
}

t.test('the page loads only its two scripts, from the service', async (t) => {
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

t.test('the page shows every version that is not retired, newest first, at the address of the page', async (t) => {
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

t.test('serves no page when reference is false, nor by default in production', async (t) => {
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

t.test('its routes have the config of options.routeConfig, and the page may send requests to publicUrl', async (t) => {
  const { configs } = await boot({ routeConfig: { permissions: ['docs:read'], operational: true }, publicUrl: 'https://shop.example/base' })
  for (const url of ['/v1/openapi', '/reference', '/reference/start.js', '/reference/scalar.js'])
    t.match(configs.get(url), { permissions: ['docs:read'], operational: true, envelope: false }, url)
  t.strictSame(configs.get('/reference').contentSecurityPolicy.connectSrc, ["'self'", 'https://shop.example'])
})

t.test('invalid options stop the start with a one-line message', async (t) => {
  const cases: [Loose, RegExp][] = [
    [{ lint: 'loud' }, /^openapi: options\.lint must be "error", "warning" or "off", but is "loud"\.$/],
    [{ reference: '/' }, /^openapi: options\.reference must be a path such as "\/reference", or false for no page, but is "\/"\.$/],
    [{ reference: '/docs/' }, /^openapi: options\.reference must be a path .*but is "\/docs\/"/],
    [{ versions: {} }, /^openapi: options\.versions is empty/],
    [{ versions: { v1: {} } }, /^openapi: options\.versions contains the invalid key "v1"/],
    [{ versions: { 1: { deprecatedAt: 'soon', sunsetAt: 'later' } } }, /^openapi: options\.versions\[1\] has an invalid date/],
    [{ publicUrl: 'shop.example' }, /^links: options\.publicUrl is the invalid URL "shop\.example"/],
    [{ waivers: { Z9: 'so' } }, /^openapi: options\.waivers waives "Z9", which is not a known rule\. Use one of F1, .*, Q10, .*\.$/],
    [
      { waivers: { F1: '' } },
      /^openapi: options\.waivers waives F1 without a reason\. Add the reason: \{ F1: 'why it does not apply' \}\.$/
    ]
  ]
  for (const [options, message] of cases) {
    const app = Fastify()
    await t.rejects(async () => app.register(openapi, options), { message })
  }
})
