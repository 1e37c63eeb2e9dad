import { hidePackage } from '@concordat/test-harness/hidden-package'
import { freshDatabase } from '@concordat/testing'
import t from 'tap'

// Nothing in this file imports the packages before they are hidden.
t.test('rejects with the name of the package when the one that opens databases is not installed', async (t) => {
  hidePackage(t, '@concordat/postgres/open')
  await t.rejects(freshDatabase(t, { serverUrl: false, prepare: async () => {} }), {
    message: 'testing: freshDatabase requires a package that is not installed. Run: npm install --save-dev @concordat/postgres',
    cause: { code: 'ERR_MODULE_NOT_FOUND' }
  })
})

t.test('rejects with the name of the package when the client of PostgreSQL is not installed', async (t) => {
  hidePackage(t, 'pg')
  await t.rejects(freshDatabase(t, { serverUrl: 'postgres://127.0.0.1/nowhere' }), {
    message: 'testing: freshDatabase requires a package that is not installed. Run: npm install --save-dev pg',
    cause: { code: 'ERR_MODULE_NOT_FOUND' }
  })
})
