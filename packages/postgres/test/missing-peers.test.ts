import { registerHooks } from 'node:module'
import { openDatabase } from '@concordat/postgres/open'
import t from 'tap'

// Resolves as if the package was not installed. Nothing in this file imports it before.
registerHooks({
  resolve(specifier, context, next) {
    if (!['pg', '@electric-sql/pglite', 'pg-boss'].includes(specifier) || missing !== specifier) return next(specifier, context)
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: 'ERR_MODULE_NOT_FOUND' })
  }
})
let missing = ''

for (const [name, options] of [
  ['pg', { url: 'postgres://127.0.0.1/nowhere' }],
  ['@electric-sql/pglite', { folder: 'memory://' }]
] as const) {
  t.test(`rejects with the name of the package when ${name} is not installed`, async (t) => {
    missing = name
    await t.rejects(openDatabase(options), {
      message: `postgres: openDatabase requires a package that is not installed. Run: npm install ${name}`,
      cause: { code: 'ERR_MODULE_NOT_FOUND' }
    })
  })
}

t.test('rejects with the names of the packages when those of the queue are not installed, on both kinds of database', async (t) => {
  missing = 'pg-boss'
  for (const options of [{ url: 'postgres://127.0.0.1/nowhere' }, { folder: 'memory://' }]) {
    const database = await openDatabase(options)
    await t.rejects(database.openQueue(), {
      message: 'postgres: openQueue requires a package that is not installed. Run: npm install pg-boss'
    })
    await database.close()
  }
})
