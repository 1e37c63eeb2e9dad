// In a process of its own: packages that other tests import are hidden before they are imported.
import { hidePackage } from '@concordat/test-harness/hidden-package'
import { freshDatabase } from '@concordat/testing'
import t from 'tap'

t.test('rejects with the name of the package when the one that opens databases is not installed', async (t) => {
  for (const name of ['@concordat/postgres', '@concordat/postgres/open']) hidePackage(t, name)
  await t.rejects(freshDatabase(t, { serverUrl: false, prepare: async () => {} }), {
    message: 'testing: freshDatabase requires @concordat/postgres, but it is not installed. Run: npm install @concordat/postgres'
  })
})

t.test('rejects with the name of the package when the client of PostgreSQL is not installed', async (t) => {
  hidePackage(t, 'pg')
  await t.rejects(freshDatabase(t, { serverUrl: 'postgres://127.0.0.1/nowhere' }), {
    message: 'testing: freshDatabase requires pg 8.12 or a later 8, but it is not installed. Run: npm install pg@8'
  })
})
