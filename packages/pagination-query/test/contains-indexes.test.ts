// In a process of its own: index-subject.ts adds tests to that of the process.
import type { Operator } from '@concordat/pagination-query'
import { findMissingIndexes, listing, onEach, onPostgreSQL } from './index-subject.ts'

const filters = { name: ['contains'], email: ['contains'] } as const satisfies Record<string, readonly Operator[]>
const people = listing({ name: 'people', fields: { name: 'string', email: 'string?', born: 'date' }, sorts: ['name'], filters })
const table = `CREATE TABLE people (id uuid PRIMARY KEY, tenant text NOT NULL DEFAULT '', name varchar(80) NOT NULL, email text, born date NOT NULL)`
const order = 'CREATE INDEX ON people (name, id)'
const names = (findings: Awaited<ReturnType<typeof findMissingIndexes>>) => findings.map(({ kind, names }) => `${kind} ${names.join()}`)

onEach('contains needs an index of trigrams, whose statement the check prints [Q12]', async (t, { database, run }) => {
  await run('CREATE EXTENSION pg_trgm', table, order)
  const missing = await findMissingIndexes(database, people)
  t.strictSame(names(missing), ['missing filter.name[contains]', 'missing filter.email[contains]'])
  t.match(missing[0]?.statement, /^CREATE INDEX CONCURRENTLY ON indexes_\w+\.people USING gin \(name gin_trgm_ops\);$/)
  t.match(missing[0]?.problem, /: no index of trigrams serves it, for which the extension pg_trgm is needed$/)
  await run(...missing.map(({ statement }) => statement))
  t.strictSame(await findMissingIndexes(database, people), [])
})

onEach('each field of any needs its index, and a common one is reported once [Q12]', async (t, { database, run }) => {
  await run('CREATE EXTENSION pg_trgm', table, order, 'CREATE INDEX ON people USING gin (name gin_trgm_ops)')
  const any = new Map([['search', { anyOf: ['name', 'email'], operators: ['contains'] }]])
  const searched = { ...people, any, filters: new Map([...people.filters, ['search', ['contains']]]) } as unknown as typeof people
  t.strictSame(names(await findMissingIndexes(database, searched)), ['missing filter.email[contains],filter.search[contains]'])
  await run('CREATE INDEX ON people USING gist (email gist_trgm_ops)')
  t.strictSame(await findMissingIndexes(database, searched), [])
})

onEach('only an index of trigrams on all rows of the list serves contains [Q12]', async (t, { database, run }) => {
  const source = { where: { text: 'tenant = $1', values: ['acme'] } }
  await run('CREATE EXTENSION pg_trgm', table, 'CREATE INDEX ON people (tenant, name, id)')
  for (const [index, serves] of [
    ['(name text_pattern_ops)', false],
    [`USING gin (name gin_trgm_ops) WHERE email <> ''`, false],
    ['USING gin (to_tsvector($$simple$$, name))', false],
    ['USING gist (email gist_trgm_ops, name gist_trgm_ops)', false],
    ['USING gin (email gin_trgm_ops, name gin_trgm_ops)', true],
    [`USING gin (name gin_trgm_ops) WHERE tenant = 'acme'`, true]
  ] as const) {
    await run(`CREATE INDEX tried ON people ${index}`)
    const found = await findMissingIndexes(database, people, source, { waive: { 'filter.email': 'not here' } })
    t.equal(
      found.every(({ names }) => !names.includes('filter.name[contains]')),
      serves,
      index
    )
    await run('DROP INDEX tried')
  }
})

onEach('a column whose letters have only the cases of ASCII cannot be searched [Q12]', async (t, { database, run }) => {
  await run(
    'CREATE EXTENSION pg_trgm',
    table.replace('varchar(80)', 'text COLLATE "C"'),
    order,
    'CREATE INDEX ON people USING gin (name gin_trgm_ops)'
  )
  const found = await findMissingIndexes(database, people, {}, { waive: { 'filter.email': 'not here' } })
  t.match(found, [
    {
      kind: 'impossible',
      problem:
        'name[contains]=…: its collation knows only the letters of ASCII, as "C" does, or is nondeterministic. Change it, for example to "default" in a database with the locale C.UTF-8'
    }
  ])
})

onPostgreSQL('a column with a nondeterministic collation cannot be searched [Q12]', async (t, { database, run }) => {
  await run(
    `CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
    'CREATE EXTENSION pg_trgm',
    table.replace('varchar(80)', 'text COLLATE loose'),
    order,
    'CREATE INDEX ON people USING gin (name gin_trgm_ops)'
  )
  t.match(await findMissingIndexes(database, people, {}, { waive: { 'filter.email': 'not here' } }), [{ kind: 'impossible' }])
})

onPostgreSQL(
  'an index that a policy keeps the planner from using is refused, as the role of the service sees it [Q12]',
  async (t, { database, run }) => {
    await run(
      'CREATE EXTENSION pg_trgm',
      table,
      order,
      'CREATE INDEX ON people USING gin (name gin_trgm_ops)',
      `CREATE POLICY own ON people USING (tenant = current_setting('app.tenant', true))`,
      'ALTER TABLE people ENABLE ROW LEVEL SECURITY',
      'DROP ROLE IF EXISTS rows_reader',
      'CREATE ROLE rows_reader',
      'GRANT ALL ON people TO rows_reader',
      "DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO rows_reader', current_schema()); END $$",
      'SET ROLE rows_reader'
    )
    t.teardown(() => run('RESET ROLE', 'DROP OWNED BY rows_reader', 'DROP ROLE rows_reader'))
    const found = await findMissingIndexes(database, people, {}, { waive: { 'filter.email': 'not here' } })
    t.match(
      found.filter(({ names }) => names.includes('filter.name[contains]')),
      [{ kind: 'refused' }]
    )
  }
)
