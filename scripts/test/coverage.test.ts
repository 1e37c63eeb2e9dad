import { join } from 'node:path'
import t from 'tap'
import { coverageGaps } from '../coverage.ts'

const all = { total: 10, covered: 10 }
const tree = {
  packages: {
    one: {
      'package.json': '{"name":"@concordat/one","layer":1}',
      src: {
        'index.ts': "export { one } from './one.ts'",
        'one.ts': 'export const one = 1',
        'shape.ts':
          "import type { A } from './a.ts'\nexport interface Shape { a: A }\nexport type { A }\ninterface Inner { a: A }\ntype Name = string"
      }
    }
  }
}

t.test('all lines and 95 % of the branches are enough, and a file of types needs no test', async (t) => {
  const root = t.testdir(tree)
  const branches = { total: 100, covered: 95 }
  const summary = {
    [join(root, 'packages/one/src/index.ts')]: { lines: all, branches: all },
    [join(root, 'packages/one/src/one.ts')]: { lines: all, branches }
  }
  t.strictSame(coverageGaps(root, summary), [])
})

t.test('lines without a test, too few branches and files that are never loaded are reported', async (t) => {
  const root = t.testdir(tree)
  const summary = { [join(root, 'packages/one/src/one.ts')]: { lines: { total: 10, covered: 8 }, branches: { total: 100, covered: 94 } } }
  t.strictSame(coverageGaps(root, summary), [
    'packages/one/src/index.ts is never loaded by a test',
    'packages/one/src/one.ts has 2 lines that no test runs',
    '@concordat/one has 94 of 100 branches covered, less than 95 %'
  ])
})
