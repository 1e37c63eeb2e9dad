import t from 'tap'
import { oldReports, reportOf, reportsOf } from '../api-report.ts'
import { readMembers } from '../workspace.ts'

const tree = {
  packages: {
    one: {
      'package.json': JSON.stringify({
        name: '@concordat/one',
        floor: 1,
        exports: { '.': { types: './dist/index.d.ts' }, './deep': { types: './dist/deep.d.ts' }, './package.json': './package.json' }
      }),
      dist: {
        'index.d.ts': "export { one } from './one.js';\n//# sourceMappingURL=index.d.ts.map",
        'one.d.ts': "import type { Shape } from './shape.ts';\nexport declare const one: Shape;\n",
        'shape.d.ts': "import './one.ts';\nexport interface Shape {\n}\n",
        'deep.d.ts': 'export declare const deep: 1;\n',
        'inner.d.ts': 'export declare const inner: 1;\n'
      }
    }
  }
}

t.test('a report holds what the doors reach, once, and nothing else', async (t) => {
  const root = t.testdir(tree)
  const report = reportsOf(root).get('docs/api/one.md') ?? ''
  t.strictSame(report.match(/^\/\/ .*$/gm), ['// index.d.ts', '// one.d.ts', '// shape.d.ts', '// deep.d.ts'])
  t.match(report, '# @concordat/one: the public API\n')
  t.match(report, 'export declare const one: Shape;\n')
  t.notMatch(report, 'sourceMappingURL')
})

t.test('a package that is not built is asked to be', async (t) => {
  const root = t.testdir({ packages: { one: { 'package.json': tree.packages.one['package.json'] } } })
  t.throws(() => readMembers(root).map((member) => reportOf(root, member)), {
    message: /packages\/one\/dist\/index\.d\.ts is missing\. Run: pnpm build/
  })
})

t.test('a report that is missing, old, or of a package that is gone is named', async (t) => {
  const docs = { api: { 'gone.md': '', 'one.md': 'old' } }
  const root = t.testdir({ ...tree, docs })
  t.strictSame(oldReports(root, reportsOf(root)), ['docs/api/one.md', 'docs/api/gone.md'])
  t.strictSame(
    oldReports(
      root,
      new Map([
        ['docs/api/one.md', 'old'],
        ['docs/api/gone.md', ''],
        ['docs/api/new.md', '']
      ])
    ),
    ['docs/api/new.md']
  )
})
