import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Extensions, PGlite } from '@electric-sql/pglite'

// The URL contains the version, because it is a path in pnpm's store.
const version = createHash('sha256')
  .update(import.meta.resolve('@electric-sql/pglite'))
  .digest('hex')
  .slice(0, 16)
const cache = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url))
const emptyDatabase = join(cache, `pglite-${version}.tar`)

/**
 * Starts PGlite in memory or in a folder. A new database loads a copy of an empty database from an earlier start, because initializing a
 * database takes several times as long.
 */
export async function startPGlite(dataDir = 'memory://', extensions: Extensions = {}): Promise<PGlite> {
  if (existsSync(dataDir)) return PGlite.create(dataDir, { extensions })
  if (!existsSync(emptyDatabase)) await initialize()
  return PGlite.create(dataDir, { extensions, loadDataDir: new Blob([readFileSync(emptyDatabase)]) })
}

async function initialize() {
  const pglite = await PGlite.create('memory://')
  const copy = await pglite.dumpDataDir('none')
  await pglite.close()
  mkdirSync(cache, { recursive: true })
  // Other processes may do the same at the same time, so the file must appear complete or not at all.
  const unfinished = `${emptyDatabase}.${randomUUID()}`
  writeFileSync(unfinished, Buffer.from(await copy.arrayBuffer()))
  renameSync(unfinished, emptyDatabase)
}
