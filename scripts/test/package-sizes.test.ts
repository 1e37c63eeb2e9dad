import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { missingTypes } from '../check-alone.ts'
import { excess, installedIn, limitOf, readSizes, writeSizes } from '../package-sizes.ts'

t.test('counts the packages of an installation and their bytes, without links to others', async (t) => {
  const file = 'x'.repeat(500_000)
  const folder = t.testdir({
    node_modules: {
      '.pnpm': {
        'a@1': { node_modules: { a: { 'index.js': file, b: t.fixture('symlink', '../../b@1/node_modules/b') } } },
        'b@1': { node_modules: { b: { 'index.js': file } } },
        node_modules: {},
        'lock.yaml': ''
      }
    }
  })
  t.strictSame(installedIn(folder), { packages: 2, megabytes: 1 })
})

t.test('a package that installs more than its row allows, or has no row, is a problem', async (t) => {
  const root = t.testdir({ docs: { 'package-sizes.md': 'Before\n<!-- sizes:start -->\n<!-- sizes:end -->\nAfter\n' } })
  writeSizes(root, new Map([['links', limitOf({ packages: 49, megabytes: 8.95 })]]))
  t.match(readFileSync(join(root, 'docs/package-sizes.md'), 'utf8'), 'Before\n<!-- sizes:start -->\n| package | packages | MB |')
  const limits = readSizes(root)
  t.strictSame(limits, new Map([['links', { packages: 49, megabytes: 9.5 }]]))
  writeSizes(root, limits)
  t.strictSame(readSizes(root), limits, 'a row that is not measured again stays')
  t.strictSame(excess('links', { packages: 49, megabytes: 9.4 }, limits), [])
  t.match(excess('links', { packages: 50, megabytes: 9 }, limits), [
    'it installs 50 packages and 9.00 MB, but docs/package-sizes.md allows 49 and 9.5 MB. Remove a dependency, or run: node scripts/check-alone.ts --write'
  ])
  t.match(excess('jobs', { packages: 1, megabytes: 1 }, limits), [/has no row for it\. Remove/])
})

t.test('a type that imports an optional peer is a problem, one that imports a module of Node.js is not', async (t) => {
  const output = [
    "node_modules/a/dist/index.d.ts(1,2): error TS2307: Cannot find module 'pg-boss' or its corresponding type declarations.",
    "node_modules/a/dist/index.d.ts(2,2): error TS2307: Cannot find module 'node:http' or its corresponding type declarations."
  ]
  t.strictSame(missingTypes(output.join('\n'), ['pg-boss']), [output[0]])
})
