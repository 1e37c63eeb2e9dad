// `pnpm new <name> ["what it promises"] [--floor 1]`: a package that passes every check, to be filled with its own work.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { forbiddenNames } from './arrows.ts'
import { pnpm } from './run.ts'
import { filesUnder, repository } from './workspace.ts'

export interface Wish {
  /** In kebab case: `rate-limiting`. */
  readonly name: string
  /** One sentence: what the package promises. */
  readonly description: string
  readonly floor: 1 | 2
}

/** Writes the package, its changeset and its project references. Throws a `TypeError` that says how to mend the wish. */
export function createPackage(root: string, { name, description, floor }: Wish): void {
  const folder = join(root, 'packages', name)
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) throw new TypeError(`"${name}" is not a name in kebab-case. Give one as rate-limiting.`)
  const empty = name.split('-').find((word) => forbiddenNames.has(word))
  if (empty) throw new TypeError(`"${empty}" says nothing. Name the package by the convention that it keeps.`)
  if (existsSync(folder)) throw new TypeError(`packages/${name} is already there. Choose another name.`)
  const camel = name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
  const words: Record<string, string> = {
    __name__: name,
    __description__: description,
    __camel__: camel,
    __Pascal__: camel.replace(/^./, (letter) => letter.toUpperCase()),
    __UPPER__: name.replaceAll('-', '_').toUpperCase()
  }
  const filled = (text: string) => text.replaceAll(/__(name|description|camel|Pascal|UPPER)__/g, (place) => words[place] ?? place)
  const template = join(import.meta.dirname, 'template', floor === 1 ? 'ground' : 'plugin')
  for (const file of filesUnder(template, '**/*.txt')) {
    write(join(folder, filled(file.slice(0, -'.txt'.length))), filled(readFileSync(join(template, file), 'utf8')))
  }
  write(join(folder, 'package.json'), json(manifestOf({ name, description, floor })))
  const references = floor === 1 ? [] : [{ path: '../api-error' }]
  write(join(folder, 'tsconfig.json'), json(projectOf('src', references)))
  write(join(folder, 'test/tsconfig.json'), json(projectOf('test', [{ path: '..' }])))
  write(join(root, '.changeset', `${name}-is-new.md`), `---\n'@concordat/${name}': minor\n---\n\n${description}\n`)
  addReferences(join(root, 'tsconfig.json'), [`packages/${name}`, `packages/${name}/test`])
}

function manifestOf({ name, description, floor }: Wish) {
  const built = { types: './dist/index.d.ts', default: './dist/index.js' }
  return {
    name: `@concordat/${name}`,
    version: '0.0.0',
    description,
    license: 'MIT',
    type: 'module',
    floor,
    engines: { node: '>=22.19' },
    exports: { '.': { '@concordat/source': './src/index.ts', ...built } },
    publishConfig: { access: 'public', exports: { '.': built } },
    files: ['dist', 'src', '!dist/.tsbuildinfo*'],
    sideEffects: false,
    ...(floor === 2 && {
      peerDependencies: { fastify: '^5.0.0' },
      devDependencies: { fastify: 'catalog:' },
      dependencies: { '@concordat/api-error': 'workspace:^', 'fastify-plugin': 'catalog:' }
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

/** The root tsconfig.json is base and solution in one; its references stay sorted, one a line. */
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

if (import.meta.main) {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { floor: { type: 'string', default: '2' } } })
  const [name = '', description = 'Say here in one sentence what it promises.'] = positionals
  try {
    if (values.floor !== '1' && values.floor !== '2') throw new TypeError('New packages live on floor 1 or 2. Give --floor 1 or nothing.')
    createPackage(repository, { name, description, floor: values.floor === '1' ? 1 : 2 })
    console.log(`packages/${name} is made. Linking it …`)
    const linked = await pnpm(['install', '--no-frozen-lockfile', '--reporter=append-only'])
    if (linked.code !== 0) throw new TypeError(`${linked.output}\nRun: npx pnpm@12 install`)
    console.log(`Replace its sample rule by your own, then: pnpm floors --write && pnpm check`)
    if (values.floor === '1') console.log('Floor 1 asks for a decision record in docs/decisions that names its three users.')
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    console.error(`${error.message}\nUse: pnpm new <name> ["what it promises"] [--floor 1]`)
    process.exitCode = 1
  }
}
