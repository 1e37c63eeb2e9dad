import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Client } from 'pg'

/** A new database, the role that owns it, and the role of a service, which has no rights yet. */
export interface DatabaseRoles {
  /** The name of the role of the service. */
  readonly app: string
  /** The URLs of the database: as administrator, as owner and as the service. */
  readonly admin: string
  readonly owner: string
  readonly service: string
}

/** Runs statements one after the other. */
export async function administer(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

async function rowsOf<Row extends object>(url: string, statement: string): Promise<Row[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  return client
    .query<Row>(statement)
    .then(({ rows }) => rows)
    .finally(() => client.end())
}

/** Creates the database and the roles on a server, until the test ends. */
export async function freshRoles(t: { readonly teardown: (end: () => unknown) => void }, server: string): Promise<DatabaseRoles> {
  const name = `concordat_roles_${randomUUID().slice(0, 8)}`
  const roles = [`${name}_owner`, `${name}_app`] as const
  const [owner, app] = roles
  await administer(server, ...roles.map((role) => `CREATE ROLE ${role} LOGIN PASSWORD 'secret'`), `CREATE DATABASE ${name} OWNER ${owner}`)
  t.teardown(() => administer(server, `DROP DATABASE ${name} WITH (FORCE)`, ...roles.map((role) => `DROP ROLE ${role}`)))
  const urlOf = (changes: object) => Object.assign(new URL(server), { pathname: `/${name}`, ...changes }).href
  const as = (username: string) => urlOf({ username, password: 'secret' })
  return { app, admin: urlOf({}), owner: as(owner), service: as(app) }
}

/** Creates a role that may create databases and that policies bind, until the test ends. Returns the URL of the server as this role. */
export async function ordinaryRole(t: { readonly teardown: (end: () => unknown) => void }, server: string): Promise<string> {
  const role = `concordat_tests_${randomUUID().slice(0, 8)}`
  await administer(server, `CREATE ROLE ${role} LOGIN CREATEDB PASSWORD 'secret'`)
  t.teardown(async () => {
    const owned = await rowsOf<{ datname: string }>(server, `SELECT datname FROM pg_database WHERE datdba = '${role}'::regrole`)
    await administer(server, ...owned.map(({ datname }) => `DROP DATABASE ${datname} WITH (FORCE)`), `DROP ROLE ${role}`)
  })
  return Object.assign(new URL(server), { username: role, password: 'secret' }).href
}

/** Gives the role of the service the rights that docs/postgres.md lists. */
export async function grantAsDocumented({ owner, app }: DatabaseRoles): Promise<void> {
  const page = readFileSync(new URL('../../../docs/postgres.md', import.meta.url), 'utf8')
  const sql = /```sql\n(CREATE SCHEMA .*?)```/s.exec(page)?.[1]
  if (sql === undefined) throw new Error('docs/postgres.md has no statements that grant rights.')
  await administer(owner, sql.replaceAll('orders_app', app))
}
