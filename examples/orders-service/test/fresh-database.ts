import { randomUUID } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { Test } from 'tap'
import { type Settings, settings } from '../src/settings.ts'

interface Place {
  readonly databaseUrl?: string | undefined
  readonly dataFolder: string
}

/** The PostgreSQL of the run. When it is undefined, tests use PGlite. */
export const server: string | undefined = process.env['TEST_DATABASE_URL']

/**
 * Returns the place of a separate database for a test: a new one on PostgreSQL, or PGlite in a folder when there is no server. It is a
 * copy of the database that `npm test` has prepared, migrated and with the sample data except orders. It is empty when no run has
 * prepared one.
 */
export async function freshDatabase(t: Test): Promise<Place> {
  return server === undefined ? freshFolder(t) : newDatabase(t, server, process.env['TEST_PREPARED_DATABASE'])
}

/** Returns the same on PGlite, even when there is a PostgreSQL. */
export function freshFolder(t: Test): Place {
  const place = emptyFolder(t)
  const prepared = process.env['TEST_PREPARED_FOLDER']
  if (prepared !== undefined) cpSync(prepared, place.dataFolder, { recursive: true })
  return place
}

/** Returns the place of a separate, empty database for a test, on this server. */
export async function emptyDatabase(t: Test, url: string | undefined = server): Promise<Place> {
  return url === undefined ? emptyFolder(t) : newDatabase(t, url)
}

/** Returns the same on PGlite. */
export function emptyFolder(t: Test): Place {
  const dataFolder = mkdtempSync(join(tmpdir(), 'orders-service-'))
  t.teardown(() => rmSync(dataFolder, { recursive: true, force: true }))
  return { dataFolder }
}

/** Returns the variables that start a service on a database. */
export function environmentOf({ databaseUrl, dataFolder }: Place): Record<string, string> {
  return databaseUrl === undefined ? { DATA_DIR: dataFolder } : { DATABASE_URL: databaseUrl }
}

/** Returns the settings of a service on a database. `variables` are those of the environment. */
export function settingsOf(place: Place, variables: Readonly<Record<string, string>> = {}): Settings {
  return settings({ NODE_ENV: 'test', LOG_LEVEL: 'silent', ...environmentOf(place), ...variables })
}

/** Sends one statement to a server. */
export async function administer(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}

/** Returns the address of a database on a server. */
export function onServer(url: string, database: string): string {
  return Object.assign(new URL(url), { pathname: `/${database}` }).href
}

async function newDatabase(t: Test, url: string, template?: string): Promise<Place> {
  const name = `orders_service_${randomUUID().replaceAll('-', '')}`
  await administer(url, `CREATE DATABASE ${name}${template === undefined ? '' : ` TEMPLATE ${template}`}`)
  t.teardown(() => administer(url, `DROP DATABASE ${name} WITH (FORCE)`))
  return { databaseUrl: onServer(url, name), dataFolder: 'memory://' }
}
