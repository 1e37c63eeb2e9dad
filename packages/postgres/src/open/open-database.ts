import { openFolder } from './folder.ts'
import type { OpenDatabase } from './opened.ts'
import { type OpenOptions, openOptions } from './options.ts'
import { openServer } from './server.ts'

/**
 * Opens a PostgreSQL server by its URL, or PGlite in a folder when no URL is set: `openDatabase({ url: process.env.DATABASE_URL, folder:
 * 'data' })`. The same SQL runs on both. On a server, a connection must be free or made in 2 seconds, a lock acquired in 5 seconds, and a statement
 * completed in 10. A server must be PostgreSQL 14 or later. Use `fromPool` for a pool with other settings. PgBouncer must be configured to
 * ignore these timeouts, as the README describes.
 *
 * Rejects with a `TypeError` when neither `url` nor `folder` is set, and with an error that names the package when `pg` or
 * `@electric-sql/pglite` is not installed, or when another process uses the folder.
 */
export async function openDatabase(options: OpenOptions): Promise<OpenDatabase> {
  const { url, folder, ...settings } = openOptions.read(options)
  if (url !== undefined) return openServer(url, settings)
  if (folder !== undefined) return openFolder(folder, settings)
  throw new TypeError('postgres: options.url or options.folder is required: the URL of a PostgreSQL server, or a folder for PGlite.')
}
