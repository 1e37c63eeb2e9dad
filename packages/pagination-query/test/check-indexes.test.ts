// In a process of its own: index-subject.ts adds tests to that of the process.
import type { Collection, Operator, ValueKind } from '@concordat/pagination-query'
import { checkIndexes, MissingIndexesError } from '@concordat/pagination-query/check-indexes'
import type { runSql } from '@concordat/pagination-query/sql'
import { isLong, scaled } from '@concordat/test-harness/scale'
import { Pool } from 'pg'
import { findMissingIndexes, type Listing, listing, onEach, onPostgreSQL, ownDatabase, type Subject } from './index-subject.ts'

type SqlSource = NonNullable<Parameters<typeof runSql>[2]>

const items = `CREATE TABLE items (id uuid PRIMARY KEY, tenant text NOT NULL, "placedAt" timestamptz NOT NULL, total numeric(20, 2) NOT NULL,
  status text COLLATE "C" NOT NULL, rating integer, note varchar(80), gift boolean NOT NULL, "odd ""name" text NOT NULL)`
const columns = { placedAt: 'placedAt', odd: 'odd "name', lowerNote: { sql: 'lower(note)' } }
const everything: Listing = {
  fields: {
    placedAt: 'date-time',
    total: 'decimal',
    status: 'enum',
    rating: 'integer?',
    note: 'string?',
    gift: 'boolean',
    odd: 'string',
    lowerNote: 'string?'
  },
  sorts: [
    '-placedAt',
    'placedAt',
    'total',
    '-total',
    'rating',
    '-rating',
    'odd',
    '-lowerNote',
    'status,-placedAt',
    '-rating,total,-status'
  ],
  filters: {
    status: ['eq', 'ne', 'in', 'nin'],
    placedAt: ['gt', 'lte'],
    total: ['eq', 'gte'],
    rating: ['null', 'gt', 'ne'],
    note: ['prefix', 'eq'],
    odd: ['prefix'],
    gift: ['eq', 'ne'],
    lowerNote: ['eq']
  }
}

interface Case {
  readonly title: string
  readonly tables: readonly string[]
  readonly listing: Listing
  readonly source: SqlSource
}

const cases: readonly Case[] = [
  { title: 'cursors over every kind of field', tables: [items], listing: everything, source: { columns } },
  {
    title: 'the rows of one tenant',
    tables: [items],
    listing: {
      fields: everything.fields,
      sorts: ['-placedAt', 'rating', 'status,-placedAt'],
      filters: { status: ['eq'], total: ['gte'], note: ['prefix'], rating: ['null'], lowerNote: ['in'] }
    },
    source: { columns, where: { text: 'tenant = $1 AND gift AND note IS DISTINCT FROM $2', values: ['acme', 'hidden'] } }
  },
  {
    title: 'numbered pages',
    tables: [items],
    listing: {
      style: 'page',
      fields: everything.fields,
      sorts: ['odd', '-rating', 'status,-placedAt'],
      filters: { odd: ['eq', 'prefix'], gift: ['eq'] }
    },
    source: { columns }
  },
  {
    title: 'a table with another alias in a join',
    tables: [items, 'CREATE TABLE owners (name text PRIMARY KEY)'],
    listing: { fields: { total: 'decimal', status: 'enum' }, sorts: ['-total'], filters: { status: ['eq', 'in'] } },
    source: {
      table: { sql: 'items AS i JOIN owners AS "O w" ON "O w".name = i.tenant' },
      columns: { id: 'i.id', total: 'i.total', status: 'i.status' }
    }
  },
  {
    title: 'a query of a query builder, whose values are parameters',
    tables: [items, 'CREATE TABLE owners (name text PRIMARY KEY)'],
    listing: { fields: { total: 'decimal', status: 'enum' }, sorts: ['-total'], filters: { status: ['eq', 'in'] } },
    source: {
      table: {
        sql: 'SELECT "i".*, "o"."name" FROM "items" AS "i" JOIN "owners" AS "o" ON "o"."name" = "i"."tenant" WHERE "i"."tenant" = $1 -- theirs',
        values: ['acme']
      },
      where: { text: 'gift = $1', values: [true] }
    }
  },
  {
    title: 'a view',
    tables: [items, `CREATE VIEW open_items AS SELECT id, total AS amount, upper(status) AS state FROM items WHERE tenant = 'acme'`],
    listing: { name: 'openItems', fields: { amount: 'decimal', state: 'string' }, sorts: ['amount'], filters: { state: ['eq', 'in'] } },
    source: {}
  },
  {
    title: 'a partitioned table',
    tables: [
      'CREATE TABLE items (id uuid NOT NULL, tenant text NOT NULL, total numeric NOT NULL, rating integer) PARTITION BY LIST (tenant)',
      `CREATE TABLE items_a PARTITION OF items FOR VALUES IN ('a')`,
      `CREATE TABLE items_b PARTITION OF items FOR VALUES IN ('b', 'c')`
    ],
    listing: {
      fields: { total: 'decimal', rating: 'integer?' },
      sorts: ['total', '-rating'],
      filters: { total: ['gt'], rating: ['eq', 'null'] }
    },
    source: {}
  }
]

for (const { title, tables, listing: declared, source } of cases) {
  const collection = listing(declared)

  onEach(`passes after its statements are run, and reports each index that is then dropped: ${title} [Q12]`, async (t, subject) => {
    await subject.run(...tables)
    const findings = await findMissingIndexes(subject.database, collection, source)
    t.match([...new Set(findings.map(({ kind }) => kind))], ['missing'])
    const indexes: { name: string; concerned: Collection }[] = []
    for (const { names, statement } of findings) {
      indexes.push({ name: await created(subject, statement as string), concerned: isLong ? collection : listing(only(declared, names)) })
    }
    await t.resolves(checkIndexes(subject.database, collection, source))

    // PGlite has the planner of PostgreSQL, so the quick tier drops two indexes on PGlite, and all indexes on PostgreSQL.
    const dropped = subject.engine === 'PGlite' ? indexes.slice(0, scaled(2, indexes.length)) : indexes
    for (const { name, concerned } of dropped) {
      await subject.run(`DROP INDEX ${name}`)
      const missed = await findMissingIndexes(subject.database, concerned, source)
      t.match(missed, [{ kind: 'missing' }], `reports ${name} as missing`)
      await subject.run(...missed.map((finding) => finding.statement))
    }
    await t.resolves(checkIndexes(subject.database, collection, source), 'each statement restores the dropped index')
  })
}

/** Returns the sorts and filters with these names, and the default sort, which filters also need. */
function only({ sorts, filters = {}, ...rest }: Listing, names: readonly string[]): Listing {
  return {
    ...rest,
    sorts: sorts.filter((sort, index) => index === 0 || names.includes(`sort.${sort}`) || names.includes(`sort.${sort.replace('-', '')}`)),
    filters: Object.fromEntries(
      Object.entries(filters).map(([field, operators]) => [field, operators.filter((one) => names.includes(`filter.${field}[${one}]`))])
    )
  }
}

/** Runs a statement and returns the name of the index that it creates. */
async function created({ query, run }: Subject, statement: string) {
  const names = async () =>
    (await query<{ name: string }>(`SELECT indexname AS name FROM pg_indexes WHERE schemaname = current_schema`)).map(({ name }) => name)
  const before = await names()
  await run(statement)
  const made = (await names()).filter((name) => !before.includes(name) && !/^items_[ab]_/.test(name))
  return `"${made[0]?.replaceAll('"', '""')}"`
}

onEach('returns the same findings for a table with rows as for an empty table', async (t, { database, query, run }) => {
  await run(items)
  const collection = listing(everything)
  const empty = await findMissingIndexes(database, collection, { columns })
  await run(
    `INSERT INTO items SELECT gen_random_uuid(), 'acme', now() - g * interval '1 s', g % 50, (ARRAY['one', 'two'])[1 + g % 2], nullif(g % 9, 0), 'n' || g, g % 100 = 0, 'o' || g
     FROM generate_series(1, 5000) AS g`,
    'ANALYZE items'
  )
  t.strictSame(await findMissingIndexes(database, collection, { columns }), empty)
  await run(...empty.map(({ statement }) => statement))
  await t.resolves(checkIndexes(database, collection, { columns }))
  t.strictSame(await query('SELECT count(*)::int AS rows FROM items'), [{ rows: 5000 }])
})

onEach('throws an error that lists everything that is missing, in its message and as data', async (t, { database, run }) => {
  await run(items, 'CREATE INDEX ON items (total, id)')
  const collection = listing({
    fields: { total: 'decimal', status: 'enum' },
    sorts: ['-total', 'total', 'status'],
    filters: { status: ['eq'] }
  })
  const error = await checkIndexes(database, collection, {}).catch((error: unknown) => error)
  t.type(error, MissingIndexesError)
  const { message, findings } = error as MissingIndexesError
  t.equal(
    message.replaceAll(/indexes_\w+/g, 'public'),
    `pagination-query: the collection "items" needs indexes that the database does not have:
- sort=status: no index serves it
    CREATE INDEX CONCURRENTLY ON public.items (status, id);
- status=…: no index serves it
    CREATE INDEX CONCURRENTLY ON public.items (status, total, id);`
  )
  t.match(findings, [
    { kind: 'missing', names: ['sort.status'] },
    { kind: 'missing', names: ['filter.status[eq]'] }
  ])
})

onEach('does not report what is waived with a reason, and reports a waiver without effect', async (t, { database, run }) => {
  await run(items, 'CREATE INDEX ON items (total, id)')
  const collection = listing({
    fields: { total: 'decimal', gift: 'boolean', rating: 'integer?' },
    sorts: ['total', 'rating,-total'],
    filters: { gift: ['eq'], rating: ['eq', 'gt'], total: ['gt'] }
  })
  const waive = {
    'filter.gift': 'two values',
    'filter.rating[eq]': 'few',
    'filter.rating[gt]': 'few',
    'sort.rating,-total': 'by few people'
  }
  t.match(await findMissingIndexes(database, collection, {}, { waive }), [])
  t.match(await findMissingIndexes(database, collection, {}, { waive: { 'filter.rating': 'few', 'sort.total': 'x', 'sort.totl': 'x' } }), [
    { kind: 'missing', names: ['sort.rating,-total'] },
    { kind: 'missing', names: ['filter.gift[eq]'] },
    { kind: 'waiver', names: ['sort.total'], problem: 'The waiver "sort.total" has no effect. Remove it.', statement: undefined },
    { kind: 'waiver', names: ['sort.totl'] }
  ])
  await t.rejects(findMissingIndexes(database, collection, {}, { waive: { 'filter.gift': ' ' } }), {
    name: 'TypeError',
    message: 'pagination-query: options.waive["filter.gift"] must have a reason. State why no index is needed.'
  })
})

onEach('restores the settings of the connection, and fails if there is nothing to check', async (t, { database, query, run }) => {
  await run(items)
  await findMissingIndexes(database, listing({ fields: { total: 'decimal' }, sorts: ['total'] }))
  t.strictSame(await query('SHOW enable_seqscan'), [{ enable_seqscan: 'on' }])
  t.strictSame(await query('SHOW transaction_read_only'), [{ transaction_read_only: 'off' }])
  const nothing = listing({ name: 'numbers', fields: {}, sorts: ['id'] })
  await t.rejects(
    checkIndexes(database, nothing, { table: { sql: `(VALUES ('f1f51f0e-0f4f-7000-8000-000000000000'::uuid)) AS n (id)` } }),
    {
      message: 'pagination-query: the collection "numbers" does not read a table, so it has no indexes to check. Leave it out of the check.'
    }
  )
  await t.rejects(checkIndexes(database, nothing), { code: '42P01' })
  t.strictSame(await query('SELECT 1 AS one'), [{ one: 1 }])
})

onPostgreSQL('accepts the index of a column of any type, without a declaration of the type [Q12]', async (t, { database, run }) => {
  await run(
    'CREATE EXTENSION citext',
    `CREATE COLLATION accentless (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`,
    'CREATE DOMAIN address AS text',
    'CREATE DOMAIN caseless_address AS citext',
    'CREATE DOMAIN quantity AS integer',
    `CREATE TYPE state AS ENUM ('one', 'two', 'three')`
  )
  const types: [type: string, kind: ValueKind, prefix?: string][] = [
    ['varchar(9)', 'string', 'text_pattern_ops'],
    ['char(9)', 'string', 'bpchar_pattern_ops'],
    ['text COLLATE "C"', 'string', ''],
    ['address', 'string', 'text_pattern_ops'],
    ['citext', 'string', 'none'],
    ['caseless_address', 'string', 'none'],
    ['text COLLATE accentless', 'string', 'none'],
    ['state', 'enum'],
    ['text', 'uuid'],
    ['real', 'decimal'],
    ['double precision', 'decimal'],
    ['numeric(9,2)', 'decimal'],
    ['smallint', 'integer'],
    ['numeric', 'integer'],
    ['quantity', 'integer'],
    ['timestamp', 'date-time'],
    ['date', 'date-time']
  ]
  for (const [type, kind, prefix] of types) {
    await run('DROP TABLE IF EXISTS items', `CREATE TABLE items (id uuid PRIMARY KEY, value ${type} NOT NULL)`)
    const operators = kind === 'string' ? ['eq', 'in', 'prefix'] : kind === 'date-time' ? ['gt'] : ['eq', 'in', 'gt']
    const collection = listing({ fields: { value: kind }, sorts: ['value', '-value'], filters: { value: operators as Operator[] } })
    const without = await findMissingIndexes(database, collection)
    t.strictSame(without.flatMap(({ names }) => names).includes('sort.value'), true, `${type} without an index`)
    await run(...without.map(({ statement }) => statement))
    const still = prefix === 'none' ? [{ kind: 'impossible', names: ['filter.value[prefix]'] }] : []
    t.match(await findMissingIndexes(database, collection), still, `${type} with the proposed indexes`)
    const patterns = without.filter(({ statement }) => statement?.includes('_pattern_ops'))
    t.strictSame(
      patterns.map(({ statement }) => /\w+_pattern_ops/.exec(statement as string)?.[0]),
      ['text_pattern_ops', 'bpchar_pattern_ops'].filter((name) => name === prefix),
      `${type} by prefix`
    )
  }
})

onEach('rejects a field that is declared with another type than its column [Q12]', async (t, { database, run }) => {
  await run(
    `CREATE TYPE mood AS ENUM ('glad', 'sad')`,
    'CREATE TABLE items (id uuid PRIMARY KEY, reference uuid NOT NULL, mood mood NOT NULL, amount text NOT NULL)'
  )
  for (const fields of [{ reference: 'string' }, { mood: 'string' }, { amount: 'integer' }] as const) {
    const [name] = Object.keys(fields) as [string]
    const listed = listing({ fields, sorts: ['id'], filters: { [name]: ['eq'] } })
    await t.rejects(checkIndexes(database, listed), {
      name: 'TypeError',
      message: /^pagination-query: the columns do not have the types that the schema declares: .+ Declare a UUID with the format "uuid"/
    })
  }
})

onPostgreSQL('returns its connection to a pool, and rejects a client in a transaction without ending the transaction', async (t) => {
  const pool = new Pool({ connectionString: await ownDatabase(), max: 1 })
  t.teardown(() => pool.end())
  const client = await pool.connect()
  const collection = listing({ fields: { total: 'decimal' }, sorts: ['total'] })
  await client.query('BEGIN')
  await client.query('CREATE TEMPORARY TABLE items (id uuid PRIMARY KEY, total numeric NOT NULL)')
  await t.rejects(checkIndexes(client, collection), {
    name: 'TypeError',
    message: 'pagination-query: the client is in a transaction. Pass a client that is not in a transaction, or a pool.'
  })
  await client.query('COMMIT')
  client.release()
  t.match(await findMissingIndexes(pool, collection), [{ statement: /^CREATE INDEX CONCURRENTLY ON pg_temp_\d+\.items \(total, id\);$/ }])
  await t.rejects(checkIndexes(pool, { ...collection, name: 'nowhere' }), { code: '42P01' })
  t.equal(pool.idleCount, 1)
})
