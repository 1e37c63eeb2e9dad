import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { violationsOf } from '../check-layers.ts'

const plugin = (name: string, more: object = {}) =>
  JSON.stringify({
    name: `@concordat/${name}`,
    layer: 2,
    dependencies: { '@concordat/ground': '*' },
    peerDependencies: { fastify: '*' },
    ...more
  })

/** A valid workspace: a package of layer 0, two plugins, a preset and an example. */
const validWorkspace: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ devDependencies: { tap: '*', '@concordat/conventions': '*' } }),
  'packages/ground/package.json': JSON.stringify({ name: '@concordat/ground', layer: 0 }),
  'packages/ground/src/index.ts': "export { ground } from './ground.ts'",
  'packages/ground/src/ground.ts': 'export const ground = 1',
  'packages/left/package.json': plugin('left'),
  'packages/left/src/index.ts': "export { left } from './plugin.ts'",
  'packages/left/src/plugin.ts':
    "import { readFileSync } from 'node:fs'\nimport { ground } from '@concordat/ground'\nexport const left = 1",
  'packages/left/test/alone.test.ts': "import t from 'tap'\nimport { left } from '@concordat/left'",
  'packages/left/test/types.test-d.ts': '',
  'packages/right/package.json': plugin('right'),
  'packages/conventions/package.json': JSON.stringify({
    name: '@concordat/conventions',
    layer: 3,
    dependencies: { '@concordat/left': '*', '@concordat/right': '*' }
  }),
  'packages/conventions/src/index.ts': "import left from '@concordat/left'\nexport { right } from '@concordat/right'",
  'examples/shop/package.json': JSON.stringify({ name: 'shop', dependencies: { '@concordat/conventions': '*' } }),
  'examples/shop/src/main.ts': "import '@concordat/conventions'"
}

/** Creates the valid workspace with other or more files. */
function workspace(t: Test, files: Readonly<Record<string, string>> = {}) {
  const root = t.testdir({})
  for (const [file, text] of Object.entries({ ...validWorkspace, ...files })) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  return root
}

t.test('a workspace whose packages import only from lower layers is valid, with a contract for tests of any length', async (t) => {
  const root = workspace(t, { 'packages/ground/src/testing/store-contract.ts': 'export {}\n'.repeat(400) })
  t.strictSame(violationsOf(root), [])
})

const left = 'packages/left/src/more.ts'
const wrongs: [file: string, text: string, problem: RegExp][] = [
  [left, "import '@concordat/conventions'", /src\/more\.ts is on layer 2 and imports @concordat\/conventions of layer 3\.\n {2}A/],
  [left, "import type { right } from '@concordat/right'", /imports @concordat\/right of layer 2/],
  [left, "export type R = import('@concordat/right').R", /imports @concordat\/right of layer 2/],
  [left, "await import('@concordat/right')", /imports @concordat\/right of layer 2/],
  [left, "export * from '@concordat/right'", /imports @concordat\/right of layer 2/],
  [
    'packages/left/test/a.test.ts',
    "import '@concordat/conventions'",
    /a\.test\.ts is on layer 2 and imports @concordat\/conventions of layer 3/
  ],
  [
    'packages/left/package.json',
    plugin('left', { devDependencies: { '@concordat/right': '*' } }),
    /depends on @concordat\/right of layer 2/
  ],
  [left, "import 'lodash/get'", /imports lodash\/get, which its package\.json does not declare\.\n {2}Add lodash to dependencies/],
  [left, "import 'tap'", /imports tap, which its package\.json does not declare/],
  [left, "import { left } from './index.ts'", /imports the entry point of its own package, \.\/index\.ts\.\n {2}Import the file/],
  [left, "import type { left } from '@concordat/left'", /imports the entry point of its own package, @concordat\/left/],
  ['packages/left/test/common.test.ts', '', /has the undescriptive name "common\.test\.ts"/],
  [
    'packages/ground/package.json',
    '{ "name": "@concordat/ground", "layer": 0, "dependencies": { "x": "1" } }',
    /on layer 0 and depends on x\./
  ],
  ['packages/ground/src/long.ts', '// why\n'.repeat(300) + 'void 0\n'.repeat(400), /ground\/src is on layer 0 and has 402 lines/],
  ['examples/stall/package.json', '{ "name": "stall", "dependencies": { "shop": "*" } }', /depends on shop of layer 5/],
  ['packages/right/package.json', '{ "name": "@concordat/right" }', /does not state its layer\.\n {2}Set "layer"/],
  [
    'packages/left/src/deep/b.ts',
    "import type { left } from '../plugin.ts'",
    /is part of an import cycle: .*src\/plugin\.ts → src\/deep.*\.\n {2}Move/
  ]
]

for (const [file, text, problem] of wrongs)
  t.test(`refused: ${file}: ${text.slice(0, 100)}`, async (t) => {
    const imports = { 'packages/left/src/plugin.ts': "import { b } from './deep/b.ts'", 'packages/left/src/deep/b.ts': '' }
    t.match(violationsOf(workspace(t, { ...imports, [file]: text })).join('\n'), problem)
  })
