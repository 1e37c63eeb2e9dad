import { randomUUID } from 'node:crypto'
import type { Collection, Operator, ValueKind } from '@concordat/pagination-query'
import { checkIndexes, MissingIndexesError } from '@concordat/pagination-query/check-indexes'
import { startPGlite } from '@concordat/test-harness/pglite'
import type { PGlite } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { Client } from 'pg'
import t from 'tap'

/** A short form of a collection: fields as `kind`, or `kind?` if they can be null. */
export interface Listing {
  readonly name?: string
  readonly style?: 'page' | 'cursor'
  readonly fields: Readonly<Record<string, ValueKind | `${ValueKind}?`>>
  /** The sorts. The first is the default. */
  readonly sorts: readonly string[]
  readonly filters?: Readonly<Record<string, readonly Operator[]>>
}

export function listing({ name = 'items', style = 'cursor', fields, sorts, filters = {} }: Listing): Collection {
  const known = new Map(
    Object.entries({ id: 'uuid' as const, ...fields }).map(([field, kind]) => [
      field,
      {
        kind: kind.replace('?', '') as ValueKind,
        nullable: kind.endsWith('?'),
        choices: kind.startsWith('enum') ? ['one', 'three', 'two'] : []
      }
    ])
  )
  const orderOf = (sort: string) => {
    const keys = sort.split(',')
    return [...keys, keys.at(-1)?.startsWith('-') ? '-id' : 'id'].map((key) => {
      const field = key.replace('-', '')
      const { kind = 'string', nullable = false } = known.get(field) ?? {}
      return { field, kind, nullable, descending: key.startsWith('-') }
    })
  }
  return {
    name,
    style,
    id: 'id',
    fields: known,
    sorts: new Map(sorts.map((sort) => [sort, orderOf(sort)])),
    defaultSort: sorts[0] as string,
    filters: new Map(Object.entries(filters)),
    any: new Map(),
    relations: new Map()
  } as unknown as Collection
}

/** Returns the findings in the error of the check. */
export async function findMissingIndexes(...input: Parameters<typeof checkIndexes>): Promise<MissingIndexesError['findings']> {
  try {
    await checkIndexes(...input)
    return []
  } catch (error) {
    if (error instanceof MissingIndexesError) return error.findings
    throw error
  }
}

/** A separate schema of a database, which is the search path. */
export interface Subject {
  readonly database: Parameters<typeof checkIndexes>[0]
  readonly query: <Row = Record<string, unknown>>(sql: string) => Promise<Row[]>
  readonly engine: 'PGlite' | 'PostgreSQL'
  /** Runs statements one after another. */
  readonly run: (...statements: readonly (string | undefined)[]) => Promise<void>
}

const server = process.env['TEST_DATABASE_URL']

/** Runs a test on PostgreSQL and on PGlite. */
export function onEach(title: string, work: (t: Test, subject: Subject) => Promise<void>): void {
  t.test(`${title} (PGlite)`, async (t) => work(t, await subjectOn(t, await pglite())))
  onPostgreSQL(title, work)
}

/** Runs a test on PostgreSQL only, for features that PGlite does not have. */
export function onPostgreSQL(title: string, work: (t: Test, subject: Subject) => Promise<void>): void {
  t.test(`${title} (PostgreSQL)`, { skip: server === undefined && 'TEST_DATABASE_URL is not set' }, async (t) => {
    await work(t, await subjectOn(t, await connected()))
  })
}

type Test = Pick<typeof t, 'teardown' | 'type' | 'strictSame' | 'equal' | 'match' | 'rejects' | 'resolves'>

let address: Promise<string> | undefined

// CREATE INDEX CONCURRENTLY waits for every transaction of its database, including transactions of other tests.
export function ownDatabase(): Promise<string> {
  address ??= makeDatabase()
  return address
}

async function makeDatabase() {
  const name = `indexes_${randomUUID().replaceAll('-', '')}`
  const url = new URL(server as string)
  const admin = new Client(server)
  await admin.connect()
  await admin.query(`CREATE DATABASE ${name} TEMPLATE template0`)
  t.teardown(async () => {
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await admin.end()
  })
  url.pathname = `/${name}`
  return url.href
}

let connection: Promise<Client> | undefined

function connected() {
  connection ??= connect()
  return connection
}

async function connect() {
  const client = new Client(await ownDatabase())
  await client.connect()
  t.teardown(() => client.end())
  return client
}

let instance: Promise<PGlite> | undefined

function pglite() {
  if (instance === undefined) {
    instance = startPGlite('memory://', { pg_trgm })
    t.teardown(async () => (await instance)?.close())
  }
  return instance
}

async function subjectOn(t: Test, database: PGlite | Client): Promise<Subject> {
  const query = async <Row>(sql: string) => ((await (database as Client).query(sql)) as unknown as { rows: Row[] }).rows
  const run = async (...statements: readonly (string | undefined)[]) => {
    for (const statement of statements) if (statement !== undefined) await query(statement)
  }
  const schema = `indexes_${randomUUID().replaceAll('-', '')}`
  await run(`CREATE SCHEMA ${schema}`, `SET search_path = ${schema}`)
  t.teardown(() => run(`DROP SCHEMA ${schema} CASCADE`, 'SET search_path = public'))
  return { database, engine: database instanceof Client ? 'PostgreSQL' : 'PGlite', query, run }
}
