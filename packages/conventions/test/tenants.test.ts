import { randomBytes } from 'node:crypto'
import { type AuditTrailStore, memoryAuditTrailStore } from '@concordat/audit-trail'
import { memoryRevocationStore, ownTokens, revocationFeed } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, {
  auditTrailRoutes,
  type ConventionsOptions,
  managedWebhookRoutes,
  serverOptions,
  webhookRoutes
} from '@concordat/conventions'
import { memoryIdempotencyStore } from '@concordat/idempotency'
import { defineJob, jobRecordSchema, memoryJobStore } from '@concordat/jobs'
import { collection } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { until } from '@concordat/test-harness/until'
import signInRoutes, {
  memoryLoginAttemptStore,
  memoryRefreshTokenStore,
  passwords,
  tokenIssuer,
  tokenIssuingErrors
} from '@concordat/token-issuing'
import { memoryWebhookStore } from '@concordat/webhooks'
import { memoryWorkQueue } from '@concordat/work-queue'
import Fastify, { type FastifyRequest } from 'fastify'
import { Pool } from 'pg'
import t, { type Test } from 'tap'

const url = process.env['TEST_DATABASE_URL']
const issuer = 'https://tokens.example.com'
const kit = testKit({ issuer, audience: 'clinic' })
const origin = 'https://api.example.com'
const tokens = ownTokens({ issuer, audience: 'clinic', keys: kit.keys })
const permissions = ['visits:read', 'visits:create', 'audit:read', 'version-clients:read']
const webhookPermissions = ['webhooks', 'managed-webhooks'].flatMap((name) =>
  ['read', 'create', 'update', 'delete'].map((action) => `${name}:${action}`)
)
const scope = [...permissions, ...webhookPermissions].join(' ')
const Visit = { type: 'object', required: ['id'], properties: { id: { type: 'string', maxLength: 20 } } } as const
const visits = collection<{ id: string }>(Visit)({ name: 'visits', style: 'cursor', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] } })
const rows = Array.from({ length: 4 }, (_, index) => ({ id: `v${index}` }))

const validator = () => ({ exists: true, etag: '7', lastModified: new Date('2026-01-01') })

type Claims = Readonly<Record<string, unknown>>
const bearer = (org: string | undefined, claims: Claims = {}) => ({
  authorization: `Bearer ${kit.token({ sub: 'ada', scope, org, ...claims })}`
})

/** Starts a service with every plugin that knows its clients. Its content is the same for all tenants. */
async function start(
  t: Test,
  options: Partial<ConventionsOptions> = {},
  own: { readonly owner?: (request: FastifyRequest) => string } = {},
  auditTrail: AuditTrailStore = memoryAuditTrailStore()
) {
  const ran: (string | undefined)[] = []
  const emitted: unknown[] = []
  const report = defineJob<{ year: number }, object>({
    name: 'report',
    input: { type: 'object', required: ['year'], properties: { year: { type: 'integer' } } },
    result: { type: 'object' },
    handler: async (_input, { tenant }) => {
      ran.push(tenant)
      return {}
    }
  })
  const queue = memoryWorkQueue()
  const revocations = revocationFeed({ store: memoryRevocationStore() })
  const app = Fastify(serverOptions())
  t.teardown(async () => {
    await app.close()
    await queue.close()
  })
  await app.register(conventions, {
    publicUrl: origin,
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: {
      issuers: [tokens],
      permissions: [...permissions, ...webhookPermissions],
      tenant: { claim: 'org' },
      revocations
    },
    paginationQuery: { cursor: { secrets: [randomBytes(32).toString('base64')] } },
    stores: { queue, jobs: memoryJobStore(), idempotency: memoryIdempotencyStore(), webhooks: memoryWebhookStore(), auditTrail },
    jobs: own,
    webhooks: {
      events: { 'visit.made': { description: 'A visit was made.', schema: Visit, example: { id: 'v1' } } },
      mayReceive: (subscriptions, { tenant }) => {
        emitted.push([tenant, subscriptions.map((subscription) => [subscription.owner, subscription.tenant])])
        return subscriptions
      },
      ...(own.owner && { ownersOf: (subject: string) => [subject] }),
      worker: false
    },
    ...options
  })
  await app.apiVersion(1, async (v1) => {
    const config = { permissions: ['visits:read'] }
    const list = { schema: { response: { 200: { type: 'array', items: Visit } } } }
    v1.get('/visits', { config: { ...config, collection: visits }, ...list }, async (request, reply) =>
      reply.page(runArray(rows, request.listQuery(visits)))
    )
    v1.get('/visits/:id', { config, schema: { response: { 200: Visit } } }, async () => ({ id: 'v1' }))
    v1.get('/notes/:id', { config: { ...config, validator }, schema: { response: { 200: Visit } } }, async () => ({ id: 'n1' }))
    v1.post(
      '/visits',
      { config: { permissions: ['visits:create'], idempotency: 'required' }, schema: { response: { 201: Visit } } },
      async ({ tenant }, reply) => {
        await app.webhooks.emit('visit.made', { id: 'v1' }, { id: 'made', tenant })
        return reply.created('/visits/v1', { id: `${tenant}-${ran.push('made')}` })
      }
    )
    const job = { permissions: ['visits:create'], idempotency: 'off' } as const
    v1.jobs.serve(report, '/reports', { config: job })
    v1.post<{ Body: { year: number } }>(
      '/reports',
      { config: { ...job, job: 'start' }, schema: { response: { '2xx': jobRecordSchema } } },
      async (request, reply) => reply.accepted(report, request.body, { key: 'yearly' })
    )
    v1.get('/plans/:id', { config: { public: true, tenant: 'none' }, schema: { response: { 200: Visit } } }, async () => ({ id: 'p1' }))
    await v1.register(webhookRoutes, own)
    await v1.register(managedWebhookRoutes)
    await v1.register(auditTrailRoutes)
    v1.batch('/batches', { paths: ['/visits', '/plans'], atomic: 'never', config: { permissions: ['visits:read'], idempotency: 'off' } })
  })
  await app.ready()
  const call = async (org: string | undefined, method: string, url: string, payload?: object, headers: Record<string, string> = {}) => {
    const response = await app.inject({
      method: method as 'GET',
      url: url.replace(origin, ''),
      headers: { ...bearer(org), ...headers },
      ...(payload && { payload })
    })
    return { status: response.statusCode, headers: response.headers, body: response.body === '' ? undefined : response.json() }
  }
  return { app, call, ran, emitted, report, revocations }
}

t.test('an idempotency key of one tenant is another key in each other tenant', async (t) => {
  const { call } = await start(t)
  const key = { 'idempotency-key': '0191106c-03c0-76ff-b1de-b7ec6c68a6a1' }
  const idsOf = async (org: string) => (await call(org, 'POST', '/v1/visits', {}, key)).body.data.id
  t.strictSame([await idsOf('a'), await idsOf('b'), await idsOf('a'), await idsOf('b')], ['a-1', 'b-2', 'a-1', 'b-2'])
})

t.test('a cursor is of its tenant', async (t) => {
  const { call } = await start(t)
  const page = await call('a', 'GET', '/v1/visits?perPage=2')
  const next = page.body._links.find(({ rel }: { rel: string }) => rel === 'next').href
  t.equal((await call('a', 'GET', next)).status, 200)
  const foreign = await call('b', 'GET', next)
  t.match([foreign.status, foreign.body.error], [422, { code: 'CURSOR_MISMATCH', errors: [{ field: 'query.after' }] }])
})

t.test('an entity tag and a cached response are of their tenant', async (t) => {
  const { call } = await start(t)
  for (const url of ['/v1/notes/n1', '/v1/visits/v1', '/v1/visits?perPage=2']) {
    const { etag = '', vary } = (await call('a', 'GET', url)).headers
    t.match(String(vary).split(', '), ['accept', 'authorization'], url)
    t.equal((await call('a', 'GET', url, undefined, { 'if-none-match': etag })).status, 304, url)
    const other = await call('b', 'GET', url, undefined, { 'if-none-match': etag })
    t.equal(other.status, 200, url)
    t.not(other.headers.etag, etag, url)
  }
  t.notMatch((await call('a', 'GET', '/v1/plans/p1')).headers.vary, /authorization/, 'without a tenant, the responses are the same')
})

t.test('the limit of a client is counted in each tenant', async (t) => {
  const { call } = await start(t, { rateLimiting: { clientLimit: { limit: 2, windowSeconds: 3600 } } })
  const all: number[] = []
  for (const org of ['a', 'a', 'a', 'b', 'b', 'b']) all.push((await call(org, 'GET', '/v1/visits/v1')).status)
  t.strictSame(all, [200, 200, 429, 200, 200, 429])
})

for (const [name, own] of [
  ['by default', {}],
  ['with an owner of its own', { owner: ({ principal }: FastifyRequest) => principal?.subject ?? '' }]
] as const) {
  t.test(`a job and its key are of their tenant, which the worker knows, ${name}`, async (t) => {
    const { call, ran } = await start(t, {}, own)
    const ofA = (await call('a', 'POST', '/v1/reports', { year: 2026 })).body.data
    const again = (await call('a', 'POST', '/v1/reports', { year: 2026 })).body.data
    const ofB = (await call('b', 'POST', '/v1/reports', { year: 2027 })).body.data
    t.equal(ofA.jobId, again.jobId)
    t.not(ofA.jobId, ofB.jobId)
    await until(() => ran.length >= 2)
    t.strictSame(ran.toSorted(), ['a', 'b'])
    const status = async (org: string, id: string) => (await call(org, 'GET', `/v1/reports/${id}`)).status
    t.strictSame([await status('a', ofA.jobId), await status('b', ofA.jobId), await status('a', ofB.jobId)], [200, 404, 404])
    t.equal((await call('b', 'DELETE', `/v1/reports/${ofA.jobId}`)).status, 404)
    t.equal((await call('b', 'GET', `/v1/reports/${ofA.jobId}/result`)).status, 404)
  })

  t.test(`a subscription is of its tenant and gets its events only, ${name}`, async (t) => {
    const { app, call, emitted } = await start(t, {}, own)
    const input = { url: 'https://hooks.example.com/visits', eventTypes: ['visit.made'] }
    const created = { a: '', b: '' }
    for (const org of ['a', 'b'] as const)
      created[org] = (
        await call(org, 'POST', '/v1/webhook-subscriptions', input, { 'idempotency-key': `subscribe-${org}-0123456789` })
      ).body.data.id
    const list = async (org: string, path: string) => (await call(org, 'GET', path)).body.data.map(({ id }: { id: string }) => id)
    for (const org of ['a', 'b'] as const) {
      const foreign = org === 'a' ? created.b : created.a
      t.strictSame(await list(org, '/v1/webhook-subscriptions'), [created[org]])
      t.strictSame(await list(org, '/v1/managed-webhook-subscriptions'), [created[org]], 'administrators see those of their tenant')
      for (const path of ['webhook-subscriptions', 'managed-webhook-subscriptions']) {
        t.equal((await call(org, 'GET', `/v1/${path}/${created[org]}`)).status, 200)
        t.equal((await call(org, 'GET', `/v1/${path}/${foreign}`)).status, 404)
        t.equal((await call(org, 'DELETE', `/v1/${path}/${foreign}`, undefined, { 'if-match': '*' })).status, 404)
      }
      t.match((await call(org, 'GET', `/v1/managed-webhook-subscriptions/${created[org]}`)).body.data, { tenant: org })
    }
    for (const org of ['a', 'b'])
      t.equal((await call(org, 'POST', '/v1/visits', {}, { 'idempotency-key': `make-${org}-0123456789` })).status, 201)
    const owner = own === undefined || !('owner' in own) ? JSON.stringify([issuer, 'user', 'ada']) : 'ada'
    t.strictSame(emitted, [
      ['a', [[owner, 'a']]],
      ['b', [[owner, 'b']]]
    ])
    for (const org of ['a', 'b'] as const) {
      const deliveries = (await call(org, 'GET', `/v1/webhook-subscriptions/${created[org]}/deliveries`)).body.data
      t.match(deliveries, [{ messageId: 'made' }], 'an event of each tenant can have the same id')
    }
    t.equal((await app.webhooks.emit('visit.made', { id: 'v2' }, { tenant: null })).deliveries, 0)
  })
}

t.test('a revocation of a user disables the subscriptions in all tenants', async (t) => {
  const { call, revocations } = await start(t)
  const input = { url: 'https://hooks.example.com/visits', eventTypes: ['visit.made'] }
  for (const org of ['a', 'b'])
    await call(org, 'POST', '/v1/webhook-subscriptions', input, { 'idempotency-key': `subscribe-${org}-0123456789` })
  await revocations.revoke({ kind: 'subject', id: 'ada', issuedBefore: Date.now() - 3_600_000, until: Date.now() + 900_000 })
  for (const org of ['a', 'b'])
    await until(async () => (await call(org, 'GET', '/v1/webhook-subscriptions')).body.data[0].status === 'disabled')
  t.pass('both are disabled')
})

t.test('audit records have the tenant, also of refusals, and administrators read those of their own', async (t) => {
  const auditTrail = memoryAuditTrailStore()
  const { app, call } = await start(t, {}, {}, auditTrail)
  await call('a', 'POST', '/v1/visits', {}, { 'idempotency-key': 'make-a-0123456789abc' })
  const weak = bearer('b', { scope: 'visits:read' })
  await app.inject({ method: 'POST', url: '/v1/visits', headers: weak, payload: {} })
  await call(undefined, 'POST', '/v1/visits', {})
  await until(() => auditTrail.source.records().length >= 3)
  const recorded = auditTrail.source.records().map(({ tenant, status }) => [tenant, status])
  t.strictSame(recorded.map(String).toSorted(), [',403', 'a,201', 'b,403'])
  for (const org of ['a', 'b']) t.match((await call(org, 'GET', '/v1/audit-records')).body.data, [{ tenant: org }])
})

t.test('audit records in a table are read by tenant too', { skip: url === undefined && 'TEST_DATABASE_URL is not set' }, async (t) => {
  const pool = new Pool({ connectionString: url, max: 1 })
  t.teardown(() => pool.end())
  // A temporary table, which is of this connection.
  await pool.query(`CREATE TEMPORARY TABLE audit_records (occurred_at timestamptz, id uuid, request_id text, subject text, client text, issuer text, tenant text,
    permissions text[], method text, route text, resource text, version text, path text, outcome text, status smallint, error_code text, repetitions integer)`)
  await pool.query(`INSERT INTO audit_records (occurred_at, id, request_id, tenant, permissions, method, route, path, outcome, status)
    SELECT now(), gen_random_uuid(), 'r', tenant, '{}', 'POST', '/v1/visits', '/v1/visits', 'committed', 201 FROM unnest(ARRAY['a', 'b', null]) AS tenant`)
  const auditTrail = { add: async () => {}, source: { client: pool, table: 'audit_records' } }
  const { call } = await start(t, {}, {}, auditTrail)
  for (const org of ['a', 'b']) t.match((await call(org, 'GET', '/v1/audit-records')).body.data, [{ tenant: org }])
})

t.test('all operations of a batch have its tenant, so a batch cannot be without one', async (t) => {
  const { call } = await start(t)
  const operations = [
    { id: 'one', method: 'GET', path: '/v1/visits/v1' },
    { id: 'two', method: 'GET', path: '/v1/plans/p1' }
  ]
  const { body } = await call('a', 'POST', '/v1/batches', { operations })
  t.match(JSON.stringify(body), /"status":200.*"status":200/)
  t.match([(await call(undefined, 'POST', '/v1/batches', { operations })).body.error], [{ status: 403, code: 'TENANT_REQUIRED' }])
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: origin,
    versions: { 1: { status: 'current' } },
    authentication: { issuers: [tokens], permissions, tenant: { claim: 'org' } }
  })
  app.apiVersion(1, async (v1) => {
    v1.batch('/batches', { paths: ['/visits'], atomic: 'never', config: { permissions: ['visits:read'], tenant: 'none' } })
  })
  await t.rejects(async () => app.ready(), {
    message: "batch: /v1/batches: config.tenant must not be 'none' on a batch, because all of its operations have its tenant. Remove it."
  })
})

t.test('what happens outside a request names its tenant, or none', async (t) => {
  const { app, report } = await start(t)
  const owner = JSON.stringify([issuer, 'user', 'ada'])
  await t.rejects(app.jobs.start(report, { year: 2026 }, { owner }), {
    message: 'jobs: app.jobs.start() needs a tenant. Set `tenant`, for example to request.tenant, or to null for a job of no tenant.'
  })
  await t.rejects(app.webhooks.emit('visit.made', { id: 'v1' }), {
    message: 'webhooks: emit() needs a tenant. Set `tenant`, for example to request.tenant, or to null for the subscriptions of no tenant.'
  })
  for (const tenant of ['', "a'b", 'a'.repeat(65)]) {
    await t.rejects(
      app.jobs.start(report, { year: 2026 }, { owner, tenant }),
      /`tenant` of app\.jobs\.start\(\) must be 1 to 64 characters/
    )
    await t.rejects(app.webhooks.emit('visit.made', { id: 'v1' }, { tenant }), /`tenant` of emit\(\) must be 1 to 64 characters/)
  }
  t.match(await app.jobs.start(report, { year: 2026 }, { owner, tenant: 'a' }), { tenant: 'a' })
  t.notOk('tenant' in (await app.jobs.start(report, { year: 2026 }, { owner, tenant: null })))
})

t.test('a user gets a token of the tenant that the service knows, at routes that need no tenant', async (t) => {
  const user = { id: 'ada', passwordHash: await passwords().hash('correct horse battery staple'), permissions, claims: { org: 'a' } }
  const revocations = revocationFeed({ store: memoryRevocationStore() })
  const tokenIssuing = tokenIssuer({
    sign: tokens.sign,
    findUser: () => user,
    findUserById: () => user,
    refreshKeys: [randomBytes(32).toString('base64')],
    stores: { refreshTokens: memoryRefreshTokenStore(), loginAttempts: memoryLoginAttemptStore() },
    revocations
  })
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: origin,
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: { issuers: [tokens], permissions, tenant: { claim: 'org' }, revocations },
    errorCatalogue: { include: [tokenIssuingErrors] }
  })
  await app.apiVersion(1, async (v1) => {
    await v1.register(signInRoutes, { issuer: tokenIssuing, verify: tokens.verify })
    v1.get('/visits/:id', { config: { permissions: ['visits:read'] }, schema: { response: { 200: Visit } } }, async ({ tenant }) => ({
      id: `${tenant}`
    }))
  })
  await app.ready()
  const payload = { username: 'ada', password: 'correct horse battery staple' }
  const { accessToken } = (await app.inject({ method: 'POST', url: '/v1/tokens', payload })).json().data
  const headers = { authorization: `Bearer ${accessToken}` }
  t.equal((await app.inject({ url: '/v1/visits/v1', headers })).json().data.id, 'a')
})
