// In a process of its own: index-subject.ts adds tests to that of the process.
import { randomUUID } from 'node:crypto'
import paginationQuery, { collection, type ListQuery } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { runSql } from '@concordat/pagination-query/sql'
import { publish } from '@concordat/plugin-kit/wiring'
import Fastify from 'fastify'
import t from 'tap'
import { findMissingIndexes, type Listing, listing, onEach, type Subject } from './index-subject.ts'

const table = `CREATE TABLE items (tenant text NOT NULL, id uuid NOT NULL, name text COLLATE "C" NOT NULL, note text NOT NULL, nick char(9) NOT NULL,
  at timestamptz NOT NULL, total numeric NOT NULL, state state NOT NULL, PRIMARY KEY (tenant, id))`
const indexes = ['at, id', 'total, id', 'name', 'note text_pattern_ops', 'nick bpchar_pattern_ops', 'state, at, id']
const policy = `CREATE POLICY tenant ON items USING (tenant = (SELECT NULLIF(current_setting('app.tenant', true), '')))`
const secure = 'ALTER TABLE items ENABLE ROW LEVEL SECURITY'

const items: Listing = {
  fields: { name: 'string', note: 'string', nick: 'string', at: 'date-time', total: 'decimal', state: 'string' },
  sorts: ['at', 'total'],
  filters: { name: ['prefix'], note: ['prefix'], nick: ['prefix'], state: ['eq'] }
}
// The condition that a service without policies writes.
const ofTenant = { where: { text: 'tenant = $1', values: ['a'] } }

const id = { field: 'id', kind: 'uuid', nullable: false, descending: false } as const
const queryOf = (field: string, value: string, hasTenant: boolean) => ({
  name: 'items',
  id: 'id',
  fields: ['id'],
  order: [id],
  conditions: [{ field, kind: 'string', operator: 'prefix', value } as const],
  hasTenant,
  perPage: 100,
  reverse: false,
  offset: 0,
  ranges: [{ equal: [] }],
  count: 'none' as const
})

/** Returns the values of a column that begin with a text, and the statement that found them. */
async function found({ database }: Subject, field: string, value: string, hasTenant: boolean) {
  let statement = ''
  const client = {
    query(text: string, values: unknown[]) {
      statement = text.replaceAll(/\$(\d+)/g, (_, n) => `'${String(values[n - 1])}'`)
      return (database as Parameters<typeof runSql>[0]).query(text, values)
    }
  }
  const { rows } = await runSql<{ id: string }>(client, queryOf(field, value, hasTenant))
  return { ids: rows.map((row) => row.id).toSorted(), statement }
}

onEach('under policies, an index serves a prefix, but no operator that is not leakproof', async (t, subject) => {
  const { database, query, run } = subject
  const role = `tenant_${randomUUID().slice(0, 8)}`
  const find = async (...source: [typeof ofTenant] | []) =>
    (await findMissingIndexes(database, listing(items), ...source)).map(({ kind, names, problem }) => [kind, ...names, problem])
  await run(`CREATE ROLE ${role}`, "CREATE TYPE state AS ENUM ('m', 'n')", table)
  await run(...indexes.map((index) => `CREATE INDEX ON items (tenant, ${index})`))
  t.strictSame(await find(ofTenant), [])
  await run(policy, secure, `GRANT SELECT ON items TO ${role}`)
  await run(`DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO ${role}', current_schema()); END $$`, `SET ROLE ${role}`)
  try {
    t.match(await find(), [
      ['refused', 'sort.total', /cannot look up ROW\(total, id\)/],
      ['impossible', 'filter.state[eq]', /under a policy, no index applies state = 'm'::state, whose operator is not leakproof/],
      ['impossible', 'filter.nick[prefix]', /no index applies nick ~~ 'm%'/]
    ])
    await run('SET enable_seqscan = off', 'SET enable_bitmapscan = off')
    for (const column of ['name', 'note']) {
      const { statement } = await found(subject, column, 'm', true)
      const plan = await query<{ 'QUERY PLAN': string }>(`EXPLAIN ${statement.replace(/order by.*?limit/, 'limit')}`)
      t.match(plan.map((row) => row['QUERY PLAN']).join('\n'), new RegExp(`Index Cond: .+${column} ~?>=~? 'm'`), column)
    }
  } finally {
    await run('RESET ROLE', 'RESET enable_seqscan', 'RESET enable_bitmapscan', `DROP OWNED BY ${role}`, `DROP ROLE ${role}`)
  }
})

const types = ['text', 'text COLLATE "C"', 'varchar(20)', 'char(9)', 'short', 'nickname', 'name']
const values = ['ab', 'AB', 'a%b', 'a_b', String.raw`a\b`, 'a b', 'a', 'übel', 'e\u0301']
const prefixes = ['a', 'A', 'a%', 'a_', 'a\\', 'a ', 'ab ', 'ü', 'e', '%', "'"]

onEach('a prefix finds the same rows with a tenant and without, in each type of text', async (t, subject) => {
  const { engine, run } = subject
  const own = engine === 'PostgreSQL' ? ['citext', 'text COLLATE loose'] : []
  if (engine === 'PostgreSQL')
    await run('CREATE EXTENSION citext', "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
  await run('CREATE DOMAIN short AS varchar(9)', 'CREATE DOMAIN nickname AS char(9)')
  for (const type of [...types, ...own]) {
    await run('DROP TABLE IF EXISTS items', `CREATE TABLE items (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), word ${type})`)
    await run(`INSERT INTO items (word) VALUES ${values.map((value) => `('${value}')`).join()}`)
    for (const prefix of prefixes) {
      const [without, ofTenant] = [await found(subject, 'word', prefix, false), await found(subject, 'word', prefix, true)]
      t.strictSame(ofTenant.ids, without.ids, `${type} ${prefix}`)
    }
  }
})

t.test('a list query says whether its request has a tenant', async (t) => {
  const Item = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } } as const
  const served = collection<{ id: string }>(Item)({ name: 'items', style: 'page', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] } })
  const app = Fastify()
  t.teardown(() => app.close())
  publish(app, { clients: { tenantOf: ({ url }: { url: string }) => (url.startsWith('/own') ? 'a' : undefined) } as never })
  await app.register(paginationQuery)
  const queries: ListQuery[] = []
  for (const path of ['/own', '/shared'])
    app.get(
      path,
      { config: { collection: served }, schema: { response: { 200: { type: 'array', items: Item } } } },
      async (request, reply) => {
        const query = request.listQuery(served)
        queries.push(query)
        return reply.page(runArray([], query))
      }
    )
  for (const path of ['/own', '/own', '/shared']) t.equal((await app.inject(path)).statusCode, 200)
  t.strictSame(
    queries.map(({ hasTenant }) => hasTenant),
    [true, true, undefined]
  )
})
