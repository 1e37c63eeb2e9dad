// Every case of a relation on tables that are generated: the expected responses follow from the same rows. On both engines and for two schema libraries.
import { randomUUID } from 'node:crypto'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { serverOptions } from '@concordat/conventions'
import { responseChecker } from '@concordat/openapi/testing'
import { type Collection, collection, many, one } from '@concordat/pagination-query'
import { runSql, type SqlSource } from '@concordat/pagination-query/sql'
import { startPGlite } from '@concordat/test-harness/pglite'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyRequest } from 'fastify'
import { Pool } from 'pg'
import t, { type Test } from 'tap'
import { z } from 'zod'

const url = process.env['TEST_DATABASE_URL']
const engines = url === undefined ? ['PGlite'] : ['PGlite', 'PostgreSQL']
const publicUrl = 'https://clinic.example'
const kit = testKit({ issuer: publicUrl, audience: 'clinic' })
const caller = (sub: string, scope: string) => ({ authorization: `Bearer ${kit.token({ sub, scope })}` })
const staff = caller('staff', 'visits:read patients:read notes:read')
const ada = caller('ada', 'visits:read patients:read notes:read')
const withoutRelations = caller('ada', 'visits:read')

type Row = Readonly<Record<string, unknown>>
interface Patient {
  readonly id: string
  readonly name: string
  readonly phone: string | null
  readonly owner: string
}
interface Visit {
  readonly id: string
  readonly patientId: string | null
  readonly day: string
  readonly notes: readonly { readonly id: string; readonly grade: number }[]
}

const max = 3
const manyNotes = 20_000
// Above 2^53, where a JavaScript number has other digits.
const large = 9007199254740993n
const keyOf = (index: number) => String(large + BigInt(index))
const patients: readonly Patient[] = [
  { id: keyOf(1), name: 'Ann', phone: '1', owner: 'ada' },
  { id: keyOf(2), name: 'Ben', phone: null, owner: 'ada' },
  { id: keyOf(3), name: 'Cleo', phone: '3', owner: 'max' }
]
// Keys: null, dangling, repeated, of a row that only staff may see. Notes: none, the limit, one more, and very many; grades repeat.
const visits: readonly Visit[] = (
  [
    [null, 0],
    [keyOf(9), max],
    [keyOf(1), max + 1],
    [keyOf(1), manyNotes],
    [keyOf(2), 1],
    [keyOf(3), 2]
  ] as const
).map(([patientId, count], index) => ({
  id: keyOf(100 + index),
  patientId,
  day: `2026-01-0${index + 1}`,
  notes: Array.from({ length: count }, (_, note) => ({ id: String(index * 100_000 + note), grade: Math.floor(note / 2) % 5 }))
}))

const tables = `
  create table patients (id bigint primary key, name text not null, phone text, owner text not null);
  create table visits (id bigint primary key, patient_id bigint, day date not null);
  create table notes (id bigint primary key, visit_id bigint not null, grade int not null);
  create index on notes (visit_id, grade, id);
  insert into patients values ${patients.map(({ id, name, phone, owner }) => `(${id}, '${name}', ${phone === null ? 'null' : `'${phone}'`}, '${owner}')`).join()};
  insert into visits values ${visits.map(({ id, patientId, day }) => `(${id}, ${patientId}, '${day}')`).join()};
  ${visits.map(({ id, notes }, index) => `insert into notes select ${index * 100_000} + n, ${id}, (n / 2) % 5 from generate_series(0, ${notes.length - 1}) n;`).join('\n')}
  analyze notes;`

const int64 = Type.String({ format: 'int64' })
const zodInt64 = z.string().meta({ format: 'int64' })
const libraries = {
  TypeBox: {
    Patient: Type.Object({ id: int64, name: Type.String({ maxLength: 40 }), phone: Type.Optional(Type.String({ maxLength: 40 })) }),
    Visit: Type.Object({ id: int64, patientId: Type.Optional(int64), day: Type.String({ format: 'date' }) }),
    Note: Type.Object({ id: int64, visitId: int64, grade: Type.Integer() }),
    list: (item: never) => Type.Array(item) as object
  },
  Zod: {
    Patient: z.object({ id: zodInt64, name: z.string().max(40), phone: z.string().max(40).optional() }),
    Visit: z.object({ id: zodInt64, patientId: zodInt64.optional(), day: z.iso.date() }),
    Note: z.object({ id: zodInt64, visitId: zodInt64, grade: z.int() }),
    list: (item: never) => z.array(item) as object
  }
} as const
type Library = keyof typeof libraries

const ownPatients = ({ principal }: FastifyRequest): SqlSource =>
  principal?.subject === 'staff' ? {} : { where: { text: 'owner = $1', values: [principal?.subject] } }

function collectionsOf(library: Library): Collection {
  const { Patient, Visit, Note } = libraries[library] as Record<string, object>
  const listed = { style: 'page', id: 'id', defaultSort: ['id'] }
  const ofPatients = collection(Patient as object)({
    ...listed,
    name: 'patients',
    sort: { keys: ['id'] },
    readable: (request: FastifyRequest, field: string) => field !== 'phone' || request.principal?.subject === 'staff'
  } as never)
  const ofNotes = collection(Note as object)({ ...listed, name: 'notes', sort: { keys: ['id', 'grade'] } } as never)
  return collection(Visit as object)({
    ...listed,
    name: 'visits',
    style: 'cursor',
    sort: { keys: ['id', 'day'] },
    count: 'none',
    filter: { day: ['gte'], 'patient.name': ['eq', 'in', 'ne'], 'patient.phone': ['null'], 'notes.grade': ['eq', 'gte'] },
    relations: {
      patient: one(ofPatients, { key: 'patientId', permission: 'patients:read', source: ownPatients }),
      notes: many(ofNotes, { key: 'visitId', permission: 'notes:read', sort: '-grade', max })
    }
  } as never)
}

async function openDatabase(t: Test, engine: string) {
  const statements: string[] = []
  let between: ((count: number) => Promise<unknown>) | undefined
  const opened = engine === 'PGlite' ? await openPGlite(t) : await openServer(t)
  const query = async (text: string, values: unknown[] = []) => {
    statements.push(text)
    await between?.(statements.length)
    return opened(text, values)
  }
  const before = (work: typeof between) => {
    between = work
  }
  return { statements, client: { query }, before, run: opened }
}

async function openPGlite(t: Test) {
  const database = await startPGlite()
  t.teardown(() => database.close())
  await database.exec(tables)
  return async (text: string, values: unknown[] = []) => database.query<object>(text, values)
}

async function openServer(t: Test) {
  const schema = `related_${randomUUID().replaceAll('-', '')}`
  const pool = new Pool({ connectionString: url, max: 1, options: `-c search_path=${schema}` })
  await pool.query(`create schema ${schema}`)
  await pool.query(tables)
  t.teardown(async () => {
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  return async (text: string, values: unknown[] = []) => pool.query<object>(text, values)
}

async function start(t: Test, library: Library, engine: string) {
  const database = await openDatabase(t, engine)
  const { statements, client } = database
  const listing = collectionsOf(library)
  const { Visit, list } = libraries[library]
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl,
    versions: { 1: {} },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    paginationQuery: { cursor: { secrets: ['w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE'] } },
    authentication: {
      issuers: [ownTokens({ issuer: publicUrl, audience: 'clinic', keys: kit.keys })],
      permissions: ['visits:read', 'patients:read', 'notes:read']
    }
  })
  await app.apiVersion(1, async (v1) => {
    const routes = {
      '/visits': { permissions: ['visits:read'] },
      '/open-visits': { public: true },
      '/tagged-visits': { public: true, validator }
    }
    for (const [path, config] of Object.entries(routes))
      v1.get(
        path,
        { config: { ...config, collection: listing }, schema: { response: { 200: list(Visit as never) } } },
        async (request, reply) => reply.page(await runSql(client, request.listQuery(listing)))
      )
  })
  const check = responseChecker((await app.inject('/v1/openapi')).json())
  const get = async (path: string, headers: object = staff) => {
    statements.length = 0
    const response = await app.inject({ url: `/v1${path}`, headers: headers as Record<string, string> })
    const { statusCode: status, rawPayload: body } = response
    t.strictSame(check({ method: 'GET', url: `/v1${path}`, status, headers: response.headers, body }), [], path)
    return response
  }
  return { ...database, get, list: async (path: string, headers?: object) => (await get(path, headers)).json().data as Row[] }
}

const firstNotes = new Map(
  visits.map(({ id, notes }) => [id, notes.toSorted((a, b) => b.grade - a.grade || Number(b.id) - Number(a.id)).slice(0, max)])
)

const validator = async () => ({ exists: true, etag: 'visits' })

interface Wanted {
  readonly include: readonly string[]
  readonly fields: readonly string[] | undefined
  readonly filter: Readonly<Record<string, string>>
  readonly isStaff: boolean
}

/** Returns the visits that a request must get, from the rows alone. */
function expected({ include, fields, filter, isStaff }: Wanted): Row[] {
  const seen = (key: string | null) => patients.find(({ id, owner }) => id === key && (isStaff || owner === 'ada'))
  return visits.filter(meets).map(({ id, patientId, day, notes }) => {
    const own = picked({ id, ...(patientId !== null && { patientId }), day }, fields)
    return {
      ...own,
      ...(include.includes('patient') && { patient: patientOf(seen(patientId)) }),
      ...(include.includes('notes') && { notes: listOf(id, notes) })
    }
  })

  function meets({ patientId, day, notes }: Visit) {
    const patient = seen(patientId)
    const conditions: Readonly<Record<string, (wanted: string) => boolean>> = {
      'day[gte]': (wanted) => day >= wanted,
      'patient.name': (wanted) => patient?.name === wanted,
      'patient.name[in]': (wanted) => patient !== undefined && wanted.split(',').includes(patient.name),
      'patient.name[ne]': (wanted) => patient !== undefined && patient.name !== wanted,
      'patient.phone[null]': (wanted) => patient !== undefined && (patient.phone === null) === (wanted === 'true'),
      'notes.grade': (wanted) => notes.some(({ grade }) => grade === Number(wanted)),
      'notes.grade[gte]': (wanted) => notes.some(({ grade }) => grade >= Number(wanted))
    }
    return Object.entries(filter).every(([name, wanted]) => conditions[name]?.(wanted))
  }

  function patientOf(patient: Patient | undefined) {
    if (patient === undefined) return null
    const { id, name, phone } = patient
    return picked({ id, name, ...(isStaff && phone !== null && { phone }) }, within('patient'))
  }

  function listOf(visitId: string, notes: Visit['notes']) {
    const items = (firstNotes.get(visitId) ?? []).map((note) => picked({ ...note, visitId }, within('notes')))
    return { items, more: notes.length > max }
  }

  function within(relation: string) {
    const names = fields?.filter((name) => name.startsWith(`${relation}.`)).map((name) => name.slice(relation.length + 1))
    return names?.length ? names : undefined
  }
}

function picked(row: Row, names: readonly string[] | undefined): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name === 'id' || names === undefined || names.includes(name)))
}

const includes = [[], ['patient'], ['notes'], ['patient', 'notes']]
const selections = [undefined, ['day'], ['day', 'patient.name'], ['patientId', 'notes.grade', 'patient.name']]
const filters: readonly Wanted['filter'][] = [
  {},
  { 'day[gte]': '2026-01-03' },
  { 'patient.name': 'Ann' },
  { 'patient.name[ne]': 'Ann' },
  { 'patient.name[in]': 'Ann,Cleo', 'day[gte]': '2026-01-04' },
  { 'notes.grade': '1' },
  { 'notes.grade[gte]': '4' },
  { 'patient.name': 'Ann', 'notes.grade[gte]': '2' },
  { 'patient.name': 'Nobody' }
]

const cases: readonly Wanted[] = includes.flatMap((include) =>
  selections
    .filter((fields) => fields?.every((name) => !name.includes('.') || include.includes(name.split('.', 1)[0] as string)) !== false)
    .flatMap((fields) => filters.flatMap((filter) => [true, false].map((isStaff) => ({ include, fields, filter, isStaff }))))
)

for (const engine of engines)
  for (const library of ['TypeBox', 'Zod'] as const)
    t.test(
      `${engine}, ${library}: include, fields and filters give what the rows have, with one statement for each relation`,
      async (t) => {
        const { list, statements } = await start(t, library, engine)
        // What an engine or a library can change does not depend on all of them.
        const each = engine === engines.at(-1) && library === 'TypeBox' ? 1 : 4
        for (const wanted of cases.filter((_, index) => index % each === 0)) {
          const { include, fields, filter, isStaff } = wanted
          const parameters = new URLSearchParams({
            ...filter,
            ...(include.length > 0 && { include: include.join() }),
            ...(fields && { fields: fields.join() })
          })
          const query = parameters.toString()
          const rows = expected(wanted)
          t.strictSame(await list(`/visits?${query}`, isStaff ? staff : ada), rows, `${query} ${isStaff ? 'staff' : 'ada'}`)
          const found = visits.filter(({ id }) => rows.some((row) => row['id'] === id))
          const read = include.filter((name) => found.some(({ patientId }) => name === 'notes' || patientId !== null)).length
          t.equal(statements.filter((text) => !text.includes('pg_typeof')).length, 1 + read, `${query}: the page, and each relation`)
        }
      }
    )

for (const engine of engines)
  t.test(`${engine}: a filter by what a client may not read does not exist for it`, async (t) => {
    const { get, list, client } = await start(t, 'TypeBox', engine)
    const unknown = async (path: string, name: string, headers?: object) => {
      const { statusCode, payload } = await get(path, headers)
      t.equal(statusCode, 422, path)
      t.strictSame(JSON.parse(payload).error.errors, [{ field: `query.${name}`, message: 'is not a known parameter' }], path)
    }
    await unknown('/visits?patient.diagnosis=3', 'patient.diagnosis')
    await unknown('/visits?patient.name=Ann', 'patient.name', withoutRelations)
    await unknown('/visits?notes.grade%5Bgte%5D=1', 'notes.grade[gte]', withoutRelations)
    await unknown('/visits?patient.phone%5Bnull%5D=true', 'patient.phone[null]', ada)
    await unknown('/visits?p%61tient.name=Ann', 'patient.name')
    t.strictSame((await list('/visits?patient%2Ename=Ann')).length, 2)
    t.strictSame((await list('/visits?patient.phone%5Bnull%5D=true')).length, 1)

    // On a public route, credentials are checked for the filter only.
    await unknown('/open-visits?patient.name=Ann', 'patient.name', {})
    t.equal((await get('/open-visits?patient.name=Ann', { authorization: 'Bearer x' })).statusCode, 401)
    t.equal((await list('/open-visits?patient.name=Ann', ada)).length, 2)
    t.equal((await list('/open-visits?patient.phone%5Bnull%5D=true')).length, 1)
    t.equal((await list('/open-visits', {})).length, visits.length)
    t.match((await list('/open-visits?include=patient'))[5], { patient: { name: 'Cleo' } })
    t.equal((await get('/open-visits?include=patient', {})).statusCode, 401)
    t.equal((await get('/visits?include=patient', withoutRelations)).statusCode, 403)

    const first = (await get('/visits?patient.name=Ann&perPage=1&include=patient')).json()
    const next = new URL(first._links.find(({ rel }: { rel: string }) => rel === 'next').href)
    t.strictSame(
      (await list(`${next.pathname.replace('/v1', '')}${next.search}`)).map(({ id }) => id),
      [visits[3]?.id]
    )
    next.searchParams.set('patient.name', 'Ben')
    t.match((await get(`${next.pathname.replace('/v1', '')}${next.search}`)).json().error, { errors: [{ field: 'query.after' }] })

    // The validator of a list knows nothing of the rows by which a request filters.
    const tagged = async (path: string) =>
      (await get(path, { ...staff, 'if-none-match': String((await get(path, staff)).headers['etag']) })).statusCode
    const filtered = '/tagged-visits?patient.name=Ann'
    t.equal(await tagged('/tagged-visits'), 304)
    t.equal(await tagged(filtered), 304)
    const { etag } = (await get(filtered)).headers
    await client.query(`update patients set name = 'Eve' where name = 'Ann'`)
    t.match(await get(filtered, { ...staff, 'if-none-match': String(etag) }), { statusCode: 200 })
    await client.query(`update patients set name = 'Ann' where name = 'Eve'`)
  })

for (const engine of engines)
  t.test(`${engine}: a row that changes between the statements of a request`, async (t) => {
    const { get, list, run, before } = await start(t, 'Zod', engine)
    const path = '/visits?include=patient,notes&patient.name=Ann'
    const tag = String((await get(path)).headers['etag'])
    const change = (text: string) => before(async (count) => (count === 2 ? run(text) : undefined))
    change(`update patients set phone = '7' where name = 'Ann'`)
    t.match((await list(path))[0], { patient: { phone: '7' }, notes: { more: true } })
    t.equal((await get(path, { ...staff, 'if-none-match': tag })).statusCode, 200)
    change(`delete from patients where name = 'Ann'`)
    t.match(await list(path), [{ patient: null }, { patient: null }])
    before(undefined)
    t.strictSame(await list(path), [])
    change(`delete from notes`)
    t.match((await list('/visits?include=notes,patient'))[3], { notes: { items: [], more: false }, patient: null })
  })

t.test('a policy about single objects requires a source, because an include and a filter would show what it refuses', async (t) => {
  const { Patient, Visit } = libraries.TypeBox
  const listed = { style: 'page', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] } } as const
  const ofPatients = collection(Patient)({ ...listed, name: 'patients' })
  const startWith = async (source?: () => SqlSource) => {
    const patient = one(ofPatients, { key: 'patientId', permission: 'patients:read', source })
    const listing = collection(Visit)({ ...listed, name: 'visits', filter: { 'patient.name': ['eq'] }, relations: { patient } })
    const app = Fastify(serverOptions())
    t.teardown(() => app.close())
    await app.register(conventions, {
      publicUrl,
      versions: { 1: {} },
      transportSecurity: { dangerouslyAllowHttp: 'loopback' },
      authentication: {
        issuers: [ownTokens({ issuer: publicUrl, audience: 'clinic', keys: kit.keys })],
        permissions: ['patients:read'],
        policies: { patients: { allows: () => false } }
      }
    })
    await app.apiVersion(1, async (v1) => {
      v1.get(
        '/visits',
        { config: { public: true, collection: listing }, schema: { response: { 200: Type.Array(Visit) } } },
        async (_, reply) => reply.page({ rows: [], first: undefined, last: undefined, hasMore: false, total: { items: 0, exact: true } })
      )
    })
    await app.ready()
  }
  await t.rejects(startWith(), {
    message:
      'pagination-query: GET /v1/visits: the relation patient shows rows that a policy decides about, one by one. Set source, whose where leaves out what the policy of "patients:read" does not allow.'
  })
  await t.resolves(startWith(() => ({ where: { text: 'owner = $1', values: ['ada'] } })))
})
