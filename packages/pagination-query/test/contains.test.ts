import paginationQuery, { type Collection, collection, filterBody, one } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { preparePages, runSql, type SqlClient } from '@concordat/pagination-query/sql'
import { isApiError } from '@concordat/plugin-kit/api-error'
import { startPGlite } from '@concordat/test-harness/pglite'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { Pool } from 'pg'
import t from 'tap'
import { z } from 'zod'
import { secret } from './orders.ts'
import { openSchema, skip } from './postgres.ts'

interface Person {
  readonly id: string
  readonly name: string
  readonly email?: string
}
const text = Type.String({ maxLength: 60 })
const TypeBoxPerson = Type.Object({ id: text, name: text, email: Type.Optional(text) })
const ZodPerson = z.object({ id: z.string().max(60), name: z.string().max(60), email: z.string().max(60).optional() })
const declaration = {
  name: 'people',
  style: 'cursor',
  id: 'id',
  defaultSort: ['name'],
  sort: { keys: ['name'] },
  filter: { name: ['eq', 'contains'], email: ['contains'] },
  any: { search: ['name', 'email'] }
} as const
const people = collection(TypeBoxPerson)(declaration)
const declared = { TypeBox: people, Zod: collection(ZodPerson)(declaration) }

const rows: readonly Person[] = [
  { id: 'a', name: 'Ada Lovelace', email: 'ada@example.com' },
  { id: 'b', name: 'Grace Hopper', email: 'Lovely@example.com' },
  { id: 'c', name: '100% a_bcd a\\bcd' },
  { id: 'd', name: 'Ünüsüal', email: 'MÜLLER@EXAMPLE.COM' },
  { id: 'e', name: 'U\u0308nicorn' },
  { id: 'f', name: '日本語の本' },
  { id: 'g', name: 'Straße', email: 'STRASSE@example.com' },
  { id: 'h', name: 'ΟΔΟΣ' },
  { id: 'i', name: 'İstanbul' },
  { id: 'j', name: '100 abbcd' }
]

// The parameter, the term and the ids of the rows.
const searches: readonly (readonly [parameter: string, term: string, ids: string])[] = [
  ['name', 'ada', 'a'],
  ['name', 'LOVELACE', 'a'],
  ['name', 'a love', 'a'],
  ['name', '100%', 'c'],
  ['name', 'a_bcd', 'c'],
  ['name', 'a\\bcd', 'c'],
  ['name', '100', 'c,j'],
  ['name', 'ünüsÜAL', 'd'],
  ['name', 'u\u0308nicorn', 'e'],
  ['name', 'ünicorn', ''],
  ['name', '日本語', 'f'],
  ['name', 'straße', 'g'],
  ['name', 'strasse', ''],
  ['name', 'οδοσ', 'h'],
  ['name', 'istan', 'i'],
  ['email', 'müller', 'd'],
  ['search', 'lovel', 'a,b'],
  ['search', 'ada', 'a'],
  ['search', 'strasse', 'g'],
  ['search', 'example', 'a,b,d,g'],
  ['search', 'nowhere', '']
]

async function fill(client: SqlClient) {
  await client.query('create table people (id text primary key, name text not null, email text)', [])
  for (const { id, name, email = null } of rows) await client.query('insert into people values ($1, $2, $3)', [id, name, email])
}

async function appOn(
  t: { teardown(work: () => Promise<unknown>): void },
  listed: typeof people,
  client?: SqlClient
): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(() => app.close())
  app.setErrorHandler((error, _request, reply) => {
    if (!isApiError(error)) throw error
    return reply.code(error.statusCode).send({ code: error.code, errors: error.errors.map(({ field, key }) => `${field} ${key}`) })
  })
  await app.register(paginationQuery, { publicUrl: 'https://api.example.com', cursor: { secrets: [secret] } })
  app.get(
    '/people',
    { config: { collection: listed }, schema: { response: { 200: Type.Array(TypeBoxPerson) } } },
    async (request, reply) => {
      const query = request.listQuery(listed)
      return reply.page(client === undefined ? runArray(rows as Person[], query) : await runSql(client, query))
    }
  )
  return app
}

const urlOf = (parameter: string, term: string) => `/people?${parameter}[contains]=${encodeURIComponent(term)}`
const linkOf = (response: { headers: Record<string, unknown> }, rel: string) =>
  new RegExp(`<https://api.example.com([^>]+)>; rel="${rel}"`).exec(String(response.headers['link']))?.[1]
const idsOf = (found: { json(): unknown }) =>
  (found.json() as Person[])
    .map(({ id }) => id)
    .sort()
    .join()

async function findsAll(
  t: { equal(found: unknown, wanted: unknown, message: string): unknown; teardown(work: () => Promise<unknown>): void },
  client?: SqlClient
) {
  for (const [library, listed] of Object.entries(declared)) {
    const app = await appOn(t, listed as typeof people, client)
    for (const [parameter, term, ids] of searches)
      t.equal(idsOf(await app.inject(urlOf(parameter, term))), ids, `${library}: ${parameter} ${term}`)
    // Several times, as a page is written by another statement when it is repeated.
    for (let time = 0; time < 4; time += 1) t.equal(idsOf(await app.inject(urlOf('search', 'LOVEL'))), 'a,b', `time ${time}`)
  }
}

t.test('contains and any find the same rows in memory, in any case [Q6]', async (t) => findsAll(t))

t.test('contains and any find the same rows on PGlite [Q6]', async (t) => {
  const pglite = await startPGlite()
  t.teardown(() => pglite.close())
  await fill(pglite)
  await findsAll(t, pglite)
})

t.test('contains and any find the same rows on PostgreSQL [Q6]', { skip }, async (t) => {
  const pool = await openSchema(t)
  await fill(pool)
  await findsAll(t, pool)
})

t.test('a term without three letters or digits in a row is a 422, as every index would be of no use [Q6]', async (t) => {
  const app = await appOn(t, people)
  for (const term of ['', 'ab', 'a-b', 'ab cd', '--', '%%%', '___', '\\\\\\', '日本', 'ab\u0308c', 'ßß'])
    for (const parameter of ['name', 'search']) {
      const response = await app.inject(urlOf(parameter, term))
      t.equal(response.statusCode, 422, term)
      t.strictSame(response.json(), { code: 'INVALID_QUERY_PARAMETERS', errors: [`query.${parameter}[contains] notSearchable`] })
    }
  t.match((await app.inject(urlOf('name', 'abc\0'))).json(), { errors: ['query.name[contains] hasNul'] })
  t.match((await app.inject(urlOf('name', 'x'.repeat(61)))).json(), { errors: ['query.name[contains] tooLong'] })
  t.match((await app.inject('/people?email[eq]=abc')).json(), { errors: ['query.email[eq] unknownOperator'] })
  t.match((await app.inject('/people?search=abc')).json(), { errors: ['query.search unknownOperator'] }, 'only an operator of all fields')
  t.match((await app.inject(`${urlOf('search', 'abc')}&search[contains]=abd`)).json(), { errors: ['query.search[contains] duplicate'] })
})

t.test('pages with a condition on any of several fields follow one another both ways, and belong to its term', async (t) => {
  const app = await appOn(t, people)
  const first = await app.inject(`${urlOf('search', 'example')}&perPage=3`)
  const second = await app.inject(linkOf(first, 'next') as string)
  const back = await app.inject(linkOf(second, 'prev') as string)
  t.equal([first, second, back].map(idsOf).join(' '), 'a,b,g d a,b,g')
  const cursor = new URL(`https://x${linkOf(first, 'next')}`).searchParams.get('after')
  for (const url of [urlOf('search', 'ada'), urlOf('name', 'example')])
    t.match((await app.inject(`${url}&after=${cursor}`)).json(), { code: 'CURSOR_MISMATCH' })
  const others = await appOn(t, collection(TypeBoxPerson)({ ...declaration, any: { search: ['email', 'name'] } }) as typeof people)
  t.match((await others.inject(`${urlOf('search', 'example')}&after=${cursor}`)).json(), { code: 'CURSOR_MISMATCH' }, 'other fields')
})

t.test('a field that the client may not read cannot be searched through another name', async (t) => {
  const hidden = collection(TypeBoxPerson)({
    ...declaration,
    readable: ({ headers }, field) => field !== 'email' || headers['x-role'] === 'staff'
  })
  const app = await appOn(t, hidden)
  t.match((await app.inject(urlOf('search', 'lovel'))).json(), { errors: ['query.search[contains] unknownParameter'] })
  t.equal(idsOf(await app.inject({ url: urlOf('search', 'lovel'), headers: { 'x-role': 'staff' } })), 'a,b')
  t.equal(idsOf(await app.inject(urlOf('name', 'lovel'))), 'a')
})

t.test('describes contains and any, also as the body of a request [Q13]', async (t) => {
  for (const listed of Object.values(declared)) {
    const parameters = new Map(listed.parameters.map(({ name, description, schema }) => [name, { description, schema }]))
    t.strictSame(parameters.get('search[contains]'), {
      description: 'name or email containing, in upper or lower case (three letters or digits in a row at least)',
      schema: { type: 'string', minLength: 3, maxLength: 60 }
    })
    t.equal(
      parameters.get('name[contains]')?.description,
      'name containing, in upper or lower case (three letters or digits in a row at least)'
    )
    const body = filterBody(listed)
    t.match(body.schema, { properties: { search: { properties: { contains: { minLength: 3 } } } } })
    const conditions = body.conditionsOf({ search: { contains: 'lovel' } })
    t.strictSame(conditions, [{ field: 'search', anyOf: ['name', 'email'], kind: 'string', operator: 'contains', value: 'lovel' }])
  }
})

t.test('a term for fields of any length has the length of all parameters', (t) => {
  const Note = Type.Object({ id: Type.Integer(), title: text, content: Type.String() })
  const notes = collection(Note)({
    name: 'notes',
    style: 'page',
    id: 'id',
    defaultSort: ['id'],
    sort: { keys: ['id'] },
    filter: { title: ['contains'], content: ['contains'] },
    any: { search: ['title', 'content'] }
  })
  t.match(notes.parameters.find(({ name }) => name === 'search[contains]')?.schema, { maxLength: 1024 })
  t.end()
})

t.test('a filter over several fields that cannot work stops the start with one line', (t) => {
  const where = 'pagination-query: collection "people": any.'
  const Other = Type.Object({ id: text, name: text, age: Type.Integer(), role: Type.Union([Type.Literal('x'), Type.Literal('y')]) })
  const filter = { name: ['contains', 'eq'], age: ['eq'], role: ['eq'], id: ['in'] }
  const declareOther = collection(Other) as (declaration: object) => unknown
  const cases: readonly (readonly [any: object, message: string])[] = [
    [{ search: ['name'] }, `${where}search must list two or more different fields.`],
    [{ search: ['name', 'name'] }, `${where}search must list two or more different fields.`],
    [{ search: 'name' }, `${where}search must list two or more different fields.`],
    [{ search: ['name', 'email'] }, `${where}search contains "email", which has no filter. Add its operators to filter.`],
    [{ search: ['name', 'age'] }, `${where}search has fields of the kinds string and integer. All must have the same kind, and not enum.`],
    [{ search: ['role', 'role'] }, `${where}search must list two or more different fields.`],
    [
      { search: ['name', 'id'] },
      `${where}search has fields without a common operator. Add one, for example contains, to filter for each of them.`
    ],
    [
      { age: ['name', 'id'] },
      `${where}age has an invalid name. Use letters and digits, and not the name of a field or of another parameter.`
    ],
    [
      { sort: ['name', 'id'] },
      `${where}sort has an invalid name. Use letters and digits, and not the name of a field or of another parameter.`
    ],
    [
      { 'a b': ['name', 'id'] },
      `${where}a b has an invalid name. Use letters and digits, and not the name of a field or of another parameter.`
    ],
    [{ token: ['name', 'id'] }, `${where}token looks like the name of a credential, which links omit. Rename it.`]
  ]
  for (const [any, message] of cases) t.throws(() => declareOther({ ...declaration, filter, any }), { name: 'TypeError', message })
  const friend = one(declareOther({ ...declaration, filter: {}, any: {} }) as Collection, { key: 'id', permission: 'public' })
  const related = {
    relations: { friend },
    filter: { name: ['contains'], 'friend.name': ['contains'] },
    any: { search: ['name', 'friend.name'] }
  }
  t.throws(() => declareOther({ ...declaration, ...related }), {
    message: `${where}search contains "friend.name", which is a field of a relation. Remove it.`
  })
  const Roles = Type.Object({ id: text, name: text, role: Type.Literal('x'), other: Type.Literal('y') })
  t.throws(() => collection(Roles)({ ...declaration, filter: { role: ['eq'], other: ['eq'] }, any: { search: ['role', 'other'] } }), {
    message: `${where}search has fields of the kinds enum. All must have the same kind, and not enum.`
  })
  t.end()
})

t.test('a page with contains is never prepared by name', { skip }, async (t) => {
  const pool = new Pool({ connectionString: process.env['TEST_DATABASE_URL'], max: 1 })
  t.teardown(() => pool.end())
  pool.on('connect', preparePages)
  await pool.query('create temporary table people (id text primary key, name text not null, email text)')
  const app = await appOn(t, people, pool)
  const prepared = async () => (await pool.query('select 1 from pg_prepared_statements')).rows.length
  for (let time = 0; time < 4; time += 1) await app.inject(urlOf('search', 'lovel'))
  t.equal(await prepared(), 0)
  await app.inject('/people?name=x')
  t.equal((await prepared()) > 0, true, 'others are')
})
