// Checks that every ```ts block of the documentation is a whole program that compiles, in a strict project, against the packages that
// `pnpm build` has built.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { importsOf, packageOf } from './imports.ts'
import { type Block, blocksOf } from './markdown.ts'
import { reportProblems, run } from './run.ts'
import { entryFiles, filesUnder, type Member, readMembers, repository } from './workspace.ts'

/** The folder for the programs, inside the package whose dependencies the snippets may use. Git ignores it. */
const place = '.snippets'

export interface Snippet {
  /** The Markdown file, and the line of the first line of code. */
  readonly file: string
  readonly line: number
  readonly text: string
}

/**
 * Returns the snippets by the folder of the package in which they compile: their own, or for the README and docs the highest one that has
 * installed what the file imports.
 */
export function snippetsByHome(root: string): Map<string, Snippet[]> {
  const members = readMembers(root)
  const byHeight = members.toSorted((a, b) => Number(b.layer) - Number(a.layer))
  const files = filesUnder(root, '{README.md,CONTRIBUTING.md,{docs,packages,examples}/**/*.md}')
  const homes = new Map<string, Snippet[]>()
  for (const file of files.filter((name) => !name.startsWith('docs/api/') && basename(name) !== 'CHANGELOG.md')) {
    const blocks = blocksOf(readFileSync(join(root, file), 'utf8')).filter((block) => block.language === 'ts' && !isOfProject(block))
    const home =
      members.find(({ folder }) => file.startsWith(`${folder}/`)) ??
      byHeight.find((member) => blocks.every(({ text }) => canImport(member, members, text))) ??
      byHeight[0]
    if (home === undefined || blocks.length === 0) continue
    homes.set(home.folder, [...(homes.get(home.folder) ?? []), ...blocks.map(({ line, text }) => ({ file, line, text }))])
  }
  return homes
}

/** Compiles the snippets of each package as a separate program. Returns the errors of the compiler, by their place in the Markdown file. */
export async function compileSnippets(root: string, homes: ReadonlyMap<string, readonly Snippet[]>): Promise<string[]> {
  const folders = [...homes.keys()].map((home) => join(root, home, place))
  try {
    for (const [home, snippets] of homes) writeProgram(root, home, snippets)
    const { code, output } = await run('tsc', ['-b', ...folders, '--checkers', '1', '--pretty', 'false'], { cwd: root })
    if (code === 0) return []
    return output
      .trimEnd()
      .replaceAll(/^(.+)\/\.snippets\/(\d+)\.ts\((\d+),(\d+)\)/gm, (_, home: string, index: string, line, column) => {
        return `${homes.get(home)?.[Number(index)]?.file}:${line}:${column}`
      })
      .split('\n')
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
}

function writeProgram(root: string, home: string, snippets: readonly Snippet[]) {
  const folder = join(root, home, place)
  mkdirSync(folder, { recursive: true })
  for (const [index, { line, text }] of snippets.entries()) {
    // The same number of lines before the code as in the Markdown file, so that the compiler reports the same line numbers.
    writeFileSync(join(folder, `${index}.ts`), `${'\n'.repeat(line - 1)}${text}\nexport {}\n`)
  }
  // A snippet may use all packages of this repository, as if they were installed.
  const paths = Object.fromEntries(readMembers(root).flatMap((member) => typesOf(root, member)))
  const compilerOptions = {
    noEmit: true,
    composite: false,
    isolatedDeclarations: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
    paths
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../../tsconfig.json', compilerOptions, include: ['*.ts'], references: [] })
  )
}

/** Returns the files of the built types of each entry point of a package, by the name that imports it. */
function typesOf(root: string, { folder, manifest }: Member): [string, string[]][] {
  return entryFiles(manifest, 'types').map(([entry, file]) => [manifest.name + entry.slice(1), [join(root, folder, file)]])
}

/** Whether a block is a file of the project that a guide makes, and imports others of it. The guide itself checks its types. */
function isOfProject({ info, text }: Block) {
  return info !== '' && [...importsOf('snippet.ts', text)].some((specifier) => specifier.startsWith('.'))
}

function canImport({ manifest }: Member, members: readonly Member[], text: string) {
  const known = { ...manifest.dependencies, ...manifest.devDependencies }
  return [...importsOf('snippet.ts', text)]
    .flatMap((specifier) => packageOf(specifier) ?? [])
    .every((name) => name in known || members.some((member) => member.manifest.name === name))
}

if (import.meta.main) {
  reportProblems(await compileSnippets(repository, snippetsByHome(repository)))
}
