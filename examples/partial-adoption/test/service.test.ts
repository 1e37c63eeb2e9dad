import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import { fromPGlite, fromPool, migrate, type Postgres } from '@concordat/postgres'
import { idempotencyMigrations, postgresIdempotencyStore } from '@concordat/postgres/idempotency'
import { startPGlite } from '@concordat/test-harness/pglite'
import type { FastifyInstance } from 'fastify'
import { Client, Pool } from 'pg'
import t, { type Test } from 'tap'
import { createTables, type Database, tables } from '../src/database.ts'
import { buildService, packages } from '../src/service.ts'
import { type Request, type Response, requestsTo, requestsWithKeys, respondsTo, responsesOf, wireRequests } from './requests.ts'

type Package = (typeof packages)[number]

const areaOf: Readonly<Record<Package, string>> = {
  'error-catalogue': '/v2/parcels',
  idempotency: '/v1/payments',
  'conditional-caching': '/v1/products',
  'pagination-query': '/v1/invoices',
  'rate-limiting': '/v1/searches',
  authentication: '/admin/reports'
}
const areas = ['/v1/orders', '/none', ...Object.values(areaOf)]
const requests = [...areas.filter((area) => area !== areaOf.idempotency).flatMap(requestsWithKeys), ...areas.flatMap(requestsTo)]

const { database, postgres } = await openDatabase()
await createTables(database)
await migrate(postgres, idempotencyMigrations)
const store = postgresIdempotencyStore(postgres)
const origin = { issuer: 'https://id.example', audience: 'shop' }
const kit = testKit(origin)
const issuers = [ownTokens({ ...origin, keys: kit.keys })]

async function openDatabase(): Promise<{ database: Database; postgres: Postgres }> {
  const server = process.env['TEST_DATABASE_URL']
  if (server === undefined) {
    const pglite = await startPGlite()
    t.teardown(() => pglite.close())
    return { database: pglite, postgres: fromPGlite(pglite) }
  }
  const name = `partial_adoption_${randomUUID().replaceAll('-', '')}`
  const administration = new Client({ connectionString: server })
  await administration.connect()
  await administration.query(`CREATE DATABASE ${name}`)
  const pool = new Pool({ connectionString: Object.assign(new URL(server), { pathname: `/${name}` }).href })
  t.teardown(async () => {
    await pool.end()
    await administration.query(`DROP DATABASE ${name} WITH (FORCE)`).finally(() => administration.end())
  })
  return { database: pool, postgres: fromPool(pool) }
}

async function start(t: Test, ...adopted: Package[]) {
  await database.query(`TRUNCATE ${tables.join(', ')} RESTART IDENTITY`)
  await Promise.all(tables.map((table) => database.query(`INSERT INTO ${table} (name, amount) VALUES ('tea', 5), ('coffee', 7)`)))
  return service(t, ...adopted)
}

async function service(t: Test, ...adopted: Package[]) {
  const app = await buildService({ database, adopted, store, issuers })
  t.teardown(() => app.close())
  // In an object, because an instance is thenable.
  return { app }
}

async function listen({ app }: { readonly app: FastifyInstance }) {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return app
}

const plain = await start(t)
const before = await responsesOf(plain.app, requests)
await listen(plain)
const wireBefore = await Promise.all(wireRequests.map((lines) => respondsTo(plain.app, lines)))

function isIn(request: Request, name: Package) {
  // All paths of these prefixes belong to the package, also unknown ones.
  if (name === 'error-catalogue') return request.url.startsWith('/v2')
  return request.area === areaOf[name]
}

for (const name of packages) {
  t.test(`with ${name}, all responses outside its routes are as without it`, async (t) => {
    const { app } = await start(t, name)
    const after = await responsesOf(app, requests)
    for (const [index, request] of requests.entries()) {
      if (!isIn(request, name)) t.strictSame(after[index], before[index], `${request.name}: ${request.url}`)
    }
  })
}

// What changes for a client, apart from headers that are added. The guide describes these changes.
const changes = {
  '/v2/parcels': [
    'missing item',
    'invalid path parameter',
    'thrown error',
    'unknown path',
    'unknown path beside',
    'trailing slash',
    'conditional change',
    'head of a missing item',
    'options',
    'unsupported method',
    'refused creation',
    'invalid body',
    'coerced body with an unknown field',
    'malformed JSON',
    'empty body',
    'too large body',
    'unsupported media type'
  ],
  '/v1/products': ['conditional read', 'conditional change'],
  '/v1/invoices': ['unknown query'],
  '/admin/reports': [
    'creation with a key',
    'list',
    'item',
    'missing item',
    'invalid path parameter',
    'thrown error',
    'trailing slash',
    'unknown query',
    'unacceptable media type',
    'conditional read',
    'unknown token',
    'head',
    'head of a missing item',
    'creation',
    'refused creation',
    'invalid body',
    'coerced body with an unknown field',
    'malformed JSON',
    'empty body',
    'too large body',
    'unsupported media type'
  ]
}
const added = new Set(['link', 'etag', 'cache-control', 'ratelimit', 'ratelimit-policy'])

t.test('with all packages, only the listed requests get another response, and none below HTTP', async (t) => {
  const started = await start(t, ...packages)
  const after = await responsesOf(started.app, requests)
  const changed: Record<string, string[]> = {}
  for (const [index, { area, name }] of requests.entries()) {
    const { headers, ...now } = after[index] as Response
    const kept = Object.fromEntries(Object.entries(headers).filter(([header]) => !added.has(header)))
    const isSame = isDeepStrictEqual({ ...now, headers: kept }, before[index])
    if (!isSame && !changed[area]?.includes(name)) changed[area] = [...(changed[area] ?? []), name]
  }
  t.strictSame(changed, changes)
  const app = await listen(started)
  for (const [index, lines] of wireRequests.entries()) t.equal(await respondsTo(app, lines), wireBefore[index], String(lines[0]))
})

const json = { 'content-type': 'application/json' }
const post = (app: FastifyInstance, url: string, payload: object | string, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url, payload, headers: { ...json, ...headers } })

t.test('error-catalogue: every error below /v2 is in the envelope, and successes are as before [E4]', async (t) => {
  const { app } = await start(t, 'error-catalogue')
  const errors: readonly [number, string, Promise<{ json: () => unknown }>][] = [
    [404, 'RESOURCE_NOT_FOUND', app.inject('/v2/parcels/999')],
    [404, 'RESOURCE_NOT_FOUND', app.inject('/v2/parcels/abc')],
    [404, 'RESOURCE_NOT_FOUND', app.inject('/v2/unknown')],
    [404, 'RESOURCE_NOT_FOUND', app.inject('/v2')],
    [404, 'RESOURCE_NOT_FOUND', app.inject({ method: 'DELETE', url: '/v2/parcels' })],
    [500, 'INTERNAL_ERROR', app.inject('/v2/parcels/failing')],
    [402, 'PAYMENT_REQUIRED', post(app, '/v2/parcels', { name: 'tea', amount: 5000 })],
    [400, 'MALFORMED_JSON', post(app, '/v2/parcels', '{')],
    [413, 'PAYLOAD_TOO_LARGE', post(app, '/v2/parcels', { name: 'x'.repeat(2000), amount: 1 })],
    [422, 'VALIDATION_FAILED', post(app, '/v2/parcels', { name: 'tea', amount: '7', color: 'red' })]
  ]
  for (const [status, code, response] of errors) {
    t.match((await response).json(), { error: { status, code }, _links: [{ rel: 'self' }], _meta: { version: 'v2' } }, code)
  }
  t.strictSame((await app.inject('/v2/parcels/1')).json(), { id: 1, name: 'tea', amount: 5 })
})

t.test('idempotency: a retry with a key gets the stored response, and errors have the format of the service [I3]', async (t) => {
  const { app } = await start(t, 'idempotency')
  const pay = (key: string, amount: number) => post(app, '/v1/payments', { name: 'tea', amount }, { 'idempotency-key': key })
  const first = await pay('"a"', 12)
  const retry = await pay('"a"', 12)
  t.strictSame([first.statusCode, first.headers.location, first.json()], [201, '/v1/payments/3', { id: 3, name: 'tea', amount: 12 }])
  t.strictSame([retry.statusCode, retry.headers['idempotency-replayed'], retry.body], [201, 'true', first.body])
  t.equal((await app.inject('/v1/payments')).json().length, 3)

  t.match((await pay('"a"', 13)).json(), { ok: false, reason: 'IDEMPOTENCY_KEY_REUSED', detail: /^This idempotency key was used/ })
  t.match(await pay('"', 12), { statusCode: 400 })
  const refused = await pay('"b"', 5000)
  t.strictSame(refused.json(), { ok: false, reason: 'TOO_EXPENSIVE', detail: 'The amount must not exceed 1000.' })
  t.strictSame([(await pay('"b"', 5000)).statusCode, (await pay('"b"', 5000)).body], [402, refused.body])
})

t.test('conditional-caching: plain resources have tags, 304 and 412 [C6] [O1]', async (t) => {
  const { app } = await start(t, 'conditional-caching')
  const { headers, body } = await app.inject('/v1/products/1')
  const tag = String(headers.etag)
  t.match(tag, /^"1~[\w-]{11}"$/)
  t.strictSame([headers['cache-control'], body], ['private, no-cache', '{"id":1,"name":"tea","amount":5}'])
  t.match(await app.inject({ url: '/v1/products/1', headers: { 'if-none-match': tag } }), { statusCode: 304, body: '' })
  const list = await app.inject('/v1/products')
  t.match(await app.inject({ url: '/v1/products', headers: { 'if-none-match': String(list.headers.etag) } }), { statusCode: 304, body: '' })

  const rename = (name: string, ifMatch?: string, id = 1) =>
    app.inject({
      method: 'PATCH',
      url: `/v1/products/${id}`,
      payload: { name },
      headers: ifMatch === undefined ? {} : { 'if-match': ifMatch }
    })
  const both = await Promise.all([rename('green tea', tag), rename('black tea', tag)])
  t.strictSame(both.map(({ statusCode }) => statusCode).toSorted(), [200, 412])
  const late = await rename('white tea', tag)
  t.match(late, { statusCode: 412, headers: { etag: /^"2~[\w-]{11}"$/, 'cache-control': 'no-store' } })
  t.match(late.json(), { ok: false, reason: 'PRECONDITION_FAILED' })
  t.equal((await rename('white tea', '*')).statusCode, 200)
  t.equal((await rename('tea')).statusCode, 200, 'clients that send no condition are served as before')
  t.match((await rename('tea', undefined, 999)).json(), { ok: false, reason: 'MISSING' })
})

t.test('pagination-query: a plain array has pages, and invalid queries get errors in the format of the service [Q1]', async (t) => {
  const { app } = await start(t, 'pagination-query')
  const { headers, body } = await app.inject('/v1/invoices?sort=-amount&perPage=1')
  t.equal(body, '[{"id":2,"name":"coffee","amount":7}]')
  t.match(headers.link, /<https:\/\/shop\.example\/v1\/invoices\?.*page=2.*>; rel="next"/)
  t.match(await app.inject('/v1/invoices?sort=name'), { statusCode: 422 })
  t.match((await app.inject('/v1/invoices?sort=name')).json(), { ok: false, reason: 'INVALID_QUERY_PARAMETERS' })
})

t.test('rate-limiting: one route is limited, in the format of the service [X5]', async (t) => {
  const { app } = await start(t, 'rate-limiting')
  for (let count = 0; count < 100; count++) await app.inject('/v1/searches')
  const refused = await app.inject('/v1/searches')
  t.match(refused, { statusCode: 429, headers: { 'retry-after': /^\d+$/ } })
  t.match(refused.json(), { ok: false, reason: 'RATE_LIMIT_EXCEEDED' })
  t.equal((await app.inject('/v1/orders')).statusCode, 200)
})

t.test('authentication: the routes below /admin require a token, and errors have the format of the service', async (t) => {
  const { app } = await start(t, 'authentication')
  const anonymous = await app.inject('/admin/reports')
  t.match(anonymous, { statusCode: 401, headers: { 'www-authenticate': /^Bearer/ } })
  t.match(anonymous.json(), { ok: false, reason: 'AUTHENTICATION_REQUIRED' })
  const authorization = `Bearer ${kit.token({ scope: 'reports:read' })}`
  t.equal((await app.inject({ url: '/admin/reports', headers: { authorization } })).json().length, 2)
  t.equal((await post(app, '/admin/reports', { name: 'tea', amount: 1 }, { authorization })).statusCode, 403)
})

const pay = (app: FastifyInstance) => post(app, '/v1/payments', { name: 'tea', amount: 12 }, { 'idempotency-key': '"leaving"' })

t.test('a service that leaves all packages responds as before and reads all its data; keys work again when it returns', async (t) => {
  const { app } = await start(t, ...packages)
  const paid = await pay(app)
  await app.inject({ method: 'PATCH', url: '/v1/products/1', payload: { name: 'green tea' }, headers: { 'if-match': '"1"' } })
  await app.close()

  const left = await service(t)
  t.strictSame((await left.app.inject('/v1/payments/3')).body, paid.body)
  t.strictSame((await left.app.inject('/v1/products/1')).json(), { id: 1, name: 'green tea', amount: 5 })
  t.equal((await pay(left.app)).json().id, 4, 'without the package, the header has no effect')
  await left.app.close()

  const returned = await service(t, 'idempotency')
  t.strictSame((await pay(returned.app)).body, paid.body, 'the stored response is still there')
  await returned.app.close()
  const { app: again } = await start(t)
  t.strictSame(await responsesOf(again, requests), before)
})
