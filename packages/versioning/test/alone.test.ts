import { publish } from '@concordat/plugin-kit/wiring'
import versioning from '@concordat/versioning'
import Fastify from 'fastify'
import t from 'tap'

t.test('without options there is one version, v1, and plain Fastify serves its routes only under /v1 [S9]', async (t) => {
  const app = Fastify()
  await app.register(versioning)
  await app.apiVersion(1, async (v1) => {
    v1.get('/orders/:id', async ({ apiVersion }) => ({ id: 'a', version: apiVersion }))
  })

  const response = await app.inject('/v1/orders/a')
  t.equal(response.statusCode, 200)
  t.strictSame(response.json(), { id: 'a', version: 'v1' })
  for (const header of ['deprecation', 'sunset', 'link', 'warning']) t.notOk(header in response.headers, `no ${header}`)

  t.equal((await app.inject('/orders/a')).statusCode, 404)
  const entry = { version: 'v1', status: 'current', href: 'http://localhost/v1' }
  t.strictSame((await app.inject('/')).json(), { versions: [entry] })
  t.strictSame((await app.inject('/v1')).json(), entry)
})

t.test('the responses about versions have the links to their descriptions in the Link header [V5]', async (t) => {
  const app = Fastify()
  await app.register(versioning, { versions: { 1: {}, 2: {} } })
  publish(app, { descriptionLinks: (version) => [{ rel: 'service-desc', path: `/${version}/openapi` }] })
  await app.apiVersion(1, async () => {})
  await app.apiVersion(1, async () => {})
  const linkOf = async (url: string) => (await app.inject(url)).headers.link
  t.equal(await linkOf('/'), '<http://localhost/v2/openapi>; rel="service-desc"')
  t.equal(await linkOf('/v1'), '<http://localhost/v1/openapi>; rel="service-desc"')
  t.equal((await app.inject('/v2')).statusCode, 404, 'a version without routes')
})

t.test('plain Fastify responds to an unknown version with 404 VERSION_NOT_FOUND', async (t) => {
  const app = Fastify()
  await app.register(versioning)
  const response = await app.inject('/v2/orders')
  t.equal(response.statusCode, 404)
  t.strictSame(response.json(), {
    statusCode: 404,
    code: 'VERSION_NOT_FOUND',
    error: 'Not Found',
    message: 'This API does not have the requested version. Available versions: v1.'
  })
})

t.test('plain Fastify responds to a retired version with 410 VERSION_RETIRED', async (t) => {
  const app = Fastify()
  const versions = {
    1: { deprecatedAt: '2020-01-01T00:00:00Z', sunsetAt: '2021-01-01T00:00:00Z', documentation: 'https://docs.example.com/v2' },
    2: {}
  }
  await app.register(versioning, { versions })
  const response = await app.inject('/v1/orders')
  t.equal(response.statusCode, 410)
  t.strictSame(response.json(), {
    statusCode: 410,
    code: 'VERSION_RETIRED',
    error: 'Gone',
    message: 'Version v1 of this API was retired on 2021-01-01. See https://docs.example.com/v2 to migrate.'
  })
})

t.test('leaves a path that does not name a version to plain Fastify', async (t) => {
  const app = Fastify()
  await app.register(versioning)
  for (const url of ['/orders', '/version', '/vienna', '/v', '*', '/%zz']) {
    const response = await app.inject({ url, method: url === '*' ? 'OPTIONS' : 'GET' })
    t.match(response.json().code ?? 'none', /^(none|FST_ERR_BAD_URL)$/, url)
  }
})
