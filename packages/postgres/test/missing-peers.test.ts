// In a process of its own: packages that other tests import are hidden before they are imported.
import { openDatabase } from '@concordat/postgres/open'
import { hidePackage } from '@concordat/test-harness/hidden-package'
import t from 'tap'

for (const [name, required, options] of [
  ['pg', 'pg 8.12 or a later 8', { url: 'postgres://127.0.0.1/nowhere' }],
  ['@electric-sql/pglite', '@electric-sql/pglite 0.5 or a later 0.5', { folder: 'memory://' }]
] as const) {
  t.test(`rejects with the name of the package when ${name} is not installed`, async (t) => {
    hidePackage(t, name)
    await t.rejects(openDatabase(options), {
      message: new RegExp(`^postgres: openDatabase requires ${required}, but it is not installed\\. Run: npm install ${name}@[\\d.]+$`)
    })
  })
}

t.test('rejects with the name of the package when that of the queue is not installed, on both kinds of database', async (t) => {
  hidePackage(t, 'pg-boss')
  for (const options of [{ url: 'postgres://127.0.0.1/nowhere' }, { folder: 'memory://' }]) {
    const database = await openDatabase(options)
    await t.rejects(database.openQueue(), {
      message: 'postgres: openQueue requires pg-boss 12.35 or a later 12, but it is not installed. Run: npm install pg-boss@12'
    })
    await database.close()
  }
})
