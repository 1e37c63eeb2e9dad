import { readdir, readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import type { Migration } from './migrations.ts'

/**
 * Reads the migrations of a service from the `.sql` files of a folder, for `migrate`: `0001-orders.sql` is version 1. `component` names the
 * service. Rejects for a file without a number and for two files with the same number.
 */
export async function readMigrations(folder: URL | string, component: string): Promise<Migration[]> {
  const base = typeof folder === 'string' ? pathToFileURL(`${folder}/`) : folder
  const files = (await readdir(base)).filter((name) => name.endsWith('.sql')).sort()
  const migrations: Migration[] = []
  for (const file of files) {
    const version = Number.parseInt(file)
    if (!(version > 0))
      throw new Error(
        `postgres: the name of the migration ${file} must begin with a number. Rename it to 0001-${file}, with the next number.`
      )
    if (migrations.some((other) => other.version === version)) {
      throw new Error(`postgres: the migration ${file} has the same number as another file. Rename it with the next number.`)
    }
    migrations.push({ component, version, statements: [await readFile(new URL(file, base), 'utf8')] })
  }
  return migrations
}
