import { mock } from 'node:test'
import { runInNewContext } from 'node:vm'
import zlib from 'node:zlib'
import openapi, { type OpenapiOptions } from '@concordat/openapi'
import { type Contracts, contribute, publish } from '@concordat/plugin-kit/wiring'
import { inEnvironment } from '@concordat/test-harness/environment'
import { hidePackage } from '@concordat/test-harness/hidden-package'
import { movedDate } from '@concordat/test-harness/moved-date'
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

const codesOf = (response: Loose) => Object.keys(response.content['application/json'].examples)

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
  const { contentSecurityPolicy, otherConfigKeys, ...config } = configs.get('/reference')
  t.strictSame(otherConfigKeys, ['contentSecurityPolicy', 'produces'], 'their plugins are not required')
  t.strictSame(config, { public: true, operational: true, envelope: false, produces: ['text/html'] })
  t.strictSame(contentSecurityPolicy.scriptSrc, ["'self'"])
  t.strictSame(contentSecurityPolicy.connectSrc, ["'self'"])
  t.equal(configs.get('/v1/openapi').contentSecurityPolicy, undefined)
  await app.close()
})

t.test('a document and a script are compressed once, however often and by whomever they are requested', async (t) => {
  const compress = { br: mock.method(zlib, 'brotliCompress'), gzip: mock.method(zlib, 'gzip') }
  t.teardown(() => mock.restoreAll())
  const { app } = await boot({ description: 'A shop. '.repeat(200) })
  t.teardown(() => app.close())
  for (const url of ['/v1/openapi', '/reference/scalar.js'])
    for (const [coding, decompress] of Object.entries({ br: zlib.brotliDecompressSync, gzip: zlib.gunzipSync })) {
      const plain = await app.inject(url)
      const before = compress[coding as 'br'].mock.callCount()
      const get = async () => app.inject({ url, headers: { 'accept-encoding': `${coding}, identity;q=0.5` } })
      const responses = await Promise.all([get(), get(), get()])
      for (const { headers, rawPayload } of [...responses, await get()]) {
        t.match(headers, { 'content-encoding': coding, 'content-type': plain.headers['content-type'] as string, vary: 'Accept-Encoding' })
        t.ok(decompress(rawPayload).equals(plain.rawPayload))
      }
      t.equal(compress[coding as 'br'].mock.callCount(), before + 1)
      t.equal(plain.headers.vary, 'Accept-Encoding')
      t.equal(plain.headers['content-encoding'], undefined)
    }
  const start = await app.inject({ url: '/reference/start.js', headers: { 'accept-encoding': 'br' } })
  t.equal(start.headers['content-encoding'], undefined, 'a short text is sent as it is')
})

t.test('the page shows every version that is not retired, newest first, at the address of the page', async (t) => {
  const ending = { deprecatedAt: '2027-01-01T00:00:00Z', sunsetAt: '2027-12-31T00:00:00Z' }
  const clock = movedDate(t, Date.parse('2027-06-01T00:00:00Z'))
  const { app } = await boot({ versions: { 1: ending, 2: {} }, reference: '/docs/reference' })
  const script = async () => (await app.inject('/docs/reference/start.js')).body
  t.match(started(await script(), 'https://shop.example/base/docs/reference/start.js'), {
    place: '#reference',
    telemetry: false,
    withDefaultFonts: false,
    servers: [{ url: 'https://shop.example/base' }],
    sources: [
      { title: 'v2', url: 'https://shop.example/base/docs/reference/v2.json', default: true },
      { title: 'v1', url: 'https://shop.example/base/docs/reference/v1.json', default: false }
    ]
  })
  clock.now = Date.parse('2028-01-01T00:00:00Z')
  t.strictSame(
    started(await script(), 'http://127.0.0.1:3000/docs/reference/start.js').sources.map(({ title }: Loose) => title),
    ['v2']
  )
})

t.test('serves no page when reference is false, nor by default in production', async (t) => {
  t.equal((await (await boot({ reference: false })).app.inject('/reference')).statusCode, 404)
  inEnvironment(t, 'production')
  t.equal((await (await boot({})).app.inject('/reference')).statusCode, 404)
  t.equal((await (await boot({ reference: '/reference' })).app.inject('/reference')).statusCode, 200)
})

t.test('without the package of the page, the start logs how to get it, or stops if options.reference is set', async (t) => {
  hidePackage(t, '@scalar/fastify-api-reference')
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => void lines.push(JSON.parse(line).msg) } } })
  await app.register(openapi, { lint: 'off' })
  t.strictSame(lines, [
    'openapi: /reference has no page. It requires @scalar/fastify-api-reference 1.72.1 or a later 1, but it is not installed. Run: npm install @scalar/fastify-api-reference@1, or set options.reference to false.'
  ])
  t.strictSame(
    await Promise.all(['/reference', '/v1/openapi'].map(async (url) => (await app.inject(url)).statusCode)),
    [404, 200],
    'the documents are served'
  )
  await app.close()
  await t.rejects(async () => boot({ reference: '/reference' }), {
    message:
      'openapi: options.reference requires @scalar/fastify-api-reference 1.72.1 or a later 1, but it is not installed. Run: npm install @scalar/fastify-api-reference@1'
  })
})

t.test('its routes have the config of options.routeConfig, and the page may send requests to publicUrl', async (t) => {
  const { configs } = await boot({ routeConfig: { permissions: ['docs:read'], operational: true }, publicUrl: 'https://shop.example/base' })
  for (const url of ['/v1/openapi', '/reference', '/reference/v1.json', '/reference/start.js', '/reference/scalar.js'])
    t.match(configs.get(url), { permissions: ['docs:read'], operational: true, envelope: false }, url)
  t.strictSame(configs.get('/reference').contentSecurityPolicy.connectSrc, ["'self'", 'https://shop.example'])
})

t.test('invalid options stop the start with a one-line message', async (t) => {
  const cases: [Loose, RegExp][] = [
    [{ lint: 'loud' }, /^openapi: options\.lint must be "error" or "warning" or "off", but is "loud"\.$/],
    [{ reference: '/' }, /^openapi: options\.reference must be a path such as "\/reference", or false for no page, but is "\/"\.$/],
    [{ reference: '/docs/' }, /^openapi: options\.reference must be a path .*but is "\/docs\/"/],
    [{ versions: {} }, /^openapi: options\.versions is empty/],
    [{ versions: { v1: {} } }, /^openapi: options\.versions contains the invalid key "v1"/],
    [{ versions: { 1: { deprecatedAt: 'soon', sunsetAt: 'later' } } }, /^openapi: options\.versions\[1\] has an invalid date/],
    [{ publicUrl: 'shop.example' }, /^plugin-kit: options\.publicUrl is the invalid URL "shop\.example"/],
    [
      { waivers: { F1: 'Old.' } },
      /^openapi: options\.waivers must give F1 a reason and its last day: \{ F1: \{ reason: .*until: .* \} \}\.$/
    ]
  ]
  for (const [options, message] of cases) {
    const app = Fastify()
    await t.rejects(async () => app.register(openapi, options), { message })
  }
})

t.test('the page shows the errors of an operation itself, and folds those that others share', async (t) => {
  const app = Fastify()
  const errors: Loose = {
    GONE: { statusCode: 409, message: { en: 'Gone.' }, remedy: 'Take another.' },
    BUSY: { statusCode: 409, message: { en: 'Busy.' }, remedy: 'Wait.' },
    AWAY: { statusCode: 503, retry: 'later', message: { en: 'Away.' }, remedy: 'Wait longer.' },
    TORN: { statusCode: 400, message: { en: 'Torn.' }, remedy: 'Send all of it.' }
  }
  publish(app, {
    catalogue: { entries: Object.entries(errors).map(([code, error]: Loose) => ({ code, ...error })) } as unknown as Contracts['catalogue']
  })
  contribute(app, 'operations', () => ({ errors: ['BUSY', 'AWAY', 'TORN'] }))
  await app.register(openapi, { lint: 'off', reference: '/docs/reference', publicUrl: 'https://shop.example' })
  const schema = { response: { 200: { type: 'object' } } } as const
  app.put('/v1/things/:id', { config: { openapi: { errors: ['GONE'] } }, schema }, async () => ({}))
  app.get('/v1/things/:id', { schema }, async () => ({}))
  const get = async (url: string): Promise<Loose> => (await app.inject(url)).json()
  const [document, shown] = await Promise.all(['/v1/openapi', '/docs/reference/v1.json'].map(get))
  t.match(shown.info.description, /^\[The OpenAPI document\]\(\.\.\/v1\/openapi\)\n\n/)
  const { get: read, put } = shown.paths['/v1/things/{id}']
  t.strictSame(
    [Object.keys(put.responses), Object.keys(read.responses)],
    [
      ['200', '409', 'default'],
      ['200', 'default']
    ]
  )
  t.strictSame(codesOf(put.responses['409']), ['GONE', 'BUSY'], 'its own error is first')
  t.strictSame(codesOf(put.responses.default), ['TORN', 'AWAY'])
  t.equal(
    put.responses.default.description,
    'Errors that other operations have too.\n\n- **400** `TORN`: Send all of it.\n- **503** `AWAY`: Wait longer.'
  )
  t.strictSame(put.responses.default.content['application/json'].schema.properties.error.allOf[1].properties.code.enum, ['TORN', 'AWAY'])
  const self = { rel: 'self', href: 'https://shop.example/v1/things/018f4e2a-7c1b-7d3e-9a5f-0123456789ab', method: 'PUT' }
  t.strictSame(put.responses['409'].content['application/json'].examples.GONE.value._links, [self], 'an example is about its operation')
  t.strictSame(Object.keys(document.paths['/v1/things/{id}'].get.responses), ['200', '400', '409', '503'], 'the document lists all')
  t.equal((await app.inject('/docs/reference/v1.json')).body, JSON.stringify(shown))
  await app.close()
})
