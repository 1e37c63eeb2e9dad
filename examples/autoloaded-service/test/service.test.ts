import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { buildApp, type Settings } from '../src/app.ts'
import { createTables } from '../src/database.ts'
import { adoptions } from './adoptions.ts'
import { openMysql, skip } from './mysql.ts'
import { cases, resultsOf } from './requests.ts'

const repository = join(import.meta.dirname, '../../..')

const { database, close } = skip ? { database: undefined, close: () => {} } : await openMysql()
t.teardown(close)
if (database !== undefined) await createTables(database)

async function resultsWith(t: Test, adopted: Partial<Settings>) {
  if (database === undefined) throw new Error(String(skip))
  await database('tasks').truncate()
  const app: FastifyInstance = await buildApp({ database, sessionSecret: 'a secret of at least 32 characters', ...adopted })
  t.teardown(() => app.close())
  return resultsOf(app)
}

t.test('the service without any package passes its own tests', { skip }, async (t) => {
  const results = await resultsWith(t, {})
  for (const { name, request: _, ...expected } of cases) t.match(results.get(name), expected, name)
})

for (const [adopted, { settings, page = `packages/${adopted.split(',', 1)[0]}/README.md`, differences }] of Object.entries(adoptions)) {
  t.test(`with ${adopted}, its own tests pass, except for what the page of the package says`, { skip }, async (t) => {
    const text = readFileSync(join(repository, page), 'utf8').replaceAll(/\s+/g, ' ')
    for (const [sentence] of differences) t.ok(text.includes(sentence), `${page}: ${sentence}`)
    const changes = Object.assign({}, ...differences.map(([, changed]) => changed)) as Readonly<Record<string, object>>
    t.strictSame(
      Object.keys(changes).filter((name) => !cases.some((one) => one.name === name)),
      [],
      'every difference is that of a case'
    )

    const results = await resultsWith(t, settings)
    for (const { name, request: _, ...expected } of cases) {
      t.match(results.get(name), { ...expected, ...changes[name] }, name)
      if (changes[name] !== undefined) t.notMatch(results.get(name), expected, `${name} differs`)
    }
  })
}
