import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { childEnvironment } from '@concordat/test-harness/child'
import t, { type Test } from 'tap'
import { violationsOf } from '../check-layers.ts'
import { createPackage } from '../new-package.ts'
import { run } from '../run.ts'
import { repository } from '../workspace.ts'

/** A workspace with the package of layer 0. */
function workspace(t: Test) {
  // The linter reads the .gitignore of the nearest repository, and ours ignores the folder in which tests write.
  const root = t.testdir({ '.git': {}, '.gitignore': 'node_modules\n' })
  for (const file of ['package.json', 'biome.json', '.oxlintrc.json', 'scripts/lint-rules.ts', 'tsconfig.json'])
    cpSync(join(repository, file), join(root, file))
  for (const part of ['src', 'package.json', 'tsconfig.json'])
    cpSync(join(repository, 'packages/plugin-kit', part), join(root, 'packages/plugin-kit', part), { recursive: true })
  return root
}

/** Links packages as pnpm would. */
function link(root: string, links: Readonly<Record<string, string>>) {
  for (const [name, target] of Object.entries(links)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    symlinkSync(target, join(root, name))
  }
}

t.test('a new plugin passes the checks of layers, types, format and lint, and its own test', async (t) => {
  const root = workspace(t)
  const folder = 'packages/path-length'
  createPackage(root, 'path-length', 'Paths of a length that every proxy lets through.')
  link(root, {
    node_modules: join(repository, 'node_modules'),
    'packages/plugin-kit/node_modules/fastify': join(repository, 'node_modules/fastify'),
    [`${folder}/node_modules/fastify`]: join(repository, 'node_modules/fastify'),
    [`${folder}/node_modules/fastify-plugin`]: join(repository, 'packages/envelope/node_modules/fastify-plugin'),
    [`${folder}/node_modules/@concordat/plugin-kit`]: join(root, 'packages/plugin-kit')
  })
  t.strictSame(
    violationsOf(root).filter((line) => line.startsWith(folder)),
    []
  )
  for (const words of [
    ['tsc', '-b', '--checkers', '1', folder, `${folder}/test`],
    ['biome', 'check', folder],
    ['oxlint', folder],
    ['node', '--conditions=@concordat/source', `${folder}/test/alone.test.ts`]
  ]) {
    const { code, output } = await run(words[0] as string, words.slice(1), { cwd: root, env: childEnvironment() })
    t.equal(code, 0, `${words.join(' ')}\n${output}`)
  }
  t.match(readFileSync(join(root, '.changeset/path-length-is-new.md'), 'utf8'), "'@concordat/path-length': minor")
  t.match(
    readFileSync(join(root, folder, 'README.md'), 'utf8'),
    /^# @concordat\/path-length\n\nPaths of a length[\s\S]*PATH_LENGTH_PATH_TOO_LONG/
  )
  const { references } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'))
  const paths = references.map(({ path }: { path: string }) => path)
  t.strictSame(paths, [...new Set([...paths, folder, `${folder}/test`])].toSorted(), 'the root project references it, in order')
})

t.test('a name that is taken, malformed or undescriptive is refused, and nothing is written', async (t) => {
  const root = workspace(t)
  for (const [name, said] of [
    ['plugin-kit', /already exists\. Choose another name/],
    ['RateLimit', /is not in kebab-case\. Use/],
    ['../escape', /is not in kebab-case\. Use/],
    ['page-utils', /"utils" is not descriptive/]
  ] as const)
    t.throws(() => createPackage(root, name, ''), said)
  t.equal(existsSync(join(root, '.changeset')), false)
})
