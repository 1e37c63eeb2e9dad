import { randomUUID } from 'node:crypto'
import { columnCases } from '@concordat/test-harness/column-types'
import { Client } from 'pg'
import t, { type Test } from 'tap'
import { libraries, serveColumns } from './column-service.ts'
import { checkUses } from './column-uses.ts'

const server = process.env['TEST_DATABASE_URL'] ?? ''
const zones = ['UTC', 'Europe/Madrid', 'America/St_Johns']
const zoneBefore = process.env['TZ']
t.teardown(() => {
  if (zoneBefore === undefined) delete process.env['TZ']
  else process.env['TZ'] = zoneBefore
})

async function freshDatabase(t: Test) {
  const name = `concordat_test_${randomUUID().slice(0, 8)}`
  const run = async (sql: string) => {
    const client = new Client(server)
    await client.connect()
    await client.query(sql)
    await client.end()
  }
  await run(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`)
  t.teardown(() => run(`DROP DATABASE ${name} WITH (FORCE)`))
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href }
}

// Each type in each use with JSON Schema on each database. With each other library, one half of the types is on one database and the other half on the
// other. The zone of the process changes with the type and the run, so that each library and database has all three.
const databases = [
  ['PGlite', async () => ({ folder: 'memory://' })] as const,
  ...(server === '' ? [] : [['PostgreSQL', freshDatabase] as const])
]
for (const [number, [library, forms]] of Object.entries(libraries).entries())
  for (const [place, [database, open]] of databases.entries())
    t.test(`a value of each type of column comes back exactly in every use, or is refused, with ${library} on ${database}`, async (t) => {
      const isWhole = library === 'JSON Schema' || databases.length === 1
      const cases = isWhole ? columnCases : columnCases.filter((_, index) => (index >> 1) % 2 === place)
      const service = await serveColumns(t, await open(t), forms, cases)
      for (const [index, resource] of service.resources.entries()) {
        process.env['TZ'] = zones[(index + number + place) % zones.length]
        await checkUses(t, service, resource)
      }
    })
