import { mkdir } from 'node:fs/promises'
import { fromPGlite } from '@concordat/postgres'
import { PGlite, type Transaction, types } from '@electric-sql/pglite'
import type { Database, Queries } from './database.ts'
import { lockFolder } from './folder-lock.ts'
import { withoutNulls } from './rows.ts'

const parsers = {
  [types.INT8]: Number,
  [types.NUMERIC]: String,
  [types.TIMESTAMPTZ]: (text: string) => new Date(text).toISOString()
}

/**
 * PostgreSQL inside this process, kept in a folder, or in memory when the folder is called `memory://`.
 * One process at a time: a second one on the same folder is refused. Transactions run one after another.
 */
export async function openPGlite(folder: string): Promise<Database> {
  const release = folder === 'memory://' ? undefined : await makeAndLock(folder)
  const engine = await PGlite.create(folder, { parsers }).catch(async (error: unknown) => {
    await release?.()
    throw error
  })
  return {
    ...queriesOn(engine),
    transaction: (work) => engine.transaction((transaction) => work(queriesOn(transaction))),
    postgres: fromPGlite(engine),
    async close() {
      await engine.close()
      await release?.()
    }
  }
}

function queriesOn(target: PGlite | Transaction): Queries {
  return {
    query: async <Row extends object>(sql: string, params?: readonly unknown[]) =>
      withoutNulls((await target.query<Row>(sql, params as unknown[])).rows)
  }
}

async function makeAndLock(folder: string) {
  await mkdir(folder, { recursive: true })
  return lockFolder(folder)
}
