import { mkdir } from 'node:fs/promises'
import { fromPGlite } from '@concordat/postgres'
import { pgliteQueue } from '@concordat/postgres/work-queue'
import { PGlite, types } from '@electric-sql/pglite'
import type { Database } from './database.ts'
import { lockFolder } from './folder-lock.ts'
import { queriesOn } from './queries.ts'

const parsers = {
  [types.INT8]: Number,
  [types.NUMERIC]: String,
  [types.TIMESTAMPTZ]: (text: string) => new Date(text).toISOString()
}

/**
 * Opens PostgreSQL inside this process, stored in a folder, or in memory when the folder is `memory://`.
 * Only one process at a time can use a folder; a second process is refused. Transactions run one after another.
 */
export async function openPGlite(folder: string): Promise<Database> {
  const release = folder === 'memory://' ? undefined : await makeAndLock(folder)
  const engine = await PGlite.create(folder, { parsers }).catch(async (error: unknown) => {
    await release?.()
    throw error
  })
  const postgres = fromPGlite(engine)
  return {
    ...queriesOn(postgres.client),
    postgres,
    openQueue: (options) => pgliteQueue(engine, options),
    async close() {
      await engine.close()
      await release?.()
    }
  }
}

async function makeAndLock(folder: string) {
  await mkdir(folder, { recursive: true })
  return lockFolder(folder)
}
