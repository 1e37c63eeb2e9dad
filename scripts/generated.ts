// Every file that is generated from the sources. `--write` writes those that are out of date; without it, they are errors. Run it after
// the build, with --conditions=@concordat/source.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { apiReports } from './api-report.ts'
import { rulesPage } from './check-rules.ts'
import { errorsPage } from './errors-page.ts'
import { layersTable } from './layers-table.ts'
import { withSection } from './markdown.ts'
import { operatorsTable } from './operators-table.ts'
import { hasOptionTables, optionTables, withLimits } from './option-tables.ts'
import { run } from './run.ts'
import { filesUnder, repository } from './workspace.ts'

/** The texts of files by their paths from the root; `undefined` for a file that must not exist. */
type GeneratedFiles = ReadonlyMap<string, string | undefined>

const generators: readonly ((root: string) => GeneratedFiles | Promise<GeneratedFiles>)[] = [
  architecturePage,
  errorsPage,
  rulesPage,
  apiReports,
  optionTables,
  collectionsPage,
  optionsPage,
  async (root) => (await import(pathToFileURL(join(root, 'examples/orders-service/test/repository/generate-shop.ts')).href)).shopClient()
]

async function architecturePage(root: string) {
  const page = 'docs/architecture.md'
  return new Map([[page, await withLimits(root, withSection(join(root, page), 'layers', layersTable(root)))]])
}

async function collectionsPage(root: string) {
  const page = 'docs/collections.md'
  return new Map([[page, withSection(join(root, page), 'operators', await operatorsTable(root))]])
}

function optionsPage(root: string) {
  const page = 'docs/options.md'
  const readmes = filesUnder(root, 'packages/*/README.md').filter((readme) => hasOptionTables(readFileSync(join(root, readme), 'utf8')))
  const lines = readmes.map(dirname).map((folder) => `- [${basename(folder)}](../${folder})`)
  return new Map([[page, withSection(join(root, page), 'packages', lines.join('\n'))]])
}

/** Returns the paths of the files that differ from their generated text. */
export function outOfDate(root: string, files: GeneratedFiles): string[] {
  const textOf = (file: string) => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : undefined)
  return [...files].filter(([file, text]) => textOf(file) !== text).map(([file]) => file)
}

/** Writes and removes files, so that none is out of date. */
export function writeFiles(root: string, files: GeneratedFiles): void {
  for (const [file, text] of files) {
    const path = join(root, file)
    mkdirSync(dirname(path), { recursive: true })
    if (text === undefined) rmSync(path, { force: true })
    else writeFileSync(path, text)
  }
}

async function showDifference(file: string, text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'concordat-generated-'))
  writeFileSync(join(folder, 'now'), text)
  const before = existsSync(join(repository, file)) ? file : '/dev/null'
  const { output } = await run('git', ['diff', '--no-index', '--no-color', before, join(folder, 'now')])
  rmSync(folder, { recursive: true })
  console.log(`${file} is out of date:\n${output.split('\n').slice(4).join('\n')}`)
}

if (import.meta.main) {
  const files = new Map((await Promise.all(generators.map(async (generate) => [...(await generate(repository))]))).flat())
  const old = outOfDate(repository, files)
  if (process.argv.includes('--write')) writeFiles(repository, new Map(old.map((file) => [file, files.get(file)])))
  else if (old.length > 0) {
    for (const file of old) await showDifference(file, files.get(file) ?? '')
    console.log('Run pnpm fix. If the public API changes, add a changeset.')
    process.exitCode = 1
  }
}
