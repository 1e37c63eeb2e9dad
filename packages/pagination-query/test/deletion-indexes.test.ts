// In a process of its own: index-subject.ts adds tests to that of the process.
import { checkIndexes } from '@concordat/pagination-query/check-indexes'
import { findMissingIndexes, listing, onEach } from './index-subject.ts'

const deleted = { field: 'deletedAt', keepDays: 30 }
const people = {
  ...listing({
    name: 'people',
    fields: { name: 'string', email: 'string', deletedAt: 'date-time?' },
    sorts: ['name'],
    filters: { email: ['eq'], name: ['contains'] }
  }),
  deleted
}
const table = 'CREATE TABLE people (id uuid PRIMARY KEY, name text NOT NULL, email text NOT NULL, deleted_at timestamptz)'

onEach(
  'the statements of indexes have the condition of the rows that are not deleted, and partial ones serve [Q12]',
  async (t, { database, run }) => {
    await run('CREATE EXTENSION pg_trgm', table)
    const missing = await findMissingIndexes(database, people)
    t.strictSame(
      missing.map(({ names, statement }) => [names.join(), statement?.replace(/indexes_\w+\./, '')]),
      [
        ['sort.name', 'CREATE INDEX CONCURRENTLY ON people (name, id) WHERE deleted_at IS NULL;'],
        ['filter.email[eq]', 'CREATE INDEX CONCURRENTLY ON people (email, name, id) WHERE deleted_at IS NULL;'],
        ['filter.name[contains]', 'CREATE INDEX CONCURRENTLY ON people USING gin (name gin_trgm_ops) WHERE deleted_at IS NULL;'],
        ['deleted.keepDays', 'CREATE INDEX CONCURRENTLY ON people (deleted_at);']
      ]
    )
    await run(...missing.map(({ statement }) => statement))
    await t.resolves(checkIndexes(database, people))
    await run('DROP INDEX people_deleted_at_idx', 'CREATE INDEX ON people (deleted_at) WHERE deleted_at IS NOT NULL')
    await t.resolves(checkIndexes(database, people), 'a partial index for the removal')
  }
)

onEach('a unique index that also has the values of deleted rows is found [Q12]', async (t, { database, run }) => {
  const listed = {
    ...listing({ name: 'people', style: 'page', fields: { name: 'string', deletedAt: 'date-time?' }, sorts: ['name'] }),
    deleted: { field: 'deletedAt' }
  }
  await run(
    table,
    'CREATE INDEX ON people (name, id)',
    'CREATE UNIQUE INDEX "by email" ON people (lower(email) COLLATE "C" DESC, name)',
    'CREATE UNIQUE INDEX numbers ON people (email)',
    'CREATE UNIQUE INDEX ON people (email) WHERE deleted_at IS NULL',
    'CREATE UNIQUE INDEX ON people (email, id)'
  )
  const findings = await findMissingIndexes(database, listed, {}, { waive: { 'unique.numbers': 'numbers are never used again' } })
  t.match(findings, [
    {
      kind: 'unique',
      names: ['unique."by email"'],
      problem:
        'the unique index "by email": it has the values of deleted rows too, so that they stay taken. Create another one, and drop it',
      statement: / \(\(?lower\(email\)\)? COLLATE "C" DESC, name\) WHERE deleted_at IS NULL;$/
    }
  ])
  await run('DROP INDEX "by email"', 'DROP INDEX numbers')
  await run(findings[0]?.statement)
  await t.resolves(checkIndexes(database, listed))
  t.match(await findMissingIndexes(database, listed, {}, { waive: { 'unique.numbers': 'gone' } }), [{ kind: 'waiver' }])
})

onEach('the column of the deletion may have another name, also one that is qualified [Q12]', async (t, { database, run }) => {
  await run(table.replace('deleted_at', '"Gone At"'), 'CREATE INDEX ON people (name, id)', 'CREATE UNIQUE INDEX numbers ON people (email)')
  const listed = {
    ...listing({ name: 'people', style: 'page', fields: { name: 'string', deletedAt: 'date-time?' }, sorts: ['name'] }),
    deleted: { field: 'deletedAt' }
  }
  for (const deletedAt of ['Gone At', 'people.Gone At'])
    t.match(await findMissingIndexes(database, listed, { columns: { deletedAt } }), [
      { kind: 'unique', statement: / \(email\) WHERE "Gone At" IS NULL;$/ }
    ])
})
