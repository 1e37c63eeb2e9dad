import versioning from '@concordat/versioning'
import Fastify from 'fastify'
import t from 'tap'

t.test('without options there is one version, v1, and stock Fastify serves its routes under /v1 only [S9]', async (t) => {
  const app = Fastify()
  await app.register(versioning)
  await app.apiVersion(1, async (v1) => {
    v1.get('/orders/:id', async ({ apiVersion }) => ({ id: 'a', version: apiVersion }))
  })

  const answer = await app.inject('/v1/orders/a')
  t.equal(answer.statusCode, 200)
  t.strictSame(answer.json(), { id: 'a', version: 'v1' })
  for (const header of ['deprecation', 'sunset', 'link', 'warning']) t.notOk(header in answer.headers, `no ${header}`)

  t.equal((await app.inject('/orders/a')).statusCode, 404)
  t.strictSame((await app.inject('/')).json(), { versions: [{ version: 'v1', status: 'current', href: 'http://localhost/v1' }] })
})

t.test('stock Fastify prints an unknown version as 404 VERSION_NOT_FOUND', async (t) => {
  const app = Fastify()
  await app.register(versioning)
  const answer = await app.inject('/v2/orders')
  t.equal(answer.statusCode, 404)
  t.strictSame(answer.json(), {
    statusCode: 404,
    code: 'VERSION_NOT_FOUND',
    error: 'Not Found',
    message: 'The address names a version that this API does not have. Its versions are: v1.'
  })
})

t.test('stock Fastify prints a retired version as 410 VERSION_RETIRED', async (t) => {
  const app = Fastify()
  const versions = {
    1: { deprecatedAt: '2020-01-01T00:00:00Z', sunsetAt: '2021-01-01T00:00:00Z', documentation: 'https://docs.example.com/v2' },
    2: {}
  }
  await app.register(versioning, { versions })
  const answer = await app.inject('/v1/orders')
  t.equal(answer.statusCode, 410)
  t.strictSame(answer.json(), {
    statusCode: 410,
    code: 'VERSION_RETIRED',
    error: 'Gone',
    message: 'Version v1 of this API was retired on 2021-01-01. Read https://docs.example.com/v2 to move on.'
  })
})

t.test('a path that names no version stays what stock Fastify makes of it', async (t) => {
  const app = Fastify()
  await app.register(versioning)
  for (const url of ['/orders', '/version', '/vienna', '/v', '*', '/%zz']) {
    const answer = await app.inject({ url, method: url === '*' ? 'OPTIONS' : 'GET' })
    t.match(answer.json().code ?? 'none', /^(none|FST_ERR_BAD_URL)$/, url)
  }
})
