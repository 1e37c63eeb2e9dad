// A process of the test run: node prepare-databases.ts [address of a PostgreSQL]. It creates one migrated and seeded database of
// each kind, which tests copy, prints the variables that name them, and removes them when its standard input ends.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildApp } from '../src/app.ts'
import { settings } from '../src/settings.ts'
import { administer, onServer } from './fresh-database.ts'

const server = process.argv[2]
// A signal to the whole run reaches this process too. It ends and cleans up when the run ends.
process.on('SIGINT', () => {}).on('SIGTERM', () => {})
const folder = mkdtempSync(join(tmpdir(), 'orders-service-prepared-'))
const database = `orders_service_prepared_${randomUUID().replaceAll('-', '')}`
if (server !== undefined) await administer(server, `CREATE DATABASE ${database}`)
try {
  await prepare({ DATA_DIR: join(folder, 'data') })
  if (server !== undefined) await prepare({ DATABASE_URL: onServer(server, database) })
  console.log(
    JSON.stringify({ TEST_PREPARED_FOLDER: join(folder, 'data'), ...(server !== undefined && { TEST_PREPARED_DATABASE: database }) })
  )
  await once(process.stdin.resume(), 'end')
} finally {
  rmSync(folder, { recursive: true, force: true })
  if (server !== undefined) await administer(server, `DROP DATABASE ${database} WITH (FORCE)`)
}

// The service is started once, so that the tables of the queue exist too. Each service adds the orders that its test needs.
async function prepare(where: Record<string, string>) {
  const app = await buildApp(settings({ ...where, NODE_ENV: 'test', LOG_LEVEL: 'silent', SEED_ORDERS: '0' }))
  await app.ready()
  await app.close()
}
