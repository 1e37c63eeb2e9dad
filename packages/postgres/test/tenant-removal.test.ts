// Rows of tenants that were deleted are removed by a service that policies limit to the rows of one tenant.

import { mock } from 'node:test'
import { type OpenDatabase, openDatabase } from '@concordat/postgres/open'
import { removeDeleted, table } from '@concordat/postgres/table'
import { freshRoles } from '@concordat/test-harness/database-roles'
import { until } from '@concordat/test-harness/until'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { inMemory, onServer, server } from './database.ts'

const tenantSetting = 'app.tenant'

async function onPGlite(t: Test): Promise<OpenDatabase> {
  const database = await openDatabase({ folder: 'memory://', tenantSetting })
  t.teardown(() => database.close())
  return database
}

async function onPostgreSQL(t: Test): Promise<OpenDatabase> {
  const { owner } = await freshRoles(t, server)
  const database = await openDatabase({ url: owner, tenantSetting, maxConnections: 2 })
  t.teardown(() => database.close())
  return database
}

const kinds = [
  ['PGlite', {}, onPGlite],
  ['PostgreSQL', onServer, onPostgreSQL]
] as const

const beds = table(
  { name: 'beds', id: 'name', fields: new Set(['name', 'deletedAt']), deleted: { field: 'deletedAt', keepDays: 30 } },
  { hasVersion: false }
)
const createBeds = [
  `CREATE TABLE beds (tenant text NOT NULL DEFAULT NULLIF(current_setting('app.tenant', true), ''), name text, deleted_at timestamptz, PRIMARY KEY (tenant, name))`,
  'CREATE INDEX ON beds (tenant, deleted_at)',
  'CREATE TABLE pillows (tenant text, bed text, FOREIGN KEY (tenant, bed) REFERENCES beds)',
  "CREATE POLICY tenant ON beds USING (tenant = (SELECT NULLIF(current_setting('app.tenant', true), '')))",
  'ALTER TABLE beds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY'
]
const bedsOf = (database: OpenDatabase, tenant: string) =>
  database.asTenant(tenant, async (statements) =>
    (await statements.query<{ name: string }>('SELECT name FROM beds ORDER BY name')).map(({ name }) => name)
  )

for (const [kind, where, open] of kinds)
  t.test(
    `deleted rows of each tenant are removed after their time, also after a failure in another tenant, on ${kind}`,
    where,
    async (t) => {
      const database = await open(t)
      for (const statement of createBeds) await database.query(statement)
      const old = `INSERT INTO beds (name, deleted_at) SELECT 'old ' || n, now() - interval '31 days' FROM generate_series(1, 1001) n`
      for (const tenant of ['a', 'b', 'c'])
        await database.asTenant(tenant, async (statements) => {
          await statements.query(old)
          await statements.query("INSERT INTO beds (name, deleted_at) VALUES ('alive', NULL), ('recent', now() - interval '29 days')")
        })
      await database.asTenant('a', (statements) => statements.query("INSERT INTO pillows VALUES ('a', 'old 7')"))
      mock.timers.enable({ apis: ['setInterval'] })
      t.teardown(() => mock.timers.reset())
      const log: string[] = []
      const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => void log.push(line) } } })
      t.teardown(() => app.close())
      let named = ['b']
      removeDeleted(app, database.postgres, beds, { tenants: async () => named })
      await app.ready()
      mock.timers.tick(60_000)
      await until(async () => (await bedsOf(database, 'b')).length === 2)
      named = ['a', 'b', 'not a tenant!']
      // On a busy machine, a statement may be cancelled first.
      await until(() => {
        mock.timers.tick(60_000)
        return log.some((line) => line.includes('"23503"'))
      })
      for (const line of log) t.match(JSON.parse(line), { msg: 'postgres: rows of "beds" beyond deleted.keepDays were not deleted' })
      t.equal((await bedsOf(database, 'a')).length, 1003)
      t.strictSame(await bedsOf(database, 'b'), ['alive', 'recent'])
      t.equal((await bedsOf(database, 'c')).length, 1003, 'a tenant that is not named')
    }
  )

t.test('a service whose policies hide the deleted rows from their removal does not start', async (t) => {
  const database = await onPGlite(t)
  const app = Fastify()
  t.teardown(() => app.close())
  removeDeleted(app, database.postgres, beds)
  for (const statement of createBeds) await database.query(statement)
  await t.rejects(async () => app.ready(), {
    message:
      'postgres: policies hide the rows of "beds" from removeDeleted, so that it would remove none. Add the option tenants, a function that returns all tenants.'
  })
  const { database: plain } = await inMemory()
  t.throws(() => removeDeleted(Fastify(), plain, beds, { tenants: () => [] }), {
    message: 'postgres: removeDeleted has tenants, and its database has none. Set tenantSetting where the database is opened.'
  })
  t.throws(() => removeDeleted(Fastify(), plain, beds, { tenant: () => [] } as never), { message: /options\.tenant is unknown/ })
})
