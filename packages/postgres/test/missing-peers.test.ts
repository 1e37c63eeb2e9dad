import { openDatabase } from '@concordat/postgres/open'
import { hidePackage } from '@concordat/test-harness/hidden-package'
import t from 'tap'

// Nothing in this file imports the packages before they are hidden.
for (const [name, options] of [
  ['pg', { url: 'postgres://127.0.0.1/nowhere' }],
  ['@electric-sql/pglite', { folder: 'memory://' }]
] as const) {
  t.test(`rejects with the name of the package when ${name} is not installed`, async (t) => {
    hidePackage(t, name)
    await t.rejects(openDatabase(options), {
      message: `postgres: openDatabase requires a package that is not installed. Run: npm install ${name}`,
      cause: { code: 'ERR_MODULE_NOT_FOUND' }
    })
  })
}

t.test('rejects with the names of the packages when those of the queue are not installed, on both kinds of database', async (t) => {
  hidePackage(t, 'pg-boss')
  for (const options of [{ url: 'postgres://127.0.0.1/nowhere' }, { folder: 'memory://' }]) {
    const database = await openDatabase(options)
    await t.rejects(database.openQueue(), {
      message: 'postgres: openQueue requires a package that is not installed. Run: npm install pg-boss'
    })
    await database.close()
  }
})
