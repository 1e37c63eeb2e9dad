import t from 'tap'
import { modulesReached } from '../reached-modules.ts'
import { repository } from '../workspace.ts'

const testLibraries = /^(node:test|node:assert(\/strict)?|tap|fast-check|expect-type|vitest|@tapjs\/.*)$/

/** Returns the ways from entry points for services to modules that only tests need. */
function waysToTests(root: string) {
  return modulesReached(root)
    .filter((way) => {
      const module = way.at(-1) as string
      return module.includes('/src/testing/') || /[/-]contract\.ts$/.test(module) || testLibraries.test(module)
    })
    .map((way) => way.join(' → '))
}

const workspace = (sources: object) => ({
  packages: {
    store: {
      'package.json': JSON.stringify({
        name: '@concordat/store',
        exports: {
          '.': { '@concordat/source': './src/index.ts' },
          './testing': { '@concordat/source': './src/testing/index.ts' }
        }
      }),
      src: { 'index.ts': '', 'store.ts': 'export const store = 1', testing: { 'index.ts': "import 'node:test'" }, ...sources }
    },
    user: {
      'package.json': JSON.stringify({ name: '@concordat/user', exports: { '.': { '@concordat/source': './src/index.ts' } } }),
      src: { 'index.ts': "export { store } from '@concordat/store'" }
    }
  }
})

t.test('finds the way to each contract and test library, also in another package and for types', async (t) => {
  for (const [sources, wanted] of [
    [{ 'index.ts': "export { store } from './store.ts'" }, []],
    [{ 'index.ts': "export { contract } from './testing/index.ts'" }, ['store/src/testing/index.ts', 'node:test']],
    [{ 'index.ts': "export type { A } from './store-contract.ts'", 'store-contract.ts': '' }, ['store/src/store-contract.ts']],
    [{ 'index.ts': "import './store.ts'", 'store.ts': "import assert from 'node:assert/strict'" }, ['node:assert/strict']]
  ] as const) {
    const ways = waysToTests(t.testdir(workspace(sources)))
    t.equal(ways.length, 2 * wanted.length, ways.join('\n'))
    for (const end of wanted) {
      t.ok(ways.some((way) => way.startsWith('packages/store/src/index.ts → ') && way.endsWith(end)))
      t.ok(ways.some((way) => way.startsWith('packages/user/src/index.ts → packages/store/src/index.ts → ') && way.endsWith(end)))
    }
  }
  t.throws(
    () =>
      modulesReached(
        t.testdir({ packages: { user: workspace({}).packages.user, store: { 'package.json': '{"name":"@concordat/store"}' } } })
      ),
    {
      message: 'packages/store has no entry point ..'
    }
  )
})

t.test('no entry point for services reaches a contract or a test library', async (t) => {
  t.strictSame(waysToTests(repository), [])
})
