// `pnpm new <name> ["description"] [--layer 0|1]`: creates a package that passes every check, as a starting point.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { forbiddenNames } from './imports-between-layers.ts'
import { pnpm, run } from './run.ts'
import { filesUnder, repository } from './workspace.ts'

export interface NewPackage {
  /** In kebab case: `rate-limiting`. */
  readonly name: string
  /** One sentence that says what the package does. */
  readonly description: string
  readonly layer: 0 | 1 | 2
}

/** Creates the package, its changeset and its project references. Throws a `TypeError` that says how to fix the arguments. */
export function createPackage(root: string, { name, description, layer }: NewPackage): void {
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
  const filled = (text: string) => text.replaceAll(/__(name|description|camel|Pascal|UPPER)__/g, (place) => words[place] ?? place)
  const template = join(import.meta.dirname, 'template', layer === 2 ? 'plugin' : 'ground')
  for (const file of filesUnder(template, '**/*.txt')) {
    write(join(folder, filled(file.slice(0, -'.txt'.length))), filled(readFileSync(join(template, file), 'utf8')))
  }
  write(join(folder, 'package.json'), json(manifestOf({ name, description, layer })))
  const references = layer === 2 ? [{ path: '../plugin-kit' }] : []
  write(join(folder, 'tsconfig.json'), json(projectOf('src', references)))
  write(join(folder, 'test/tsconfig.json'), json(projectOf('test', [{ path: '..' }])))
  write(join(root, '.changeset', `${name}-is-new.md`), `---\n'@concordat/${name}': minor\n---\n\n${description}\n`)
  addReferences(join(root, 'tsconfig.json'), [`packages/${name}`, `packages/${name}/test`])
}

function manifestOf({ name, description, layer }: NewPackage) {
  const built = { types: './dist/index.d.ts', default: './dist/index.js' }
  return {
    name: `@concordat/${name}`,
    version: '0.0.0',
    description,
    license: 'MIT',
    type: 'module',
    layer,
    engines: { node: '>=22.19' },
    exports: { '.': { '@concordat/source': './src/index.ts', ...built } },
    publishConfig: { access: 'public', exports: { '.': built } },
    files: ['dist', 'src', '!dist/.tsbuildinfo*'],
    sideEffects: false,
    ...(layer === 2 && {
      peerDependencies: { fastify: '^5.12.1' },
      devDependencies: { fastify: 'catalog:' },
      dependencies: {
        '@concordat/plugin-kit': 'workspace:^',
        'fastify-plugin': 'catalog:'
      }
    })
  }
}

function projectOf(part: 'src' | 'test', references: readonly { path: string }[]) {
  if (part === 'src') {
    const compilerOptions = { rootDir: 'src', outDir: 'dist', tsBuildInfoFile: 'dist/.tsbuildinfo' }
    return { extends: '../../tsconfig.json', compilerOptions, include: ['src'], references }
  }
  const compilerOptions = { noEmit: true, isolatedDeclarations: false, rootDir: '..', tsBuildInfoFile: '../dist/.tsbuildinfo-test' }
  return { extends: '../../../tsconfig.json', compilerOptions, include: ['.'], references }
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

function json(value: object) {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** Installs the package, and writes the pages that list packages, errors and exports again. Throws a `TypeError` with the output of a script that fails. */
async function installAndWritePages() {
  for (const words of [['scripts/setup.mjs'], ['scripts/check.ts', '--fix', 'generated']]) {
    const { code, output } = await run('node', words)
    if (code !== 0) throw new TypeError(`${output}\nRun: node ${words.join(' ')}`)
  }
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { layer: { type: 'string', default: '2' } } })
  const [name = '', description = 'Describe in one sentence what the package does.'] = positionals
  try {
    const layer = Number(values.layer)
    if (layer !== 0 && layer !== 1 && layer !== 2) throw new TypeError('A new package has layer 0, 1 or 2. Use --layer 0 or 1, or omit it.')
    createPackage(repository, { name, description, layer })
    console.log(`packages/${name} was created. Installing its dependencies …`)
    const resolved = await pnpm(['install', '--lockfile-only', '--no-frozen-lockfile', '--reporter=append-only'])
    if (resolved.code !== 0) throw new TypeError(`${resolved.output}\nRun: npx pnpm@12 install --lockfile-only`)
    console.log('Writing the pages that list packages, errors and exports …')
    await installAndWritePages()
    console.log('The package passes pnpm check. Replace the sample rule with your own; pnpm check then names the pages to write again.')
    if (layer === 2) console.log('Add the keys of config that the plugin reads to configKeys of packages/plugin-kit/src/wiring.')
    if (layer !== 2) console.log('Layers 0 and 1 require a decision record in docs/decisions that names its three users.')
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    console.error(`${error.message}\nUsage: pnpm new <name> ["description"] [--layer 0|1]`)
    process.exitCode = 1
  }
}
