import { randomBytes } from 'node:crypto'
import { memoryAuditTrailStore } from '@concordat/audit-trail'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { auditTrailRoutes, type ConventionsOptions, serverOptions } from '@concordat/conventions'
import { memoryIdempotencyStore } from '@concordat/idempotency'
import { movedDate } from '@concordat/test-harness/moved-date'
import { until } from '@concordat/test-harness/until'
import Fastify from 'fastify'
import t, { type Test } from 'tap'

const issuer = 'https://tokens.example.com'
const kit = testKit({ issuer, audience: 'books' })
const Book = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } } as const
const Body = { type: 'object', required: ['title'], properties: { title: { type: 'string' } } } as const
const bearer = (sub: string, scope = 'books:create', client?: string) => ({
  authorization: `Bearer ${kit.token({ sub, scope, client_id: client })}`
})

async function start(t: Test, options: Partial<ConventionsOptions> = {}) {
  const store = memoryAuditTrailStore()
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: {} },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: {
      issuers: [ownTokens({ issuer, audience: 'books', keys: kit.keys })],
      permissions: ['books:create', 'books:read', 'audit:read']
    },
    paginationQuery: { cursor: { secrets: [randomBytes(32).toString('base64')] } },
    stores: { auditTrail: store, idempotency: memoryIdempotencyStore() },
    ...options
  })
  await app.apiVersion(1, async (v1) => {
    const config = { permissions: ['books:create'], idempotency: 'accepted' } as const
    v1.post('/books', { config, schema: { body: Body, response: { 201: Book } } }, async (_request, reply) =>
      reply.created('/books/7', { id: '7' })
    )
    v1.get('/books/:id', { config: { permissions: ['books:read'] }, schema: { response: { 200: Book } } }, async () => ({ id: '7' }))
    if (options.stores === undefined) await v1.register(auditTrailRoutes)
  })
  app.post('/hook', { config: { public: true } }, async () => 'well')
  await app.ready()
  const post = (headers: Record<string, string> = {}, payload: object = { title: 'Emma' }, url = '/v1/books') =>
    app.inject({ method: 'POST', url, headers, payload })
  const stored = (count: number) => until(() => store.source.records().length >= count)
  const list = async (query = '', headers = bearer('eve', 'audit:read')) => app.inject({ url: `/v1/audit-records${query}`, headers })
  return { app, store, post, stored, list }
}

t.test('clients with the permission read who changed what, newest first, and filter by every column of the list', async (t) => {
  const clock = movedDate(t, Date.UTC(2027, 0, 1))
  const { post, stored, list } = await start(t)
  const sent: Parameters<typeof post>[] = [
    [bearer('ada', 'books:create', 'shop')],
    [bearer('bob', 'books:read')],
    [],
    [bearer('ada'), {}, '/hook?a=1']
  ]
  for (const input of sent) {
    clock.now += 1000
    await post(...input)
  }
  await stored(4)
  const { data, _meta } = (await list()).json()
  t.match(_meta.pagination, { perPage: 25 })
  t.match(data, [
    { route: '/hook', path: '/hook', permissions: [], outcome: 'committed', status: 200 },
    { outcome: 'refused', status: 401, errorCode: 'AUTHENTICATION_REQUIRED' },
    { subject: 'bob', outcome: 'refused', status: 403, errorCode: 'INSUFFICIENT_PERMISSION' },
    {
      id: /^[\da-f-]{36}$/,
      occurredAt: '2027-01-01T00:00:01.000Z',
      subject: 'ada',
      client: 'shop',
      issuer,
      permissions: ['books:create'],
      method: 'POST',
      route: '/v1/books',
      resource: '/books',
      version: 'v1',
      path: '/v1/books',
      outcome: 'committed',
      status: 201
    }
  ])
  t.notOk('subject' in data[1] || 'version' in data[0], 'what is not known is absent')
  for (const [query, count] of [
    ['subject=ada', 1],
    ['client=shop', 1],
    ['path=/v1/books', 3],
    ['route=/v1/books', 3],
    ['route=/books', 3],
    ['route=/v2/books', 0],
    ['route=/hook', 1],
    ['route=/v1/hook', 0],
    ['path[prefix]=/v1', 3],
    ['outcome=refused', 2],
    ['occurredAt[gte]=2027-01-01T00:00:02Z&occurredAt[lt]=2027-01-01T00:00:04Z', 2]
  ] as const)
    t.equal((await list(`?${query}`)).json().data.length, count, query)
  const page = (await list('?perPage=3&sort=occurredAt')).json()
  const next = page._links.find(({ rel }: { rel: string }) => rel === 'next').href.replace('https://api.example.com/v1/audit-records', '')
  t.equal((await list(next)).json().data.length, 1)
})

t.test('no other client reads a record', async (t) => {
  const { list } = await start(t)
  t.equal((await list('', bearer('ada', 'books:create books:read'))).statusCode, 403)
  t.equal((await list('', {} as never)).statusCode, 401)
})

t.test('a replay and a request over a limit have no record, and a request that is refused before its handler has one', async (t) => {
  const { app, post, stored, store } = await start(t, { rateLimiting: { addressLimit: { limit: 5, windowSeconds: 60 } } })
  const key = { 'idempotency-key': '"k"', ...bearer('ada') }
  t.equal((await post(key)).statusCode, 201)
  t.equal((await post(key)).headers['idempotency-replayed'], 'true')
  await post(key, { title: 'Persuasion' })
  await post(bearer('ada'), { titel: 7 })
  await post({}, {}, '/v1/books?access_token=secret')
  await post(bearer('ada'))
  await stored(4)
  await app.close()
  t.strictSame(
    store.source.records().map(({ outcome, status, errorCode }) => [outcome, status, errorCode]),
    [
      ['committed', 201, undefined],
      ['refused', 422, 'IDEMPOTENCY_KEY_REUSED'],
      ['refused', 422, 'VALIDATION_FAILED'],
      ['refused', 400, 'CREDENTIALS_IN_URI']
    ]
  )
})

t.test('without the store, no route has a further hook, and the routes of the audit trail stop the start', async (t) => {
  const hooks = async (options: Partial<ConventionsOptions>) => (await start(t, options)).app.printRoutes({ includeHooks: true })
  t.notMatch(await hooks({ stores: {} }), /noteEnd/)
  const recorded = await hooks({ stores: { auditTrail: memoryAuditTrailStore() } })
  t.equal(recorded.match(/noteEnd/g)?.length, 2, 'only the two POST routes')
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, { publicUrl: 'https://api.example.com', versions: { 1: {} }, authentication: false })
  const register = async () =>
    app.apiVersion(1, async (v1) => {
      await v1.register(auditTrailRoutes)
    })
  await t.rejects(register, {
    message: 'conventions: auditTrailRoutes requires options.stores.auditTrail. Set it, for example to postgresAuditTrailStore(database).'
  })
})
