import { deepEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mock } from 'node:test'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { serverOptions } from '@concordat/conventions'
import { responseChecker } from '@concordat/openapi/testing'
import paginationQuery, { type Collection, collection, one, walkPages } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { runSql } from '@concordat/pagination-query/sql'
import { type OpenDatabase, openDatabase } from '@concordat/postgres/open'
import { found, postgresRowErrors, statementsOn, type Versioned, validatorOf } from '@concordat/postgres/rows'
import { removeDeleted, table } from '@concordat/postgres/table'
import { postgresTransactions } from '@concordat/postgres/unit-of-work'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import t from 'tap'
import { z } from 'zod'

const server = process.env['TEST_DATABASE_URL']
const publicUrl = 'https://clinic.example'
const kit = testKit({ issuer: publicUrl, audience: 'clinic' })
const reader = (permissions: string) => ({ authorization: `Bearer ${kit.token({ sub: 'ada', scope: permissions })}` })
const secret = 'fJ2mYp7Qw4Zt9LxN8vBc3KdR6sHg1TaE'
const staff = reader('patients:read patients:write')
const admin = reader('patients:read patients:write patients:restore')

interface Patient {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly deletedAt?: string | undefined
}
interface Visit {
  readonly id: string
  readonly patientId: string
}
interface Schemas {
  readonly Patient: never
  readonly Visit: never
  readonly list: (schema: never) => object
}

const text = Type.String({ maxLength: 60 })
const uuid = Type.String({ format: 'uuid' })
const libraries: Readonly<Record<string, Schemas>> = {
  TypeBox: {
    Patient: Type.Object({ id: uuid, name: text, email: text, deletedAt: Type.Optional(Type.String({ format: 'date-time' })) }) as never,
    Visit: Type.Object({ id: uuid, patientId: uuid }) as never,
    list: (schema) => Type.Array(schema)
  },
  Zod: {
    Patient: z.object({
      id: z.uuid(),
      name: z.string().max(60),
      email: z.string().max(60),
      deletedAt: z.iso.datetime().optional()
    }) as never,
    Visit: z.object({ id: z.uuid(), patientId: z.uuid() }) as never,
    list: (schema) => z.array(schema)
  }
}

const declaration = {
  name: 'patients',
  style: 'cursor',
  id: 'id',
  defaultSort: ['name'],
  sort: { keys: ['name'] },
  filter: { email: ['eq'] },
  deleted: { field: 'deletedAt', keepDays: 30, seenWith: 'patients:restore' }
}

function collectionsOf({ Patient: schema, Visit: visit }: Schemas, changes: object = {}) {
  const patients = collection(schema as object)({ ...declaration, ...changes } as never) as unknown as Collection<Patient>
  const relations = { patient: one(patients, { key: 'patientId', permission: 'public' }) }
  const visits = collection(visit as object)({
    name: 'visits',
    style: 'page',
    id: 'id',
    defaultSort: ['id'],
    sort: { keys: ['id'] },
    filter: { 'patient.email': ['eq'] },
    relations
  } as never)
  return { patients, visits: visits as unknown as Collection<Visit> }
}

const tables = [
  `CREATE TABLE patients (id uuid PRIMARY KEY, name text NOT NULL, email text NOT NULL, deleted_at timestamptz, version integer NOT NULL DEFAULT 1)`,
  'CREATE UNIQUE INDEX patients_email ON patients (email) WHERE deleted_at IS NULL',
  'CREATE INDEX ON patients (deleted_at) WHERE deleted_at IS NOT NULL',
  'CREATE TABLE visits (id uuid PRIMARY KEY, patient_id uuid NOT NULL REFERENCES patients ON DELETE CASCADE)',
  `CREATE FUNCTION next() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.version := OLD.version + 1; RETURN NEW; END'`,
  'CREATE TRIGGER next BEFORE UPDATE ON patients FOR EACH ROW EXECUTE FUNCTION next()'
]

type Kind = 'PostgreSQL' | 'PGlite'
const kinds: readonly Kind[] = server === undefined ? ['PGlite'] : ['PGlite', 'PostgreSQL']

const opened = new Map<Kind, Promise<OpenDatabase>>()

/** Returns the database of this kind, whose tables are empty. */
async function open(kind: Kind) {
  if (!opened.has(kind)) opened.set(kind, openOnce(kind))
  const database = await (opened.get(kind) as Promise<OpenDatabase>)
  await database.query('DROP TABLE IF EXISTS bills')
  await database.query('TRUNCATE patients CASCADE')
  return database
}

async function openOnce(kind: Kind) {
  const schema = `deleted_${randomUUID().replaceAll('-', '')}`
  const url = kind === 'PostgreSQL' && new URL(server as string)
  if (url) url.searchParams.set('options', `-c search_path=${schema}`)
  const database = await openDatabase({
    ...(url ? { url: url.href } : { folder: 'memory://' }),
    async prepare(prepared) {
      if (url) await prepared.query(`CREATE SCHEMA ${schema}`)
      for (const statement of tables) await prepared.query(statement)
    },
    onError: () => {}
  })
  t.teardown(async () => {
    if (url) await database.query(`DROP SCHEMA ${schema} CASCADE`)
    await database.close()
  })
  return database
}

function linked(reply: FastifyReply, patient: Versioned<Patient>) {
  reply.entityTag(patient.version)
  return patient
}

function addRoutes(v1: FastifyInstance, database: OpenDatabase, schemas: Schemas) {
  const { patients, visits } = collectionsOf(schemas)
  const patientTable = table(patients)
  const config = { permissions: ['patients:write'], transaction: true } as const
  const params = Type.Object({ id: uuid })
  const Changes = Type.Object({ name: Type.Optional(text), email: Type.Optional(text) })
  type Item = { Params: { id: string }; Body: { name?: string; email?: string } }
  const validator = async ({ transaction, params: key }: FastifyRequest) =>
    validatorOf(await patientTable.find(statementsOn(transaction), key as { id: string }))

  v1.get(
    '/patients',
    { config: { permissions: ['patients:read'], collection: patients }, schema: { response: { 200: schemas.list(schemas.Patient) } } },
    async (request, reply) => reply.page(await runSql(database.client, request.listQuery(patients)))
  )
  v1.get<Item>(
    '/patients/:id',
    {
      config: { permissions: ['patients:read'], projection: { id: 'id', relationsOf: patients } },
      schema: { params, response: { 200: schemas.Patient } }
    },
    async (request, reply) => linked(reply, found(await patientTable.find(database, request.params, { deleted: request.readsDeleted })))
  )
  v1.put<Item>(
    '/patients/:id',
    {
      config: { ...config, validator, openapi: { errors: ['RESOURCE_DELETED'] } },
      schema: { params, body: Changes, response: { 200: schemas.Patient } }
    },
    async (request, reply) => {
      const put = await patientTable.put(statementsOn(request.transaction), request.params, request.body, request.preconditions)
      return linked(reply, put.row)
    }
  )
  v1.patch<Item>(
    '/patients/:id',
    { config: { ...config, validator }, schema: { params, body: Changes, response: { 200: schemas.Patient } } },
    async ({ transaction, params: key, body, preconditions }, reply) =>
      linked(reply, await patientTable.update(statementsOn(transaction), key, body, preconditions))
  )
  v1.delete<Item>(
    '/patients/:id',
    { config: { ...config, validator }, schema: { params, response: { 204: Type.Null() } } },
    async ({ transaction, params: key, preconditions }, reply) => {
      await patientTable.delete(statementsOn(transaction), key, preconditions)
      return reply.noContent()
    }
  )
  v1.post<Item>(
    '/patients/:id/restorations',
    {
      config: {
        ...config,
        permissions: ['patients:restore'],
        openapi: { errors: ['RESOURCE_NOT_DELETED', 'RESOURCE_VALUE_TAKEN'], headers: { ETag: 'The version.' } }
      },
      schema: { params, response: { 201: schemas.Patient } }
    },
    async ({ transaction, params: key }, reply) => {
      const patient = await patientTable.restore(statementsOn(transaction), key)
      return reply.created(`/patients/${key.id}`, linked(reply, patient))
    }
  )
  v1.get(
    '/visits',
    { config: { permissions: ['patients:read'], collection: visits }, schema: { response: { 200: schemas.list(schemas.Visit) } } },
    async (request, reply) => reply.page(await runSql(database.client, request.listQuery(visits)))
  )
  return { patients, patientTable }
}

const services = new Map<string, ReturnType<typeof start>>()

/** Returns the service on this kind of database, whose tables are empty. It serves all tests. */
async function serviceOn(kind: Kind, library = 'TypeBox') {
  await open(kind)
  const name = `${kind} ${library}`
  if (!services.has(name)) services.set(name, start(kind, libraries[library] as Schemas))
  return services.get(name) as ReturnType<typeof start>
}

async function start(kind: Kind, schemas: Schemas) {
  const database = await open(kind)
  const log: string[] = []
  const app = Fastify({ ...serverOptions(), logger: { level: 'warn', stream: { write: (line: string) => void log.push(line) } } })
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl,
    versions: { 1: {} },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: {
      issuers: [ownTokens({ issuer: publicUrl, audience: 'clinic', keys: kit.keys })],
      permissions: ['patients:read', 'patients:write', 'patients:restore']
    },
    errorCatalogue: { include: [postgresRowErrors] },
    idempotency: false,
    transactions: postgresTransactions(database.postgres),
    paginationQuery: { cursor: { secrets: [secret] } }
  })
  const made: ReturnType<typeof addRoutes>[] = []
  await app.apiVersion(1, async (v1) => void made.push(addRoutes(v1, database, schemas)))
  const [{ patients, patientTable }] = made as [ReturnType<typeof addRoutes>]
  removeDeleted(app, database.postgres, patientTable)
  await app.ready()
  const check = responseChecker((await app.inject('/v1/openapi')).json())
  const send = async (method: 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE', path: string, headers: object = staff, body?: object) => {
    const url = path.startsWith('/v1') ? path : `/v1${path}`
    const response = await app.inject({ method, url, headers: headers as Record<string, string>, ...(body && { payload: body }) })
    deepEqual(
      check({ method, url, status: response.statusCode, headers: response.headers, body: response.rawPayload }),
      [],
      `${method} ${url}`
    )
    return response
  }
  const names = async (query = '', headers: object = staff) =>
    (await send('GET', `/patients${query}`, headers))
      .json()
      .data.map(({ name }: Patient) => name)
      .join()
  return { database, send, names, patients, patientTable, log }
}

const [ada = '', bob = '', cleo = '', unknown = ''] = [1, 2, 3, 4].map((n) => `a0000000-0000-4000-8000-00000000000${n}`)
const rows = `INSERT INTO patients VALUES ('${ada}', 'Ada', 'ada@x', NULL), ('${bob}', 'Bob', 'bob@x', NULL), ('${cleo}', 'Cleo', 'cleo@x', NULL)`

for (const kind of kinds)
  for (const library of Object.keys(libraries)) {
    t.test(`a deleted resource is gone for others, and restored by a POST, on ${kind} with ${library} [M6] [P5]`, async (t) => {
      const { database, send, names, patients, patientTable } = await serviceOn(kind, library)
      await database.query(rows)
      await database.query(`INSERT INTO visits VALUES ('${unknown}', '${ada}')`)
      t.match(
        patients.parameters.find(({ name }) => name === 'deleted'),
        {
          description: 'Whether to read the deleted resources in place of the others. Requires the permission `patients:restore`.',
          schema: { type: 'boolean', default: false }
        }
      )
      const visitsOfAda = async () => (await send('GET', '/visits?patient.email=ada@x')).json()._meta.pagination.totalItems
      t.equal(await visitsOfAda(), 1)
      const first = await send('GET', `/patients/${ada}`)
      t.notOk('deletedAt' in first.json().data)
      const tag = String(first.headers['etag'])

      // If-Match.
      t.equal((await send('DELETE', `/patients/${ada}`, { ...staff, 'if-match': '"other"' })).statusCode, 412)
      t.equal((await send('DELETE', `/patients/${ada}`, { ...staff, 'if-match': tag })).statusCode, 204)
      t.equal((await send('DELETE', `/patients/${ada}`)).statusCode, 404, 'deleted twice')
      for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }]] as const)
        t.equal((await send(method, `/patients/${ada}`, staff, body)).statusCode, 404, method)
      t.equal(await names(), 'Bob,Cleo')
      t.equal((await send('GET', '/patients?email=ada@x')).json()._meta.pagination.totalItems, 0)
      t.strictSame((await send('GET', '/visits?include=patient')).json().data, [{ id: unknown, patientId: ada, patient: null }])
      t.equal(await visitsOfAda(), 0, 'a filter does not find what is deleted')
      const walked: string[] = []
      for await (const page of walkPages(patients, (query) => runSql(database.client, query), { perPage: 1 }))
        walked.push(...page.rows.map(({ name }) => name))
      t.strictSame(walked, ['Bob', 'Cleo'])

      // Those who may see it.
      t.equal(await names('?deleted=true', admin), 'Ada')
      t.equal(await names('?deleted=false', admin), 'Bob,Cleo')
      const seen = await send('GET', `/patients/${ada}?deleted=true`, admin)
      t.match(seen.json().data, { name: 'Ada', deletedAt: /^20\d\d-.*Z$/ })
      t.not(seen.headers['etag'], tag, 'another version')
      t.strictSame((await send('GET', `/patients/${ada}?deleted=true&fields=name`, admin)).json().data, { id: ada, name: 'Ada' })
      t.equal((await send('GET', `/patients/${bob}?deleted=true`, admin)).statusCode, 404, 'not deleted')
      for (const path of ['/patients', `/patients/${ada}`]) {
        t.match((await send('GET', `${path}?deleted=true`)).json().error, { status: 403, code: 'INSUFFICIENT_PERMISSION' })
        t.match((await send('GET', `${path}?deleted=yes`, admin)).json().error, {
          status: 422,
          errors: [{ field: 'query.deleted', message: 'must be one of: true, false' }]
        })
      }

      // Its identifier stays taken.
      t.match((await send('PUT', `/patients/${ada}`, staff, { name: 'New', email: 'n@x' })).json().error, {
        status: 409,
        code: 'RESOURCE_DELETED'
      })
      const creating = { ...staff, 'if-none-match': '*' }
      t.match((await send('PUT', `/patients/${ada}`, creating, { name: 'New', email: 'n@x' })).json().error, {
        status: 409,
        code: 'RESOURCE_DELETED'
      })
      await t.rejects(patientTable.insert(database, { id: ada, name: 'New', email: 'n@x' }), { code: '23505' })

      // Restored.
      t.equal((await send('POST', `/patients/${ada}/restorations`)).statusCode, 403)
      const restored = await send('POST', `/patients/${ada}/restorations`, admin)
      t.match(restored, { statusCode: 201, headers: { location: `${publicUrl}/v1/patients/${ada}` } })
      t.strictSame(restored.json().data, first.json().data)
      t.notOk([tag, String(seen.headers['etag'])].includes(String(restored.headers['etag'])), 'another version')
      t.match(
        (await send('POST', `/patients/${ada}/restorations`, admin)).json().error,
        { status: 409, code: 'RESOURCE_NOT_DELETED' },
        'twice'
      )
      t.match((await send('POST', `/patients/${unknown}/restorations`, admin)).json().error, { status: 404 })
      t.equal(await names(), 'Ada,Bob,Cleo')
      t.equal((await send('DELETE', `/patients/${ada}`, { ...staff, 'if-match': tag })).statusCode, 412, 'the version before the deletion')
    })

    t.test(
      `a value of a deleted resource is free, and a restoration that would take it again is refused, on ${kind} with ${library}`,
      async (t) => {
        const { database, send, patients } = await serviceOn(kind, library)
        await database.query(rows)
        await send('DELETE', `/patients/${ada}`)
        t.equal((await send('PATCH', `/patients/${bob}`, staff, { email: 'ada@x' })).statusCode, 200)
        t.match((await send('POST', `/patients/${ada}/restorations`, admin)).json().error, { status: 409, code: 'RESOURCE_VALUE_TAKEN' })
        const own = table(patients, { violations: { patients_email: () => new Error('taken') } })
        await t.rejects(own.restore(database, { id: ada }), { message: 'taken' })
        await send('PATCH', `/patients/${bob}`, staff, { email: 'bob@x' })
        t.equal((await send('POST', `/patients/${ada}/restorations`, admin)).statusCode, 201)
      }
    )
  }

for (const kind of kinds) {
  t.test(`a walk by cursor continues across a deletion, and its cursors are not those of deleted rows, on ${kind}`, async (t) => {
    const { database, send, names } = await serviceOn(kind)
    await database.query(rows)
    const page = (await send('GET', '/patients?perPage=1')).json()
    const { href } = page._links.find(({ rel }: { rel: string }) => rel === 'next')
    await send('DELETE', `/patients/${ada}`)
    await send('DELETE', `/patients/${bob}`)
    t.equal((await send('GET', href.replace(publicUrl, ''))).json().data[0].name, 'Cleo')
    const after = new URL(href).searchParams.get('after')
    t.match((await send('GET', `/patients?deleted=true&after=${after}`, admin)).json().error, { code: 'CURSOR_MISMATCH' })
    t.equal(await names('?deleted=true', admin), 'Ada,Bob')
    const deleted = (await send('GET', '/patients?deleted=true&perPage=1', admin)).json()
    t.match(deleted._links.find(({ rel }: { rel: string }) => rel === 'next').href, /[?&]deleted=true/)
  })

  t.test(`rows are removed when their time has passed, in batches, on ${kind}`, async (t) => {
    mock.timers.enable({ apis: ['setInterval'] })
    t.teardown(() => mock.timers.reset())
    const { database, patientTable, log } = await start(kind, libraries['TypeBox'] as Schemas)
    await database.query(rows)
    await database.query(`INSERT INTO visits VALUES ('${unknown}', '${ada}')`)
    await database.query(`UPDATE patients SET deleted_at = now() - interval '31 days' WHERE name = 'Ada'`)
    await database.query(`UPDATE patients SET deleted_at = now() - interval '29 days' WHERE name = 'Bob'`)
    await database.query(
      `INSERT INTO patients SELECT gen_random_uuid(), 'old', n::text, now() - interval '40 days' FROM generate_series(1, 1500) n`
    )
    const left = async () =>
      (await database.query<{ name: string }>('SELECT DISTINCT name FROM patients ORDER BY name')).map(({ name }) => name)
    mock.timers.tick(60_000)
    while ((await left()).length > 2) await new Promise((resolve) => setImmediate(resolve))
    t.strictSame(await left(), ['Bob', 'Cleo'])
    t.match(await patientTable.restore(database, { id: bob }), { name: 'Bob' }, 'during the time of removals')
    t.strictSame(await database.query('SELECT id FROM visits'), [], 'with what refers to them')
    // Another table refers to the row without a cascade.
    await database.query(`UPDATE patients SET deleted_at = now() - interval '31 days' WHERE name = 'Cleo'`)
    await database.query(`CREATE TABLE bills AS SELECT id AS patient_id FROM patients WHERE name = 'Cleo'`)
    await database.query('ALTER TABLE bills ADD FOREIGN KEY (patient_id) REFERENCES patients')
    mock.timers.tick(60_000)
    const isWarned = () => log.some((line) => line.includes('were not deleted'))
    while (!isWarned()) await new Promise((resolve) => setImmediate(resolve))
    t.match(JSON.parse(log.at(-1) as string), {
      level: 40,
      msg: 'postgres: rows of "patients" beyond deleted.keepDays were not deleted',
      err: { code: '23503' }
    })
  })
}

t.test('a list in memory has no deleted rows, which no client can read without a permission for it', async (t) => {
  const schemas = libraries['TypeBox'] as Schemas
  const { patients } = collectionsOf(schemas, { deleted: { field: 'deletedAt' } })
  const list: Patient[] = [
    { id: ada, name: 'Ada', email: 'a' },
    { id: bob, name: 'Bob', email: 'b', deletedAt: '2026-01-01T00:00:00Z' }
  ]
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(paginationQuery, { publicUrl, cursor: { secrets: [secret] } })
  app.get(
    '/patients',
    { config: { collection: patients }, schema: { response: { 200: schemas.list(schemas.Patient) } } },
    async (request, reply) => reply.page(runArray(list, request.listQuery(patients)))
  )
  t.strictSame((await app.inject('/patients')).json(), [list[0]])
  t.equal((await app.inject('/patients?deleted=true')).statusCode, 422)
})

t.test('deletion that cannot work stops the start, or the call, with one line', async (t) => {
  const schemas = libraries['TypeBox'] as Schemas
  const where = 'pagination-query: collection "patients": '
  const declared =
    (deleted: object, changes: object = {}) =>
    () =>
      collectionsOf(schemas, { deleted, ...changes })
  const cases: readonly (readonly [declare: () => unknown, message: string | RegExp])[] = [
    [declared({ field: 'gone' }), `${where}deleted.field is "gone", which must be an optional field with the format "date-time".`],
    [declared({ field: 'name' }), `${where}deleted.field is "name", which must be an optional field with the format "date-time".`],
    [declared({ field: 'deletedAt', keepDays: 0 }), /deleted\.keepDays must be an integer from 1/],
    [declared({ field: 'deletedAt', days: 5 }), /deleted\.days is unknown/],
    [
      declared({ field: 'deletedAt', seenWith: '' }),
      `${where}deleted.seenWith must be a permission. Remove it if no client may see deleted rows.`
    ],
    [declared({}), /deleted\.field is required|deleted\.field/],
    [
      declared({ field: 'deletedAt', seenWith: 'x' }, { any: { deleted: ['name', 'email'] }, filter: { name: ['eq'], email: ['eq'] } }),
      `${where}a field is named deleted, as the parameter of deleted rows is. Rename it.`
    ]
  ]
  for (const [declare, message] of cases) t.throws(declare, { name: 'TypeError', message })
  const database = await open('PGlite')
  const { patients } = collectionsOf(schemas)
  const patientTable = table(patients)
  await database.query(rows)
  await t.rejects(patientTable.update(database, { id: ada }, { deletedAt: null }), {
    message: 'postgres: table "patients": the field "deletedAt" is written by delete and restore only. Remove it from the values.'
  })
  const plain = table<Patient>({ name: 'patients', fields: new Set(['id', 'name']) })
  await t.rejects(plain.restore(database, { id: ada }), {
    message: 'postgres: table "patients" has no rows to restore. Declare its collection with deleted.'
  })
  t.match(await plain.find(database, { id: ada }, { deleted: true }), { name: 'Ada' }, 'rows of other tables are never deleted')
  const app = Fastify()
  t.throws(() => removeDeleted(app, database.postgres, plain), {
    message: 'postgres: removeDeleted was called with a table without deleted.keepDays. Set it in the collection.'
  })
  const forever = table(collectionsOf(schemas, { deleted: { field: 'deletedAt' } }).patients)
  t.throws(() => removeDeleted(app, database.postgres, forever), {
    message: 'postgres: removeDeleted was called with the table "patients" without deleted.keepDays. Set it in the collection.'
  })
  await app.close()
})

t.test('deleted rows that nothing removes, or whose permission nothing checks, stop the start', async (t) => {
  const schemas = libraries['TypeBox'] as Schemas
  for (const [deleted, message] of [
    [
      { field: 'deletedAt', keepDays: 30 },
      'pagination-query: nothing removes the rows of "patients" that were deleted 30 days ago. Call removeDeleted of @concordat/postgres/table before the start, or remove deleted.keepDays.'
    ],
    [
      { field: 'deletedAt', seenWith: 'patients:restore' },
      'pagination-query: GET /patients: deleted rows need the permission "patients:restore", which nothing checks. Register authentication, or remove deleted.seenWith.'
    ]
  ] as const) {
    const { patients } = collectionsOf(schemas, { deleted })
    const app = Fastify()
    await app.register(paginationQuery, { publicUrl, cursor: { secrets: [secret] } })
    app.get('/patients', { config: { collection: patients }, schema: { response: { 200: schemas.list(schemas.Patient) } } }, async () => [])
    // One finding, also with another route of the collection.
    if ('keepDays' in deleted)
      app.get(
        '/patients/:id',
        { config: { projection: { id: 'id', relationsOf: patients } }, schema: { response: { 200: schemas.Patient } } },
        async () => ({})
      )
    await t.rejects(async () => app.ready(), { message })
    await app.close()
  }
})
