// Copies the examples that `npm create concordat` makes projects of into its package: with versions of the registry, without what only this
// repository has. The copies are in `dist`, so that nothing is there twice in git.
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { importsOf, packageOf } from './imports.ts'
import { filesUnder, type Manifest, readManifest, readMembers, repository } from './workspace.ts'

const copied = ['books-service', 'orders-service']
const target = 'packages/create-concordat/dist/examples'
/** The versions of all packages, for the command that upgrades a project. */
const versionsFile = 'packages/concordat/dist/versions.json'
const folders = '{sample,src,test,scripts}/**/*'
/** The tests that need this repository, such as those of several processes. */
const ofRepository = 'test/repository/'
/** A private package. */
const notPortable = '@concordat/test-harness'
/** What every project is developed with. */
const tools = ['@types/node', 'concordat', 'oxlint', 'pino-pretty', 'typescript']

/** Copies the examples below a root. Files that are the same stay as they are, so that processes that read them are not disturbed. */
export function copyExamples(root: string = repository): void {
  const files = new Map(copied.flatMap((name) => [...filesOf(root, name)].map(([file, text]) => [`${name}/${file}`, text])))
  for (const [file, text] of files) write(join(root, target, file), text)
  const published = readMembers(root).filter(({ folder }) => folder.startsWith('packages/'))
  const ranges = published.map(({ manifest }) => [manifest.name, `^${manifest.version}`])
  write(join(root, versionsFile), JSON.stringify(Object.fromEntries(ranges)))
  for (const file of globSync('*/**/*.*', { cwd: join(root, target) }))
    if (!files.has(file.replaceAll('\\', '/'))) rmSync(join(root, target, file))
}

function filesOf(root: string, name: string): Map<string, string> {
  const from = join(root, 'examples', name)
  const files = portableFiles(from)
  const manifest = publishedManifest(root, readManifest(join(from, 'package.json')), packagesIn(from, files))
  const text = (file: string) => readFileSync(join(from, file), 'utf8')
  return new Map([
    ['package.json', `${JSON.stringify(manifest, null, 2)}\n`],
    ['README.md', withoutLocalLinks(text('README.md'))],
    ...files.map((file): [string, string] => [file, text(file)])
  ])
}

/** Returns the files of an example that need nothing of this repository: neither a package that a project cannot have nor a file outside of the example. */
function portableFiles(from: string): string[] {
  const files = filesUnder(from, folders).filter((file) => /\.(ts|sql|json)$/.test(file) && !file.startsWith(ofRepository))
  const refused = new Set(files.filter((file) => importedBy(from, file).some((one) => isOfRepository(file, one))))
  for (let size = -1; size !== refused.size; ) {
    size = refused.size
    for (const file of files) if (importedBy(from, file).some((one) => refused.has(join(dirname(file), one)))) refused.add(file)
  }
  // A file of tests that no test of the copy uses, such as a helper of those that are left out.
  const kept = files.filter((file) => !refused.has(file))
  const used = new Set(kept.flatMap((file) => importedBy(from, file).map((one) => join(dirname(file), one))))
  return kept.filter((file) => !file.startsWith('test/') || file.endsWith('.test.ts') || used.has(file))
}

function isOfRepository(file: string, specifier: string) {
  return packageOf(specifier) === notPortable || (specifier.startsWith('.') && join(dirname(file), specifier).startsWith('..'))
}

function importedBy(from: string, file: string) {
  return file.endsWith('.ts') ? [...importsOf(file, readFileSync(join(from, file), 'utf8'))] : []
}

function packagesIn(from: string, files: readonly string[]) {
  return new Set(files.flatMap((file) => importedBy(from, file).flatMap((specifier) => packageOf(specifier) ?? [])))
}

/** Returns a manifest with versions of the registry, the tools, and of the other development dependencies those that are used. */
function publishedManifest(root: string, { dependencies = {}, devDependencies = {}, ...manifest }: Manifest, used: ReadonlySet<string>) {
  const versionOf = versionsIn(root)
  const isUsed = (name: string) => used.has(name) || name.startsWith('@types/')
  const development = [...new Set([...Object.keys(devDependencies).filter(isUsed), ...(used.has('tap') ? ['tap'] : []), ...tools])]
  return {
    ...manifest,
    dependencies: Object.fromEntries(Object.keys(dependencies).map((name) => [name, versionOf(name)])),
    devDependencies: Object.fromEntries(development.toSorted().map((name) => [name, versionOf(name)]))
  }
}

function versionsIn(root: string): (name: string) => string {
  const lines = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')
    .replace(/^.*?\ncatalog:\n/s, '')
    .replace(/\n\n.*$/s, '')
  const catalog = new Map([...lines.matchAll(/^ {2}'?([^':]+)'?: (.*)$/gm)].map(([, name = '', version = '']) => [name, version]))
  const own = new Map(readMembers(root).map(({ manifest }) => [manifest.name, `^${manifest.version}`]))
  return (name) => {
    const version = own.get(name) ?? catalog.get(name)
    if (version === undefined) throw new Error(`${name} is neither a package of the workspace nor in the catalog of pnpm-workspace.yaml.`)
    return version
  }
}

// A project has no other packages beside it.
function withoutLocalLinks(text: string) {
  return text.replaceAll(/\[([^\]]+)\]\(\.\.?\/[^)]*\)/g, '$1')
}

function write(file: string, text: string) {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.${process.pid}`, text)
  renameSync(`${file}.${process.pid}`, file)
}

if (import.meta.main) copyExamples()
