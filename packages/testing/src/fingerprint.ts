import { createHash } from 'node:crypto'
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

// Folders that a build, a test or a start writes. Folders whose names begin with a dot are ignored too.
const written = new Set(['node_modules', 'dist', 'build', 'coverage', 'data'])
const testFile = /\.(test|spec|test-d)\.[cm]?[jt]sx?$/

/**
 * Returns the folder of the service whose tests run: the nearest one with a `package.json`, above the test file, or above the working directory when
 * the runner is the program that was started.
 */
export function projectFolder(program: string | undefined = process.argv[1], workingFolder: string = process.cwd()): string {
  const isRunner = program === undefined || program.split(sep).includes('node_modules')
  const start = isRunner ? workingFolder : dirname(realpathSync(program))
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder
    if (folder === dirname(folder)) return workingFolder
  }
}

/**
 * Returns a text that changes with the files of a project, except its test files, and with the packages that make a database: their names, sizes and
 * times, because to read all of them would take longer than a test.
 */
export function fingerprintOf(folder: string): string {
  const hash = createHash('sha256')
  for (const line of linesOf(folder)) hash.update(line)
  for (const name of ['@concordat/postgres/open', '@electric-sql/pglite']) for (const line of linesOf(folderOf(name))) hash.update(line)
  return hash.digest('hex').slice(0, 12)
}

/** Returns a short text that is the same for the same texts. */
export function digestOf(...texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 10)
}

function linesOf(folder: string | undefined): string[] {
  if (folder === undefined) return []
  const entries = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.name.startsWith('.') || written.has(entry.name) || testFile.test(entry.name)) return []
    if (entry.isDirectory()) return linesOf(path)
    if (!entry.isFile()) return []
    const { size, mtimeMs } = statSync(path)
    return [`${path}\n${size}\n${mtimeMs}\n`]
  })
}

// The folder of the entry point is that of the whole package, built or not.
function folderOf(name: string) {
  try {
    return dirname(fileURLToPath(import.meta.resolve(name)))
  } catch {
    return undefined
  }
}
