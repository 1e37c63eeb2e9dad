import { mkdir } from 'node:fs/promises'
import { fromPGlite } from '../pglite.ts'
import { lockFolder } from './folder-lock.ts'
import { type OpenDatabase, queriesOf } from './opened.ts'
import type { OpenOptions } from './options.ts'
import { importPeers, importQueue } from './peers.ts'

/** Opens PGlite, which is PostgreSQL inside this process, in a folder that only one process at a time can use. */
export async function openFolder(folder: string, { prepare }: OpenOptions): Promise<OpenDatabase> {
  const { PGlite, types } = await importPeers('openDatabase', '@electric-sql/pglite', () => import('@electric-sql/pglite'))
  const parsers = {
    [types.INT8]: Number,
    [types.NUMERIC]: String,
    [types.TIMESTAMPTZ]: (text: string) => new Date(text).toISOString()
  }
  const unlock = folder === 'memory://' ? undefined : await makeAndLock(folder)
  const engine = await PGlite.create(folder, { parsers }).catch(async (error: unknown) => {
    await unlock?.()
    throw error
  })
  const database: OpenDatabase = {
    ...queriesOf(fromPGlite(engine)),
    async openQueue(options) {
      const { pgliteWorkQueue } = await importQueue()
      return pgliteWorkQueue(engine, options)
    },
    async close() {
      await engine.close()
      await unlock?.()
    }
  }
  await prepare?.(database).catch(async (error: unknown) => {
    await database.close()
    throw error
  })
  return database
}

async function makeAndLock(folder: string) {
  await mkdir(folder, { recursive: true })
  return lockFolder(folder)
}
