import { type OpenDatabase, openDatabase } from '@concordat/postgres/open'
import { freshDatabase } from '@concordat/testing'
import { citext } from '@electric-sql/pglite/contrib/citext'
import t from 'tap'

t.test('an extension of PGlite is loaded where the database is prepared', async (t) => {
  const { dataFolder: folder } = await freshDatabase(t, {
    extensions: { citext },
    prepare: async (database: OpenDatabase) => void (await database.query('CREATE EXTENSION IF NOT EXISTS citext')),
    serverUrl: false
  })
  await t.rejects(freshDatabase(t, { extensions: { citext } }), {
    message: /^testing: options\.extensions has no effect without prepare\./
  })
  const database = await openDatabase({ folder, extensions: { citext } })
  t.strictSame(await database.query("SELECT 'Momo'::citext = 'MOMO' AS same"), [{ same: true }])
  await database.close()
})
