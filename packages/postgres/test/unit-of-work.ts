import type { Postgres } from '@concordat/postgres'
import unitOfWork from '@concordat/postgres/unit-of-work'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { connect, freshSchema, inMemory, server } from './database.ts'

/** A database with an empty table `things (name text UNIQUE)`, and the names in its rows. */
export interface Things {
  readonly database: Postgres
  readonly table: string
  names(): Promise<string[]>
}

/** The kinds of databases to test: PostgreSQL only if a server is configured. */
export const kinds: readonly ('PGlite' | 'PostgreSQL')[] = server === '' ? ['PGlite'] : ['PGlite', 'PostgreSQL']

export async function thingsOn(t: Test, kind: 'PGlite' | 'PostgreSQL', settings = {}): Promise<Things & { errors: unknown[] }> {
  if (kind === 'PGlite') return { ...(await tableIn(await inMemory())), errors: [] }
  const schema = freshSchema(t)
  const { database, errors } = connect(t, settings)
  return { ...(await tableIn({ database, schema })), errors }
}

async function tableIn({ database, schema }: { database: Postgres; schema: string }): Promise<Things> {
  const table = `${schema}.things`
  await database.query(`CREATE SCHEMA ${schema}`)
  await database.query(`CREATE TABLE ${table} (name text UNIQUE DEFERRABLE INITIALLY IMMEDIATE)`)
  return { database, table, names: () => database.query(`SELECT to_json(name)::text AS json FROM ${table} ORDER BY name`) }
}

/** Starts a service on this database with only the unit of work. */
export async function serviceOn(
  t: Test,
  { database }: Things,
  routes: (app: FastifyInstance) => void,
  options = {}
): Promise<FastifyInstance> {
  const app = Fastify({ handlerTimeout: 10_000, ...options })
  t.teardown(() => app.close())
  await app.register(unitOfWork, { database })
  routes(app)
  await app.ready()
  return app
}
