// In a process of its own: index-subject.ts adds tests to that of the process.
import { checkIndexes } from '@concordat/pagination-query/check-indexes'
import type { runSql } from '@concordat/pagination-query/sql'
import { findMissingIndexes, type Listing, listing, onEach, onPostgreSQL } from './index-subject.ts'

type SqlSource = NonNullable<Parameters<typeof runSql>[2]>

const table = `CREATE TABLE items (id uuid PRIMARY KEY, tenant text NOT NULL, at timestamptz NOT NULL, price integer NOT NULL, score integer,
  name text COLLATE "C" NOT NULL, title text COLLATE other NOT NULL, code varchar(20) NOT NULL, gift boolean NOT NULL, deleted timestamptz,
  "na(me" text NOT NULL DEFAULT '')`
const other = `CREATE COLLATION other (provider = libc, locale = 'POSIX')`
const fields = {
  at: 'date-time',
  price: 'integer',
  score: 'integer?',
  name: 'string',
  title: 'string',
  code: 'string',
  gift: 'boolean',
  deleted: 'date-time?'
} as const

interface Trap {
  readonly title: string
  readonly requests: Omit<Listing, 'fields'>
  readonly source?: SqlSource
  /** The existing indexes, and the required indexes. Without `needs`, the existing indexes are sufficient. */
  readonly has: readonly string[]
  readonly needs?: readonly string[]
  readonly collation?: string
}

const icu = `CREATE COLLATION other (provider = icu, locale = 'en')`
const tenant: SqlSource = { where: { text: 'tenant = $1', values: ['acme'] } }
const open: SqlSource = { where: { text: 'deleted IS NULL', values: [] } }

const traps: readonly Trap[] = [
  { title: 'an index without the identifier does not sort ties', requests: { sorts: ['at'] }, has: ['(at)'], needs: ['(at, id)'] },
  { title: 'an included identifier does not sort ties', requests: { sorts: ['at'] }, has: ['(at) INCLUDE (id)'], needs: ['(at, id)'] },
  { title: 'accepts an index with included columns', requests: { sorts: ['at'] }, has: ['(at, id) INCLUDE (name, price)'] },
  { title: 'accepts an index that is read backward', requests: { sorts: ['at', '-at'] }, has: ['(at DESC, id DESC)'] },
  {
    title: 'a descending and an ascending key are another order',
    requests: { sorts: ['at'] },
    has: ['(at DESC, id)'],
    needs: ['(at, id)']
  },
  {
    title: 'mixed directions need an index with mixed directions',
    requests: { sorts: ['name,-at'] },
    has: ['(name, at, id)'],
    needs: ['(name, at DESC, id DESC)']
  },
  {
    title: 'accepts an index with mixed directions that is read backward',
    requests: { sorts: ['name,-at'] },
    has: ['(name DESC, at, id)']
  },
  { title: 'rejects an index with a column between the keys', requests: { sorts: ['at'] }, has: ['(at, name, id)'], needs: ['(at, id)'] },
  { title: 'accepts an index with columns after the keys', requests: { sorts: ['at'] }, has: ['(at, id, name)'] },
  {
    title: 'nulls at the other end are another order',
    requests: { sorts: ['score'] },
    has: ['(score NULLS FIRST, id)'],
    needs: ['(score, id)']
  },
  {
    title: 'nulls at the other end are another order, also for a column without nulls',
    requests: { sorts: ['at'] },
    has: ['(at NULLS FIRST, id)'],
    needs: ['(at, id)']
  },
  {
    title: 'accepts a descending index for a nullable key in both directions',
    requests: { sorts: ['score', '-score'] },
    has: ['(score DESC, id DESC)']
  },
  {
    title: 'accepts indexes for cursors with several nulls',
    requests: { sorts: ['score,deleted', 'score,-deleted'] },
    has: ['(score, deleted, id)', '(score, deleted DESC, id DESC)']
  },
  {
    title: 'an operator class for patterns does not sort',
    requests: { sorts: ['code'] },
    has: ['(code varchar_pattern_ops, id)'],
    needs: ['(code, id)']
  },
  { title: 'another collation is another order', requests: { sorts: ['title'] }, has: ['(title COLLATE "C", id)'], needs: ['(title, id)'] },
  {
    title: 'an order with another collation than the column needs an index with that collation',
    requests: { sorts: ['title'] },
    source: { columns: { title: { sql: 'title COLLATE "C"' } } },
    has: ['(title, id)'],
    needs: ['(title COLLATE "C", id)']
  },
  {
    title: 'accepts an index on a varchar with a length',
    requests: { sorts: ['code'], filters: { code: ['eq', 'in'] }, style: 'page' },
    has: ['(code, id)']
  },
  { title: 'other types of index have no order', requests: { sorts: ['at'] }, has: ['USING brin (at, id)'], needs: ['(at, id)'] },
  {
    title: 'the tenant must come first',
    requests: { sorts: ['at'] },
    source: tenant,
    has: ['(at, id)', '(at, id, tenant)', '(tenant)'],
    needs: ['(tenant, at, id)']
  },
  {
    title: 'the tenant must come first on numbered pages',
    requests: { sorts: ['at'], style: 'page' },
    source: tenant,
    has: ['(at, id, tenant)'],
    needs: ['(tenant, at, id)']
  },
  {
    title: 'accepts an index with the tenant after the filter',
    requests: { sorts: ['at'], filters: { name: ['eq'] } },
    source: tenant,
    has: ['(tenant, at, id)', '(name, tenant, at, id)']
  },
  {
    title: 'accepts a partial index whose condition the list implies',
    requests: { sorts: ['at'] },
    source: open,
    has: ['(at, id) WHERE deleted IS NULL']
  },
  {
    title: 'rejects a partial index whose condition the list does not imply',
    requests: { sorts: ['at'] },
    has: ['(at, id) WHERE deleted IS NULL'],
    needs: ['(at, id)']
  },
  {
    title: 'rejects a partial index if the list implies only part of its conditions',
    requests: { sorts: ['at'] },
    source: open,
    has: ['(at, id) WHERE deleted IS NULL AND gift'],
    needs: ['(at, id)']
  },
  {
    title: 'rejects a partial index for a single value of a filter',
    requests: { sorts: ['at'], filters: { name: ['eq'] } },
    has: ['(at, id)', `(at, id) WHERE name = 'm'`, `(name, at, id) WHERE name = 'm'`],
    needs: ['(at, id)', '(name, at, id)']
  },
  {
    title: 'accepts partial indexes for both values of a boolean',
    requests: { sorts: ['at'], filters: { gift: ['eq'] } },
    has: ['(at, id)', '(at, id) WHERE gift', '(at, id) WHERE NOT gift']
  },
  {
    title: 'rejects a partial index for a single value of a boolean',
    requests: { sorts: ['at'], filters: { gift: ['eq'] } },
    has: ['(at, id)', '(at, id) WHERE gift'],
    needs: ['(at, id)', '(gift, at, id)']
  },
  {
    title: 'a range excludes nulls',
    requests: { sorts: ['at'], filters: { score: ['gt'] } },
    has: ['(at, id)', '(score) WHERE score IS NOT NULL']
  },
  {
    title: 'an order includes nulls',
    requests: { sorts: ['score'] },
    has: ['(score, id) WHERE score IS NOT NULL'],
    needs: ['(score, id)']
  },
  {
    title: 'accepts partial indexes for a test of null',
    requests: { sorts: ['at'], filters: { score: ['null'] } },
    has: ['(at, id)', '(at) WHERE score IS NULL', '(at) WHERE score IS NOT NULL']
  },
  {
    title: 'accepts an index on an expression',
    requests: { sorts: ['name'] },
    source: { columns: { name: { sql: 'upper(name)' } } },
    has: ['(upper(name), id)']
  },
  {
    title: 'accepts an index on an expression with a bracket in a quoted name',
    requests: { sorts: ['name'] },
    source: { columns: { name: { sql: 'upper("na(me")' } } },
    has: ['(upper("na(me"), id)']
  },
  {
    title: 'rejects an index on another expression',
    requests: { sorts: ['name'] },
    source: { columns: { name: { sql: 'upper(name)' } } },
    has: ['(name, id)', '(lower(name), id)'],
    needs: ['(upper(name), id)']
  },
  {
    title: 'a unique index decides ties',
    requests: { sorts: ['name'], filters: { name: ['prefix'] }, style: 'page' },
    has: ['UNIQUE (name)']
  },
  { title: 'a unique index also serves cursors', requests: { sorts: ['name', '-name'] }, has: ['UNIQUE (name)'] },
  {
    title: 'a unique index on a nullable column does not decide ties',
    requests: { sorts: ['score'] },
    has: ['UNIQUE (score)'],
    needs: ['(score, id)']
  },
  {
    title: 'a unique value matches a single row',
    requests: { sorts: ['at'], filters: { code: ['eq'] } },
    has: ['(at, id)', 'UNIQUE (code)']
  },
  {
    title: 'equality needs an index in the default order',
    requests: { sorts: ['at'], filters: { name: ['eq'] } },
    has: ['(at, id)', '(name)'],
    needs: ['(at, id)', '(name, at, id)']
  },
  {
    title: 'a list of values only needs an index that finds the rows',
    requests: { sorts: ['at'], filters: { name: ['in'] } },
    has: ['(at, id)', '(name)']
  },
  {
    title: 'an index does not find a filter after a gap',
    requests: { sorts: ['at'], filters: { price: ['gte'] } },
    has: ['(at, id)', '(at, price)'],
    needs: ['(at, id)', '(price)']
  },
  {
    title: 'an operator class for patterns does not find a range',
    requests: { sorts: ['at'], filters: { name: ['gt'] } },
    has: ['(at, id)', '(name text_pattern_ops)'],
    needs: ['(at, id)', '(name)']
  },
  {
    title: 'a prefix needs a bytewise order',
    collation: icu,
    requests: { sorts: ['at'], filters: { title: ['prefix'] } },
    has: ['(at, id)', '(title)'],
    needs: ['(at, id)', '(title text_pattern_ops)']
  },
  {
    title: 'an operator class for patterns finds a prefix in a varchar',
    requests: { sorts: ['at'], filters: { code: ['prefix'] } },
    has: ['(at, id)', '(code text_pattern_ops)']
  },
  {
    title: 'a bytewise collation of the column finds a prefix',
    requests: { sorts: ['at'], filters: { name: ['prefix'] } },
    has: ['(at, id)', '(name)']
  },
  {
    title: 'a prefix needs an index with the tenant first',
    requests: { sorts: ['at'], filters: { name: ['prefix'] } },
    source: tenant,
    has: ['(tenant, at, id)', '(name)'],
    needs: ['(tenant, at, id)', '(tenant, name)']
  },
  {
    title: 'ne and nin need no index',
    requests: { sorts: ['at'], filters: { name: ['ne', 'nin'], gift: ['ne'] } },
    has: ['(at, id)']
  },
  {
    title: 'the primary key serves filters by the identifier',
    requests: { sorts: ['at'], filters: { id: ['eq', 'in', 'gt'] } },
    has: ['(at, id)']
  }
]

for (const { title, requests, source = {}, has, needs, collation = other } of traps) {
  const on = collation === icu ? onPostgreSQL : onEach
  on(`${title} [Q12]`, async (t, { database, query, run }) => {
    const collection = listing({ fields, ...requests })
    await run(collation, table, ...has.map(create))
    const findings = await findMissingIndexes(database, collection, source)
    t.strictSame([...new Set(findings.map(({ kind }) => kind))], needs === undefined ? [] : ['missing'])
    if (needs === undefined) return
    await run(...findings.map(({ statement }) => statement))
    t.strictSame(await findMissingIndexes(database, collection, source), [])

    await run('DROP TABLE items', table, ...needs.map(create))
    const expected = await query(definitions)
    t.strictSame(await findMissingIndexes(database, collection, source), [], 'the required indexes are sufficient')
    t.match(expected, { length: needs.length + 1 })
  })
}

const definitions = `SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema AND tablename = 'items'`

function create(index: string) {
  const [, unique = '', using = '', rest = ''] = /^(UNIQUE )?(USING \w+ )?(.*)$/.exec(index) ?? []
  return `CREATE ${unique}INDEX ON items ${using}${rest}`
}

onEach('returns a REINDEX statement for an index whose build failed [Q12]', async (t, { database, run }) => {
  await run(other, table, 'CREATE INDEX broken ON items (at, id)', 'CREATE INDEX "Broken too" ON items (name, at, id)')
  await run(`UPDATE pg_index SET indisvalid = false WHERE indrelid = 'items'::regclass AND NOT indisprimary`)
  const collection = listing({ fields, sorts: ['-at'], filters: { name: ['eq'] } })
  const findings = await findMissingIndexes(database, collection)
  t.match(findings, [
    {
      kind: 'invalid',
      problem: 'sort=-at: broken would serve it, but its build failed',
      statement: /^REINDEX INDEX CONCURRENTLY indexes_\w+\.broken;$/
    },
    { kind: 'invalid', statement: /^REINDEX INDEX CONCURRENTLY indexes_\w+\."Broken too";$/ }
  ])
  await run(...findings.map(({ statement }) => statement))
  await t.resolves(checkIndexes(database, collection))
})

onEach('reports an index that the planner cannot use, although its definition fits [Q12]', async (t, { database, run }) => {
  await run(other, table, 'CREATE INDEX ON items (at, id)', 'CREATE INDEX ON items (code COLLATE "ucs_basic", at, id)')
  const collection = listing({ fields, sorts: ['-at'], filters: { code: ['in'] } })
  // The comparison uses another collation than the index.
  t.match(await findMissingIndexes(database, collection), [
    { kind: 'refused', names: ['filter.code[in]'], problem: /^code\[in\]=…: the planner cannot look up /, statement: undefined }
  ])
})

onEach('reports a list that no index can serve, without a statement [Q12]', async (t, { database, run }) => {
  await run(
    other,
    table,
    'CREATE TABLE owners (name text PRIMARY KEY, city text)',
    'CREATE INDEX ON items (name, at, id)',
    'CREATE INDEX ON items (price, id)'
  )
  const joined: SqlSource = {
    table: { sql: 'items i JOIN owners o ON o.name = i.tenant' },
    columns: { id: 'i.id', at: 'i.at', name: 'o.city', price: 'i.price' }
  }
  t.match(await findMissingIndexes(database, listing({ fields, sorts: ['price', 'price,name'] }), joined), [
    {
      kind: 'impossible',
      names: ['sort.price,name'],
      problem: 'sort=price,name: the sort keys belong to several tables',
      statement: undefined
    }
  ])
  t.match(await findMissingIndexes(database, listing({ fields, sorts: ['price'], filters: { name: ['eq'] } }), joined), [
    { kind: 'impossible', names: ['filter.name[eq]'], problem: 'name=…: the condition is on another table' }
  ])
  // The comparison uses another type than the column.
  t.match(await findMissingIndexes(database, listing({ fields: { ...fields, price: 'decimal' }, sorts: ['price'] })), [
    { kind: 'impossible', names: ['sort.price'], problem: 'sort=price: no index supports the comparisons in the statement' }
  ])
  // A key that a filter sets to a single value is not part of the comparison; a key that the base sets to a single value is.
  t.strictSame(await findMissingIndexes(database, listing({ fields, sorts: ['name,at'], filters: { name: ['eq'] } })), [])
  const base: SqlSource = { where: { text: 'name = $1', values: ['a'] } }
  t.match(await findMissingIndexes(database, listing({ fields, sorts: ['name,at'] }), base), [
    {
      kind: 'impossible',
      names: ['sort.name,at'],
      problem: 'sort=name,at: no index supports the comparisons in the statement'
    }
  ])
})
