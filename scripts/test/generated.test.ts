// The generated files of this repository are the test of what generates them: a fault of a generator is a difference that the step `generated` shows.
import t from 'tap'
import { apiReports } from '../api-report.ts'
import { outOfDate, writeFiles } from '../generated.ts'
import { withSection } from '../markdown.ts'

const exports = { '.': { types: './dist/index.d.ts' } }
const packages = { one: { 'package.json': JSON.stringify({ name: '@concordat/one', layer: 1, exports }) } }

t.test('a file that is missing, outdated or of a removed package is named and written', async (t) => {
  const dist = { 'index.d.ts': 'export declare const one: 1;\n' }
  const root = t.testdir({ packages: { one: { ...packages.one, dist } }, docs: { api: { 'gone.md': '', 'one.md': 'old' } } })
  t.strictSame(outOfDate(root, apiReports(root)), ['docs/api/gone.md', 'docs/api/one.md'])
  writeFiles(root, apiReports(root))
  t.strictSame([...apiReports(root).keys()], ['docs/api/one.md'])
  t.strictSame(outOfDate(root, apiReports(root)), [])
})

t.test(
  'a package that is not built, or exports everything of a file, and a page without its section are errors that say what to do',
  async (t) => {
    t.throws(() => apiReports(t.testdir({ packages })), { message: /packages\/one\/dist\/index\.d\.ts is missing\. Run: pnpm build/ })
    const root = t.testdir({
      packages: { one: { ...packages.one, dist: { 'index.d.ts': "export * from './one.ts'" } } },
      'a.md': '# Page\n'
    })
    t.throws(() => apiReports(root), { message: 'dist/index.d.ts exports everything of ./one.ts. Name what it exports.' })
    t.throws(() => withSection(`${root}/a.md`, 'layers', ''), { message: /a\.md does not have the lines <!-- layers:start -->\n/ })
  }
)
