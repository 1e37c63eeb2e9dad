import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import type { Test } from 'tap'

/** Where a test's own, empty database is: a new one on the PostgreSQL of `url`, or PGlite in memory without one. */
export async function freshDatabase(t: Test, url = process.env['DATABASE_URL']): Promise<{ databaseUrl?: string; dataDirectory: string }> {
  if (url === undefined) return { dataDirectory: 'memory://' }
  const name = `orders_service_${randomUUID().replaceAll('-', '')}`
  await administer(url, `CREATE DATABASE ${name}`)
  t.teardown(() => administer(url, `DROP DATABASE ${name} WITH (FORCE)`))
  const own = new URL(url)
  own.pathname = `/${name}`
  return { databaseUrl: own.href, dataDirectory: 'memory://' }
}

async function administer(url: string, sql: string) {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(sql)
  await client.end()
}
