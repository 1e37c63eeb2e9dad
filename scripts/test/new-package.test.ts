import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { childEnvironment } from '@concordat/test-harness/child'
import t, { type Test } from 'tap'
import { reportOf } from '../api-report.ts'
import { checkGrammar } from '../check-grammar.ts'
import { violationsOf } from '../check-layers.ts'
import { brokenLinks } from '../check-links.ts'
import { avoidedWords, wordsToAvoid } from '../check-prose.ts'
import { wrongQuotations } from '../check-quoted-errors.ts'
import { createPackage } from '../new-package.ts'
import { run } from '../run.ts'
import { filesUnder, type Member, readMembers, repository } from '../workspace.ts'

/** A workspace with the package of layer 0, linked as pnpm would link it. */
function workspace(t: Test) {
  const base = readFileSync(join(repository, 'tsconfig.json'), 'utf8')
  const references = '"references": [\n    { "path": "packages/plugin-kit" },\n    { "path": "scripts" }\n  ]\n}\n'
  // The linter reads the .gitignore of the nearest repository, and ours ignores the folder in which tests write.
  const root = t.testdir({ '.git': {}, '.gitignore': 'node_modules\n', 'tsconfig.json': base.replace(/"references": [^]*$/, references) })
  for (const file of ['package.json', 'biome.json', '.oxlintrc.json', 'CONTRIBUTING.md']) cpSync(join(repository, file), join(root, file))
  cpSync(join(repository, 'packages/plugin-kit'), join(root, 'packages/plugin-kit'), {
    recursive: true,
    filter: (path) => !/node_modules|dist/.test(path)
  })
  linkModules(root, 'plugin-kit', { fastify: join(repository, 'node_modules/fastify') })
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'))
  return root
}

function link(root: string, name: string) {
  linkModules(root, name, {
    fastify: join(repository, 'node_modules/fastify'),
    'fastify-plugin': join(repository, 'packages/envelope/node_modules/fastify-plugin'),
    '@concordat/plugin-kit': join(root, 'packages/plugin-kit')
  })
}

function linkModules(root: string, name: string, links: Readonly<Record<string, string>>) {
  const modules = join(root, 'packages', name, 'node_modules')
  for (const [module, target] of Object.entries(links)) {
    mkdirSync(dirname(join(modules, module)), { recursive: true })
    symlinkSync(target, join(modules, module))
  }
}

/**
 * Runs the checks of `pnpm check` on one package, except those that install packages or read the lists of all packages. Returns the errors as
 * text.
 */
async function complaintsAbout(root: string, name: string) {
  const folder = `packages/${name}`
  const tests = filesUnder(root, `${folder}/test/*.test.ts`)
  const complaints = violationsOf(root).map(({ where, rule }) => `${where} ${rule}`)
  for (const words of [
    ['tsc', '-b', '--checkers', '1', folder, `${folder}/test`],
    ['biome', 'check', folder],
    ['oxlint', folder],
    ...tests.map((file) => ['node', '--conditions=@concordat/source', file])
  ]) {
    const { code, output } = await run(words[0] as string, words.slice(1), { cwd: root, env: childEnvironment() })
    if (code !== 0) complaints.push(`${words.join(' ')}\n${output}`)
  }
  const avoided = avoidedWords(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'))
  for (const file of filesUnder(root, `${folder}/{*.md,{src,test}/*.ts}`))
    complaints.push(...(await wordsToAvoid(file, readFileSync(join(root, file), 'utf8'), avoided, [])))
  complaints.push(...[...brokenLinks(root), ...wrongQuotations(root)].filter((line) => line.startsWith(folder)))
  return [...complaints, ...grammarProblems(root, folder)].join('\n')
}

/** The grammar check reads the report of the public API, which is made from the build. */
function grammarProblems(root: string, folder: string) {
  const member = readMembers(root).find((candidate) => candidate.folder === folder) as Member
  mkdirSync(join(root, 'docs/api'), { recursive: true })
  writeFileSync(join(root, 'docs/api/new.md'), reportOf(root, member))
  return checkGrammar(root).problems
}

t.test(
  'a new plugin passes the checks of types, format, lint, layers, names, prose, links and quoted errors, and its own tests',
  async (t) => {
    const root = workspace(t)
    createPackage(root, { name: 'path-length', description: 'Paths of a length that every proxy lets through.', layer: 2 })
    link(root, 'path-length')
    t.equal(await complaintsAbout(root, 'path-length'), '')
    t.match(readFileSync(join(root, '.changeset/path-length-is-new.md'), 'utf8'), "'@concordat/path-length': minor")
    t.match(
      readFileSync(join(root, 'packages/path-length/README.md'), 'utf8'),
      /^# @concordat\/path-length\n\nPaths of a length[\s\S]*PATH_LENGTH_PATH_TOO_LONG/
    )
  }
)

t.test('a new package of layer 1 passes the checks too, and has no dependencies', async (t) => {
  const root = workspace(t)
  createPackage(root, { name: 'ledger', description: 'Names without space around them.', layer: 1 })
  t.equal(await complaintsAbout(root, 'ledger'), '')
  t.notMatch(readFileSync(join(root, 'packages/ledger/package.json'), 'utf8'), 'dependencies')
})

t.test('the root project references the package and its tests, in order', async (t) => {
  const root = workspace(t)
  createPackage(root, { name: 'zebra', description: 'Stripes.', layer: 2 })
  const { references } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'))
  t.strictSame(
    references.map(({ path }: { path: string }) => path),
    ['packages/plugin-kit', 'packages/zebra', 'packages/zebra/test', 'scripts']
  )
})

t.test('a name that is taken, malformed or undescriptive is refused, and nothing is written', async (t) => {
  const root = workspace(t)
  for (const [name, said] of [
    ['plugin-kit', /already exists\. Choose another name/],
    ['RateLimit', /is not in kebab-case\. Use/],
    ['../escape', /is not in kebab-case\. Use/],
    ['page-utils', /"utils" is not descriptive/]
  ] as const) {
    t.throws(() => createPackage(root, { name, description: '', layer: 2 }), said)
  }
  t.equal(existsSync(join(root, '.changeset')), false)
})
