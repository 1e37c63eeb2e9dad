import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { createApiKey, memoryApiKeyStore, ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { auditTrailRoutes, managedWebhookRoutes, serverOptions, webhookRoutes } from '@concordat/conventions'
import type { FileStore, StoredFile } from '@concordat/files'
import { defineJob, type JobSummary, jobRecordSchema, jobSummarySchema } from '@concordat/jobs'
import { collection, many, one, walkPages } from '@concordat/pagination-query'
import { runSql } from '@concordat/pagination-query/sql'
import { type Migration, migrate } from '@concordat/postgres'
import { auditTrailMigrations, postgresAuditTrailStore } from '@concordat/postgres/audit-trail'
import { fileMigrations, postgresFileStore } from '@concordat/postgres/files'
import type { OpenDatabase } from '@concordat/postgres/open'
import { found, postgresRowErrors, statementsOn, validatorOf } from '@concordat/postgres/rows'
import { postgresStores, storeMigrations } from '@concordat/postgres/stores'
import { removeDeleted, table } from '@concordat/postgres/table'
import { postgresTransactions } from '@concordat/postgres/unit-of-work'
import { type Static, Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { Test } from 'tap'

export const tenantSetting = 'app.tenant'

/** Who sends requests. In both tenants, the users have the same names, and so have keys, patients and what else a client names. */
export type Actor = 'one' | 'other'

/** Is in everything that only the other tenant wrote, and in its name. */
export const marker = 'ELSEWHERE'
export const tenants: Readonly<Record<Actor, string>> = { one: 'clinic-1', other: `clinic-${marker}` }

const tenant = `tenant text NOT NULL DEFAULT NULLIF(current_setting('${tenantSetting}', true), '')`
const version = 'version uuid NOT NULL DEFAULT gen_random_uuid()'
const isolated = (name: string) => [
  `CREATE POLICY tenant ON ${name} USING (tenant = (SELECT NULLIF(current_setting('${tenantSetting}', true), '')))`,
  `ALTER TABLE ${name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`
]
const versioned = (name: string) => `CREATE TRIGGER ${name}_version BEFORE UPDATE ON ${name} FOR EACH ROW EXECUTE FUNCTION next_version()`

/** The tables of clinics, which are the tenants. `plans` are those of all. */
const clinicTables: Migration = {
  component: 'clinics',
  version: 1,
  statements: [
    `CREATE FUNCTION next_version() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.version := gen_random_uuid(); RETURN NEW; END'`,
    `CREATE TABLE plans (id text COLLATE "C" PRIMARY KEY, name text NOT NULL)`,
    `INSERT INTO plans VALUES ('basic', 'Basic'), ('full', 'Full')`,
    `CREATE TABLE patients (${tenant}, id uuid NOT NULL, name text COLLATE "C" NOT NULL, email text COLLATE "C" NOT NULL, note text,
      plan_id text REFERENCES plans, deleted_at timestamptz, ${version}, PRIMARY KEY (tenant, id))`,
    'CREATE UNIQUE INDEX patients_email ON patients (tenant, email) WHERE deleted_at IS NULL',
    'CREATE INDEX patients_name ON patients (tenant, name, id) WHERE deleted_at IS NULL',
    'CREATE INDEX patients_deleted ON patients (tenant, deleted_at) WHERE deleted_at IS NOT NULL',
    `CREATE TABLE visits (${tenant}, id uuid NOT NULL DEFAULT gen_random_uuid(), patient_id uuid NOT NULL, status text COLLATE "C" NOT NULL DEFAULT 'planned',
      starts_at timestamptz NOT NULL, note text, ${version}, PRIMARY KEY (tenant, id), FOREIGN KEY (tenant, patient_id) REFERENCES patients)`,
    'CREATE INDEX visits_starts_at ON visits (tenant, starts_at, id)',
    'CREATE INDEX visits_patient ON visits (tenant, patient_id, starts_at, id)',
    `CREATE TABLE scans (${tenant}, id uuid NOT NULL, patient_id uuid NOT NULL, title text NOT NULL, image jsonb NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (tenant, id), FOREIGN KEY (tenant, patient_id) REFERENCES patients)`,
    'CREATE INDEX scans_created_at ON scans (tenant, created_at, id)',
    'CREATE INDEX scans_patient ON scans (tenant, patient_id, created_at, id)',
    ...['patients', 'visits', 'scans'].flatMap(isolated),
    ...['patients', 'visits'].map(versioned)
  ]
}

/** Prepares the database of the service. */
export async function prepareClinics({ postgres }: OpenDatabase): Promise<void> {
  await migrate(postgres, [...storeMigrations, ...fileMigrations, ...auditTrailMigrations, clinicTables])
}

const Id = Type.String({ format: 'uuid' })
const IdPath = Type.Object({ id: Id })
type OfOne<Body = unknown> = { Params: Static<typeof IdPath>; Body: Body }
const text = Type.String({ minLength: 1, maxLength: 60 })
const note = Type.Optional(text)
const Time = Type.String({ format: 'date-time' })

const NewPatient = Type.Object({ name: text, email: text, note, planId: note })
const Patient = Type.Object({ id: Id, ...NewPatient.properties, deletedAt: Type.Optional(Time) })
type Patient = Static<typeof Patient>
const status = Type.Union(['planned', 'done'].map((value) => Type.Literal(value)))
const NewVisit = Type.Object({ patientId: Id, startsAt: Time, note })
const Visit = Type.Object({ id: Id, ...NewVisit.properties, status })
type Visit = Static<typeof Visit>
const Scan = Type.Object({ id: Id, patientId: Id, title: text, sizeBytes: Type.Integer(), createdAt: Time })
type Scan = Static<typeof Scan>
const Plan = Type.Object({ id: text, name: text })
const ExportInput = Type.Object({ waits: Type.Boolean(), note })
const ExportResult = Type.Object({ patientCount: Type.Integer(), fileId: Id })
type ExportResult = Static<typeof ExportResult>
const ExportRow = Type.Unsafe<JobSummary>({ ...jobSummarySchema, title: 'ExportSummary' })

const plans = collection(Plan)({ name: 'plans', style: 'page', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] } })
const patientListing = {
  name: 'patients',
  style: 'cursor',
  id: 'id',
  defaultSort: ['name'],
  sort: { keys: ['name', 'email'], combinations: [['name', '-email']] },
  count: 'exact',
  filter: { name: ['eq', 'in', 'prefix', 'contains'], email: ['eq', 'contains'], planId: ['eq', 'null'] },
  any: { search: ['name', 'email'] },
  deleted: { field: 'deletedAt', keepDays: 30, seenWith: 'patients:restore' }
} as const
const visits = collection(Visit)({
  name: 'visits',
  style: 'page',
  id: 'id',
  defaultSort: ['-startsAt'],
  sort: { keys: ['startsAt', 'status'] },
  filter: { status: true, patientId: ['eq', 'in'], startsAt: ['gte', 'lt'], 'patient.name': ['eq', 'prefix'], 'patient.email': ['eq'] },
  relations: { patient: one(collection(Patient)(patientListing), { key: 'patientId', permission: 'patients:read' }) }
})
const scans = collection(Scan)({
  name: 'scans',
  style: 'cursor',
  id: 'id',
  defaultSort: ['-createdAt'],
  sort: { keys: ['createdAt', 'title'] },
  filter: { title: ['eq', 'prefix'], patientId: ['eq'] }
})
const scanColumns = { sizeBytes: { sql: "(image->>'size')::integer", column: 'image' } }
const patients = collection(Patient)({
  ...patientListing,
  relations: {
    visits: many(visits, { key: 'patientId', permission: 'visits:read', sort: '-startsAt', max: 2 }),
    scans: many(scans, { key: 'patientId', permission: 'scans:read', sort: '-createdAt', max: 1, source: () => ({ columns: scanColumns }) })
  }
})
const exportList = collection(ExportRow)({
  name: 'exports',
  style: 'page',
  id: 'jobId',
  defaultSort: ['-createdAt'],
  sort: { keys: ['createdAt'] }
})

const patientTable = table(patients, { columns: { tenant: 'tenant' } })
const visitTable = table(visits)
const scanTable = table(scans, { hasVersion: false, columns: scanColumns })

const own = ['patients', 'visits', 'scans', 'exports'].flatMap((name) => [`${name}:read`, `${name}:write`])
const ofWebhooks = ['webhooks', 'managed-webhooks'].flatMap((name) =>
  ['read', 'create', 'update', 'delete'].map((action) => `${name}:${action}`)
)
const permissions = [...own, ...ofWebhooks, 'patients:restore', 'audit:read']

const trust = { issuer: 'https://tokens.example.com', audience: 'clinics' }
const kit = testKit(trust)
/** Returns the headers of a user, who can have the same name in several tenants. */
export const bearer = (org: string, sub: string): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${kit.token({ sub, org, scope: permissions.join(' ') })}`
})

const cursorSecrets = [randomBytes(32).toString('base64')]
const tag = ({ version }: { readonly version: string | number }) => version

export interface ClinicService {
  readonly app: FastifyInstance
  /** The method and the path of each route, without those for HEAD and OPTIONS. */
  readonly routes: readonly string[]
  /** The lines of the log. */
  readonly lines: readonly Readonly<Record<string, unknown>>[]
  /** Returns the header with an API key of the tenant, whose client has the same name in each. */
  readonly apiKeyOf: (org: string) => Promise<Readonly<Record<string, string>>>
}

/** Builds a service with every part of the suite that stores something of its clients. Its webhooks are not sent. */
export async function buildClinics(t: Test, database: OpenDatabase): Promise<ClinicService> {
  const { postgres } = database
  const hasTenants = postgres.tenantSetting !== undefined
  const queue = await database.openQueue()
  const files = postgresFileStore(postgres)
  const keys = memoryApiKeyStore()
  const lines: Readonly<Record<string, unknown>>[] = []
  const routes: string[] = []
  const app = Fastify({
    ...serverOptions({ trustProxy: ['127.0.0.1/32'] }),
    pluginTimeout: 60_000,
    logger: { level: 'info', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } }
  })
  app.addHook('onClose', () => queue.close(0))
  t.teardown(() => app.close())
  // Each request has a millisecond of its own, so that lists by time have one order.
  let lastAt = 0
  app.addHook('onRequest', async () => {
    while (Date.now() <= lastAt) await setImmediate()
  })
  const end = async () => {
    lastAt = Date.now()
  }
  app.addHook('onSend', end)
  app.addHook('onResponse', end)
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) if (one !== 'HEAD' && one !== 'OPTIONS') routes.push(`${one} ${url}`)
  })
  await app.register(conventions, {
    publicUrl: 'https://clinics.example.com',
    versions: { 1: { status: 'current' } },
    paginationQuery: { cursor: { secrets: cursorSecrets } },
    rateLimiting: { clientLimit: { limit: 100_000, windowSeconds: 86_400 }, addressLimit: { limit: 1_000_000, windowSeconds: 86_400 } },
    stores: { ...postgresStores(postgres), queue, files, auditTrail: postgresAuditTrailStore(postgres) },
    transactions: postgresTransactions(postgres),
    authentication: {
      issuers: [ownTokens({ ...trust, keys: kit.keys })],
      permissions,
      apiKeys: { store: keys, permissions },
      ...(hasTenants && { tenant: { claim: 'org' } })
    },
    jobs: { stopGraceSeconds: 0 },
    webhooks: {
      events: {
        'visit.created': {
          description: 'A visit was planned.',
          schema: Visit,
          example: { id: '0', patientId: '0', startsAt: '', status: 'planned' }
        },
        'patient.changed': {
          description: 'A patient was changed.',
          schema: Patient,
          example: { id: '0', name: 'Ada', email: 'ada@example.com' }
        }
      },
      mayReceive: 'everyone',
      maxSubscriptions: 1000,
      worker: false
    },
    errorCatalogue: { include: [postgresRowErrors] }
  })
  const exports = exportJob(database)
  removeDeleted(app, postgres, patientTable, hasTenants ? { tenants: () => Object.values(tenants) } : {})
  await app.apiVersion(1, async (v1) => {
    addPlans(v1, database, hasTenants)
    addPatients(v1)
    addVisits(v1)
    addScans(v1, files)
    addExports(v1, exports)
    v1.batch('/batches', {
      paths: ['/patients', '/visits'],
      atomic: 'byRequest',
      config: { permissions: ['patients:read'], idempotency: 'required' }
    })
    for (const plugin of [webhookRoutes, managedWebhookRoutes, auditTrailRoutes]) await v1.register(plugin)
  })
  await app.ready()
  return {
    app,
    routes,
    lines,
    async apiKeyOf(org) {
      const { key, record } = createApiKey({ client: 'kiosk', permissions, tenant: org })
      await keys.add(record)
      return { 'x-api-key': key }
    }
  }
}

/** A job that writes the patients of its tenant, and one that waits until it is cancelled. */
function exportJob(database: OpenDatabase) {
  return defineJob<Static<typeof ExportInput>, ExportResult>({
    name: 'export',
    input: ExportInput,
    result: ExportResult,
    concurrency: 100,
    maxAttempts: 1,
    async handler({ waits }, { jobId, tenant: org, write, signal }) {
      if (waits) await once(signal, 'abort')
      let patientCount = 0
      const list = (query: Parameters<typeof runSql<Patient>>[1]) =>
        database.asTenant(String(org), ({ client }) => runSql<Patient>(client, query))
      for await (const { rows } of walkPages(patients, list, { count: 'none' })) {
        patientCount += rows.length
        if (rows.length > 0) await write(JSON.stringify(rows).slice(1, -1))
      }
      return { patientCount, fileId: jobId }
    }
  })
}

function addPlans(v1: FastifyInstance, database: OpenDatabase, hasTenants: boolean) {
  v1.get(
    '/plans',
    { config: { public: true, ...(hasTenants && { tenant: 'none' }), collection: plans }, schema: { response: { 200: Type.Array(Plan) } } },
    async (request, reply) => reply.page(await runSql(database.client, request.listQuery(plans)))
  )
}

function addPatients(v1: FastifyInstance) {
  const reading = { permissions: ['patients:read'] }
  const response = { 200: Patient }
  const writing = {
    permissions: ['patients:write'],
    transaction: true,
    requireIfMatch: true,
    validator: async ({ transaction, params }: FastifyRequest) =>
      validatorOf(await patientTable.find(statementsOn(transaction), { id: (params as { id: string }).id }))
  } as const
  v1.get(
    '/patients',
    { config: { ...reading, collection: patients }, schema: { response: { 200: Type.Array(Patient) } } },
    async (request, reply) => reply.page(await runSql(request.reads, request.listQuery(patients)))
  )
  v1.get<OfOne>(
    '/patients/:id',
    { config: { ...reading, projection: { id: 'id', relationsOf: patients } }, schema: { params: IdPath, response } },
    async (request, reply) => {
      const { reads, params, readsDeleted } = request
      const patient = found(await patientTable.find(statementsOn(reads), params, { deleted: readsDeleted }))
      reply.entityTag(tag(patient))
      return request.withIncluded(reads, patient)
    }
  )
  v1.put<OfOne<Static<typeof NewPatient>>>(
    '/patients/:id',
    { config: writing, schema: { params: IdPath, body: NewPatient, response: { 200: Patient, 201: Patient } } },
    async ({ transaction, params: { id }, tenant: org = 'clinic-1', body, preconditions }, reply) => {
      const whole = { note: null, planId: null, ...body }
      const { row, isCreated } = await patientTable.put(statementsOn(transaction), { tenant: org, id }, whole, preconditions)
      reply.entityTag(tag(row))
      return isCreated ? reply.created(`/patients/${id}`, row) : row
    }
  )
  v1.patch<OfOne<Partial<Static<typeof NewPatient>>>>(
    '/patients/:id',
    { config: { ...writing, idempotency: 'accepted' }, schema: { params: IdPath, body: Type.Partial(NewPatient), response } },
    async ({ transaction, params, body, preconditions, tenant: org }, reply) => {
      const patient = await patientTable.update(statementsOn(transaction), params, body, preconditions)
      await v1.webhooks.emit('patient.changed', patient, { tenant: org })
      reply.entityTag(tag(patient))
      return patient
    }
  )
  v1.delete<OfOne>(
    '/patients/:id',
    { config: writing, schema: { params: IdPath, response: { 204: Type.Null() } } },
    async ({ transaction, params, preconditions }, reply) => {
      await patientTable.delete(statementsOn(transaction), params, preconditions)
      return reply.noContent()
    }
  )
  v1.post<OfOne>(
    '/patients/:id/restorations',
    {
      config: {
        permissions: ['patients:restore'],
        transaction: true,
        idempotency: 'accepted',
        openapi: { errors: ['RESOURCE_NOT_DELETED', 'RESOURCE_VALUE_TAKEN'] }
      },
      schema: { params: IdPath, response: { 201: Patient } }
    },
    async ({ transaction, params }, reply) =>
      reply.created(`/patients/${params.id}`, await patientTable.restore(statementsOn(transaction), params))
  )
}

function addVisits(v1: FastifyInstance) {
  const config = { permissions: ['visits:read'] }
  v1.get(
    '/visits',
    { config: { ...config, collection: visits }, schema: { response: { 200: Type.Array(Visit) } } },
    async (request, reply) => reply.page(await runSql(request.reads, request.listQuery(visits)))
  )
  v1.post<{ Body: Static<typeof NewVisit> }>(
    '/visits',
    {
      config: { permissions: ['visits:write'], transaction: true, idempotency: 'required' },
      schema: { body: NewVisit, response: { 201: Visit } }
    },
    async ({ transaction, body, tenant: org }, reply) => {
      const rows = statementsOn(transaction)
      found(await patientTable.find(rows, { id: body.patientId }))
      const visit = await visitTable.insert(rows, body)
      await v1.webhooks.emit('visit.created', visit, { tenant: org })
      return reply.created(`/visits/${visit.id}`, visit)
    }
  )
  v1.get<OfOne>(
    '/visits/:id',
    { config: { ...config, projection: { id: 'id', relationsOf: visits } }, schema: { params: IdPath, response: { 200: Visit } } },
    async (request) => request.withIncluded(request.reads, found(await visitTable.find(statementsOn(request.reads), request.params)))
  )
  v1.patch<OfOne<Partial<Visit>>>(
    '/visits/:id',
    {
      config: { permissions: ['visits:write'], transaction: true, idempotency: 'accepted' },
      schema: { params: IdPath, body: Type.Partial(Type.Object({ patientId: Id, status, note })), response: { 200: Visit } }
    },
    async ({ transaction, params, body }) => visitTable.update(statementsOn(transaction), params, body)
  )
}

function addScans(v1: FastifyInstance, files: FileStore) {
  const config = { permissions: ['scans:read'] }
  v1.get('/scans', { config: { ...config, collection: scans }, schema: { response: { 200: Type.Array(Scan) } } }, async (request, reply) =>
    reply.page(await runSql(request.reads, request.listQuery(scans), { columns: scanColumns }))
  )
  v1.post<{ Body: { title: string; patientId: string } }>(
    '/scans',
    {
      config: {
        permissions: ['scans:write'],
        upload: { image: { maxBytes: 100_000 } },
        transaction: true,
        idempotency: 'accepted'
      },
      schema: { body: Type.Object({ title: text, patientId: Id }), response: { 201: Scan } }
    },
    async ({ transaction, body, upload }, reply) => {
      const image = upload['image'] as StoredFile
      const rows = statementsOn(transaction)
      found(await patientTable.find(rows, { id: body.patientId }))
      const insert = `INSERT INTO scans (id, patient_id, title, image) VALUES ($1, $2, $3, $4) RETURNING ${scanTable.columns}`
      const [scan] = await rows.query<Scan>(insert, [image.id, body.patientId, body.title, image])
      return reply.created(`/scans/${image.id}`, found(scan))
    }
  )
  const bytes = Type.Unsafe<Buffer>({ type: 'string', format: 'binary' })
  const content = { 'application/json': { schema: Scan }, 'text/plain': { schema: bytes } }
  v1.get<OfOne>(
    '/scans/:id',
    {
      config: { ...config, produces: Object.keys(content) },
      schema: { params: IdPath, response: { 200: { description: 'A scan', content } } }
    },
    async (request, reply) => {
      const rows = statementsOn(request.reads)
      const scan = found(await scanTable.find(rows, request.params))
      if (request.acceptedMediaType === 'application/json') return scan
      const [row] = await rows.query<{ image: StoredFile }>('SELECT image FROM scans WHERE id = $1', [scan.id])
      return reply.file(found(row).image)
    }
  )
  v1.delete<OfOne>(
    '/scans/:id',
    {
      config: { permissions: ['scans:write'], transaction: true },
      schema: { params: IdPath, response: { 204: Type.Null() } }
    },
    async ({ transaction, params }, reply) => {
      const { id } = await scanTable.delete(statementsOn(transaction), params)
      await files.delete([id], transaction)
      return reply.noContent()
    }
  )
}

function addExports(v1: FastifyInstance, job: ReturnType<typeof exportJob>) {
  const config = { permissions: ['exports:read'] }
  v1.jobs.serve(job, '/exports', { config, resultPath: ({ id, result }) => `/exports/${id}/files/${(result as ExportResult).fileId}` })
  v1.get(
    '/exports',
    { config: { ...config, collection: exportList }, schema: { response: { 200: Type.Array(ExportRow) } } },
    async (request, reply) => reply.page(await v1.jobs.list(job, request, request.listQuery(exportList)))
  )
  v1.post<{ Body: Static<typeof ExportInput> }>(
    '/exports',
    {
      config: { permissions: ['exports:write'], idempotency: 'accepted', transaction: true, job: 'start' },
      schema: { body: ExportInput, response: { 202: jobRecordSchema } }
    },
    async ({ body }, reply) => reply.accepted(job, body)
  )
  v1.get<{ Params: { id: string; fileId: string } }>(
    '/exports/:id/files/:fileId',
    {
      config: { ...config, job: 'result', cache: 'no-store', waivers: { Q10: 'A file is read as a whole.' } },
      schema: { params: Type.Object({ id: Id, fileId: Id }), response: { 200: Type.Array(Patient) } }
    },
    async (request, reply) => {
      const { id, fileId } = request.params
      const stored = await v1.jobs.find(job, id, request)
      found(stored.state === 'completed' && (stored.result as ExportResult).fileId === fileId ? stored : undefined)
      return reply.streamed(v1.jobs.output(stored))
    }
  )
}
