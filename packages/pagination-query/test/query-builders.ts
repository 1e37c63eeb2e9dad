import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ListQuery, Page } from '@concordat/pagination-query'
import { generateClient } from '@concordat/test-harness/prisma-client'
import { PrismaPg } from '@prisma/adapter-pg'
import { raw, sqltag } from '@prisma/client/runtime/client'
import { ne } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { customType, type PgColumn, pgTable } from 'drizzle-orm/pg-core'
import createKnex, { type Knex } from 'knex'
import { Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'

type Run = <Row>(database: unknown, query: ListQuery<Row>, rows: unknown) => Promise<Page<Row>>

/** A table with its columns. The rows of a list are those without one id. */
export interface Rows {
  readonly table: string
  readonly columns: readonly string[]
  readonly except: string
}

export type RunOnRows = <Row>(query: ListQuery<Row>, rows: Rows) => Promise<Page<Row>>

export interface PrismaClient {
  $queryRawUnsafe(text: string, ...values: unknown[]): PromiseLike<object[]>
  $transaction<Result>(work: (transaction: Pick<PrismaClient, '$queryRawUnsafe'>) => Promise<Result>): Promise<Result>
  $disconnect(): Promise<void>
}

type Teardown = (work: () => unknown) => void

const page = readFileSync(new URL('../../../docs/collection-adapters.md', import.meta.url), 'utf8')

/** Imports the functions of docs/collection-adapters.md, by name, from files with exactly their blocks. */
export async function documentedFunctions(teardown: Teardown): Promise<Readonly<Record<string, Run>>> {
  const scratch = join(import.meta.dirname, '../.tap')
  mkdirSync(scratch, { recursive: true })
  const folder = mkdtempSync(join(scratch, 'builders-'))
  teardown(() => rmSync(folder, { recursive: true }))
  const modules = [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, text = ''], index) => {
    const file = join(folder, `${index}.ts`)
    writeFileSync(file, text)
    return import(pathToFileURL(file).href) as Promise<Record<string, Run>>
  })
  return Object.assign({}, ...(await Promise.all(modules)))
}

/** Returns a client of Prisma on a pool. */
export async function prismaOn(teardown: Teardown, pool: Pool): Promise<PrismaClient> {
  const { Client } = await generateClient({ teardown }, join(import.meta.dirname, '..'), 'model Unused {\nid Int @id\n}')
  const client = new (Client as new (options: object) => PrismaClient)({ adapter: new PrismaPg(pool) })
  teardown(() => client.$disconnect())
  return client
}

export function knexOn(pool: Pool): Knex {
  // The version is for the SQL that Knex makes.
  return createKnex({ client: 'pg', version: '16', connectionPool: pool } as Knex.Config)
}

/** Returns the four documented functions, each with a query of its builder on a pool. */
export async function builders(teardown: Teardown, pool: Pool): Promise<Readonly<Record<string, RunOnRows>>> {
  const { runKysely, runKnex, runDrizzle, runPrisma } = (await documentedFunctions(teardown)) as Record<string, Run> &
    Record<'runKysely' | 'runKnex' | 'runDrizzle' | 'runPrisma', Run>
  const kysely = new Kysely<Record<string, { id: string }>>({ dialect: new PostgresDialect({ pool }) })
  const knex = knexOn(pool)
  const db = drizzle(pool)
  const prisma = await prismaOn(teardown, pool)
  const column = customType<{ data: unknown }>({ dataType: () => 'text' })
  return {
    Kysely: (query, { table, except }) => runKysely(kysely, query, kysely.selectFrom(table).selectAll().where('id', '<>', except)),
    Knex: (query, { table, except }) => runKnex(knex, query, knex(table).whereNot('id', except)),
    Drizzle(query, { table, columns, except }) {
      const rows = pgTable(table, Object.fromEntries(columns.map((name) => [name, column()])))
      return runDrizzle(
        db,
        query,
        db
          .select()
          .from(rows)
          .where(ne(rows['id'] as PgColumn, except))
      )
    },
    Prisma(query, { table, except }) {
      return runPrisma(prisma, query, sqltag`select * from ${raw(table)} where id <> ${except}`)
    }
  }
}
