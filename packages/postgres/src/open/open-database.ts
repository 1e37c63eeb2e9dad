import { openFolder } from './folder.ts'
import type { OpenDatabase } from './opened.ts'
import { type OpenOptions, openOptions } from './options.ts'
import { openServer } from './server.ts'

/**
 * Opens a PostgreSQL server by its URL, or PGlite in a folder when no URL is set: `openDatabase({ url: process.env.DATABASE_URL, folder: 'data' })`.
 * On a server, a connection must be free or made in 2 seconds, a lock acquired in 5, and a statement completed in 10; `fromPool` takes a pool with
 * other settings. Rejects with an error that names the remedy, for example when another process uses the folder.
 */
export async function openDatabase(options: OpenOptions): Promise<OpenDatabase> {
  const { url, folder, ...settings } = openOptions.read(options)
  if (url !== undefined) return openServer(url, settings)
  if (folder !== undefined) return openFolder(folder, settings)
  throw new TypeError('postgres: options.url or options.folder is required: the URL of a PostgreSQL server, or a folder for PGlite.')
}
