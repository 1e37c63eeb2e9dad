// `pnpm new <name> ["description"]`: creates a plugin that passes every check, as a starting point, from scripts/template.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { forbiddenNames } from './check-layers.ts'
import { must, pnpm } from './run.ts'
import { filesUnder, repository } from './workspace.ts'

/**
 * Creates the package, its changeset and its project references. The name is in kebab case, such as `rate-limiting`. Throws a `TypeError` that says how to
 * fix the arguments.
 */
export function createPackage(root: string, name: string, description: string): void {
  const folder = join(root, 'packages', name)
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) throw new TypeError(`"${name}" is not in kebab-case. Use a name such as rate-limiting.`)
  const empty = name.split('-').find((word) => forbiddenNames.has(word))
  if (empty) throw new TypeError(`"${empty}" is not descriptive. Name the package after the convention that it implements.`)
  if (existsSync(folder)) throw new TypeError(`packages/${name} already exists. Choose another name.`)
  const camel = name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
  const words: Record<string, string> = {
    __name__: name,
    __description__: description,
    __camel__: camel,
    __Pascal__: camel.replace(/^./, (letter) => letter.toUpperCase()),
    __UPPER__: name.replaceAll('-', '_').toUpperCase()
  }
  const filled = (text: string) => text.replaceAll(/__\w+?__/g, (place) => words[place] ?? place)
  const template = join(import.meta.dirname, 'template')
  for (const file of filesUnder(template, '**/*.txt'))
    write(join(folder, filled(file.slice(0, -'.txt'.length))), filled(readFileSync(join(template, file), 'utf8')))
  write(join(root, '.changeset', `${name}-is-new.md`), `---\n'@concordat/${name}': minor\n---\n\n${description}\n`)
  addReferences(join(root, 'tsconfig.json'), [`packages/${name}`, `packages/${name}/test`])
}

/** Adds references to the root tsconfig.json, which is both base and solution. The references are sorted, one per line. */
function addReferences(file: string, added: readonly string[]) {
  const text = readFileSync(file, 'utf8')
  const start = text.indexOf('"references": [')
  const paths = [...text.slice(start).matchAll(/"path": "([^"]+)"/g)].map(([, path]) => path as string)
  const lines = [...paths, ...added].toSorted().map((path) => `    { "path": "${path}" }`)
  write(file, `${text.slice(0, start)}"references": [\n${lines.join(',\n')}\n  ]\n}\n`)
}

function write(file: string, text: string) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

if (import.meta.main) {
  const [name = '', description = 'Describe in one sentence what the package does.'] = process.argv.slice(2)
  try {
    createPackage(repository, name, description)
    console.log(`packages/${name} was created. Installing its dependencies, and writing the pages that list packages, errors and exports …`)
    await pnpm(['install', '--lockfile-only', '--no-frozen-lockfile', '--reporter=append-only'])
    for (const words of [['scripts/setup.mjs'], ['scripts/check.ts', '--fix', 'generated']]) await must('node', words)
    console.log('The package passes pnpm check. Replace the sample rule with your own; pnpm check then names the pages to write again.')
    console.log('Add the keys of config that the plugin reads to configKeys of packages/plugin-kit/src/route-config.')
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    console.error(`${error.message}\nUsage: pnpm new <name> ["description"]`)
    process.exitCode = 1
  }
}
