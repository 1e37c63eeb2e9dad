import { DatabaseSync } from 'node:sqlite'
import { runSql, type SqlClient } from '@concordat/pagination-query/sql'
import t from 'tap'
import { wholeList } from './whole-list.ts'

const refusal = (code: string) => ({
  name: 'TypeError',
  message: `pagination-query: runSql runs the SQL of PostgreSQL, but its client is for another database (${code}). Use PostgreSQL, or an adapter of your own, which adapterContract tests.`
})

t.test('a client of SQLite is refused by its first request, also where a filter could have an invalid value', async (t) => {
  const database = new DatabaseSync(':memory:')
  t.teardown(() => database.close())
  database.exec('create table items (id integer primary key)')
  const client: SqlClient = { query: async (text, values) => ({ rows: database.prepare(text).all(...(values as string[])) }) }
  const conditions = [{ field: 'id', kind: 'string', operator: 'eq', value: 'a' }] as const
  for (const query of [wholeList(), wholeList({ conditions })]) await t.rejects(runSql(client, query), refusal('ERR_SQLITE_ERROR'))
})

// Their drivers are not installed here.
for (const code of ['SQLITE_ERROR', 'EREQUEST']) {
  t.test(`a client whose driver refuses the statement with ${code} is refused`, async (t) => {
    const client: SqlClient = { query: async () => Promise.reject(Object.assign(new Error('syntax'), { code })) }
    await t.rejects(runSql(client, wholeList()), { ...refusal(code), cause: { code } })
  })
}
