import { existsSync, statSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { requirePeers } from '@concordat/plugin-kit/options'
import type { PGliteOptions } from '@electric-sql/pglite'
import { fromPGlite } from '../connections/pglite.ts'
import { adaptEngine, readTypes } from './engine.ts'
import { lockFolder } from './folder-lock.ts'
import { type OpenDatabase, queriesOf } from './opened.ts'
import type { OpenSettings } from './options.ts'
import { openQueueIn } from './peers.ts'
import { becomeServiceRole } from './service-role.ts'

/** Opens PGlite, which is PostgreSQL inside this process, in a folder that only one process at a time can use. */
export async function openFolder(folder: string, { prepare, extensions, tenantSetting }: OpenSettings): Promise<OpenDatabase> {
  requirePeers('postgres: openDatabase', ['@electric-sql/pglite@0.5'], import.meta)
  const { PGlite } = await import('@electric-sql/pglite')
  const unlock = folder === 'memory://' ? undefined : await makeAndLock(folder)
  const engine = await PGlite.create(folder, extensions && { extensions: extensions as NonNullable<PGliteOptions['extensions']> }).catch(
    async (cause: unknown) => {
      await unlock?.()
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`postgres: the database in the folder ${folder} cannot be opened: ${reason}`, { cause })
    }
  )
  await adaptEngine(engine)
  if (tenantSetting !== undefined) await becomeServiceRole(engine)
  const database: OpenDatabase = {
    ...queriesOf(fromPGlite(engine, { tenantSetting })),
    openQueue: (options) => openQueueIn(engine, options),
    async close() {
      await engine.close()
      await unlock?.()
    }
  }
  try {
    await prepare?.(database)
    if (prepare !== undefined) await readTypes(engine)
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

async function makeAndLock(folder: string) {
  await make(resolve(folder))
  const unlock = await lockFolder(folder)
  // PGlite would initialize a database over the files.
  const files = await readdir(folder)
  if (files.length === 0 || files.includes('PG_VERSION')) return unlock
  await unlock()
  throw new Error(
    `postgres: the folder ${folder} has files but is not a database, because PG_VERSION is missing. Restore it from a backup, or use an empty folder.`
  )
}

// `recursive` of Node.js never returns where the parent exists and cannot contain the folder, such as /proc.
async function make(folder: string) {
  if (existsSync(folder) && statSync(folder).isDirectory()) return
  if (!existsSync(dirname(folder))) await make(dirname(folder))
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    // Another process may have made it.
    if (error.code !== 'EEXIST' || !statSync(folder).isDirectory()) throw error
  })
}
