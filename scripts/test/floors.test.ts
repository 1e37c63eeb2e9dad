import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { violationsOf } from '../check-floors.ts'
import { drawHouse, houseIsOld, writeHouse } from '../house.ts'

const plugin = (name: string, more: object = {}) =>
  JSON.stringify({
    name: `@concordat/${name}`,
    floor: 2,
    dependencies: { '@concordat/ground': 'workspace:^', 'fastify-plugin': '^6' },
    peerDependencies: { fastify: '^5' },
    ...more
  })

/** A valid workspace: a package of layer 1, two plugins, a preset, a separate kit, an example. */
const rightHouse = () => ({
  'package.json': JSON.stringify({ devDependencies: { tap: '*' } }),
  docs: { 'architecture.md': '# House\n<!-- house:start -->\n<!-- house:end -->\nEnd\n' },
  packages: {
    ground: {
      'package.json': JSON.stringify({ name: '@concordat/ground', floor: 1, peerDependencies: { fastify: '^5' } }),
      src: {
        'index.ts': "export { ground } from './ground.ts'",
        'ground.ts': "import type { FastifyRequest } from 'fastify'\nexport const ground = 1"
      } as Record<string, string>
    },
    left: {
      'package.json': plugin('left'),
      src: {
        'index.ts': "export { left } from './plugin.ts'",
        'plugin.ts':
          "import { readFileSync } from 'node:fs'\nimport fp from 'fastify-plugin'\nimport { ground } from '@concordat/ground'\nexport const left = 1"
      } as Record<string, string>,
      test: { 'alone.test.ts': "import t from 'tap'\nimport { left } from '@concordat/left'", 'types.test-d.ts': '' } as Record<
        string,
        string
      >
    },
    right: { 'package.json': plugin('right'), src: { 'index.ts': 'export const right = 1' } as Record<string, string> },
    conventions: {
      'package.json': JSON.stringify({
        name: '@concordat/conventions',
        floor: 3,
        dependencies: { '@concordat/left': 'workspace:^', '@concordat/right': 'workspace:^' }
      }),
      src: { 'index.ts': "import { left } from '@concordat/left'\nexport { right } from '@concordat/right'" } as Record<string, string>
    },
    store: {
      'package.json': JSON.stringify({ name: '@concordat/store', floor: 3, peerDependencies: { '@concordat/left': 'workspace:^' } }),
      src: { 'index.ts': "import type { left } from '@concordat/left'" } as Record<string, string>
    },
    kit: { 'package.json': JSON.stringify({ name: '@concordat/kit', floor: 'apart' }), src: { 'index.ts': 'export const kit = 1' } }
  },
  examples: {
    shop: {
      'package.json': JSON.stringify({ name: 'shop', dependencies: { '@concordat/conventions': '*', '@concordat/kit': '*' } }),
      src: { 'main.ts': "import '@concordat/conventions'" },
      test: { 'kit.test.ts': "import '@concordat/kit'" }
    }
  }
})

type House = ReturnType<typeof rightHouse>

/** Builds the valid workspace with one change, and returns the violations. */
function wrongWith(t: Test, change: (house: House) => void) {
  const house = rightHouse()
  change(house)
  return violationsOf(t.testdir(house)).map(({ where, rule, mend }) => `${where} ${rule}. ${mend}`)
}

t.test('a workspace whose packages import only from lower layers is valid', async (t) => {
  t.strictSame(
    wrongWith(t, () => {}),
    []
  )
})

const wrongs: [title: string, change: (house: House) => void, said: RegExp][] = [
  [
    'an import from a higher layer',
    (h) => void (h.packages.left.src['up.ts'] = "import '@concordat/conventions'"),
    /^packages\/left\/src\/up\.ts:1 has a dependency on a higher layer: it imports @concordat\/conventions \(layer 3\)\. Layer 2 may depend only on lower layers/
  ],
  [
    'an import from the same layer',
    (h) => void (h.packages.left.src['side.ts'] = "\nimport { right } from '@concordat/right'"),
    /left\/src\/side\.ts:2 has a dependency on its own layer: it imports @concordat\/right/
  ],
  [
    'a type-only import from the same layer',
    (h) => void (h.packages.left.src['side.ts'] = "import type { right } from '@concordat/right'"),
    /has a dependency on its own layer: it imports types of @concordat\/right/
  ],
  [
    'an import() type from the same layer',
    (h) => void (h.packages.left.src['side.ts'] = "export type R = import('@concordat/right').R"),
    /dependency on its own layer: it imports types of/
  ],
  [
    'a dynamic import from the same layer',
    (h) => void (h.packages.left.src['side.ts'] = "await import('@concordat/right')"),
    /dependency on its own layer: it imports @concordat\/right/
  ],
  [
    'an export from the same layer',
    (h) => void (h.packages.left.src['side.ts'] = "export * from '@concordat/right'"),
    /has a dependency on its own layer/
  ],
  [
    'a reference to the same layer',
    (h) => void (h.packages.left.src['side.ts'] = '/// <reference types="@concordat/right" preserve="true" />'),
    /has a dependency on its own layer/
  ],
  [
    'an import from the same layer in a test',
    (h) => void (h.packages.left.test['both.test.ts'] = "import '@concordat/right'"),
    /left\/test\/both\.test\.ts:1 has a dependency on its own layer.*packages\/conventions\/test/
  ],
  [
    'a devDependency on the same layer',
    (h) => void (h.packages.left['package.json'] = plugin('left', { devDependencies: { '@concordat/right': 'workspace:^' } })),
    /left\/package\.json has a dependency on its own layer: it has @concordat\/right in devDependencies/
  ],
  [
    'an undeclared package',
    (h) => void (h.packages.left.src['more.ts'] = "import 'lodash/get'"),
    /imports lodash\/get, which its package\.json does not declare\. Add lodash to dependencies/
  ],
  [
    'a development tool in src',
    (h) => void (h.packages.left.src['more.ts'] = "import 'tap'"),
    /imports tap, which its package\.json does not declare/
  ],
  [
    'its own entry point',
    (h) => void (h.packages.left.src['more.ts'] = "import { left } from './index.ts'"),
    /more\.ts:1 imports the entry point of its own package, \.\/index\.ts\. Import the file that contains/
  ],
  [
    'its own name in src',
    (h) => void (h.packages.left.src['more.ts'] = "import type { left } from '@concordat/left'"),
    /imports the entry point of its own package, @concordat\/left/
  ],
  [
    'a path out of the package',
    (h) => void (h.packages.left.src['more.ts'] = "import '../../right/src/index.ts'"),
    /which is outside its package\. Import the other package by its name/
  ],
  [
    'an import cycle, types included',
    (h) => {
      h.packages.left.src['a.ts'] = "import type { B } from './b.ts'"
      h.packages.left.src['b.ts'] = "import { a } from './a.ts'"
    },
    /left\/src\/a\.ts is part of an import cycle: src\/a\.ts → src\/b\.ts → src\/a\.ts\. Move the code that both need/
  ],
  [
    'an undescriptive name',
    (h) => void (h.packages.left.src['utils.ts'] = ''),
    /left\/src\/utils\.ts has the undescriptive name "utils\.ts"/
  ],
  [
    'an undescriptive test name',
    (h) => void (h.packages.left.test['common.test.ts'] = ''),
    /has the undescriptive name "common\.test\.ts"/
  ],
  [
    'a package of layer 1 with a dependency',
    (h) =>
      void (h.packages.ground['package.json'] = JSON.stringify({
        name: '@concordat/ground',
        floor: 1,
        dependencies: { x: '1' },
        peerDependencies: { fastify: '^5' }
      })),
    /ground\/package\.json is on layer 1 and depends on x/
  ],
  [
    'a package of layer 1 that runs Fastify',
    (h) => void (h.packages.ground.src['more.ts'] = "import { type FastifyRequest } from 'fastify'"),
    /layer 1 and imports fastify at run time\. Use import type/
  ],
  [
    'a package of layer 1 with more than 200 lines of code',
    (h) => void (h.packages.ground.src['long.ts'] = '// why\n'.repeat(300) + 'void 0\n'.repeat(200)),
    /ground\/src is on layer 1 and has 203 lines of code in src, more than 200/
  ],
  [
    'a store that runs a plugin',
    (h) => void (h.packages.store.src['more.ts'] = "import { left } from '@concordat/left'"),
    /at run time, and only @concordat\/conventions registers plugins/
  ],
  [
    'a separate kit that imports a package',
    (h) => void ((h.packages.kit.src as Record<string, string>)['more.ts'] = "import '@concordat/ground'"),
    /has a dependency, but its package is separate: it imports @concordat\/ground.*Use HTTP/
  ],
  [
    'a package that depends on the separate kit',
    (h) => void (h.packages.left.src['more.ts'] = "import '@concordat/kit'"),
    /has a dependency on a higher layer: it imports @concordat\/kit \(layer apart\)/
  ],
  [
    'an example that depends on another example',
    (h) =>
      void ((h.examples as Record<string, object>)['stall'] = {
        'package.json': JSON.stringify({ name: 'stall', dependencies: { shop: '*' } })
      }),
    /examples\/stall\/package\.json has a dependency on its own layer: it has shop in dependencies/
  ],
  [
    'a package without a layer',
    (h) => void (h.packages.right['package.json'] = JSON.stringify({ name: '@concordat/right' })),
    /right\/package\.json does not state its layer\. Set "floor"/
  ]
]

for (const [title, change, said] of wrongs) {
  t.test(`${title} is refused, with the file, the rule and the fix`, async (t) => {
    const found = wrongWith(t, change)
    t.ok(
      found.some((line) => said.test(line)),
      found.join('\n') || 'nothing was refused'
    )
  })
}

t.test('a contract suite does not count against the line limit of layer 1', async (t) => {
  t.strictSame(
    wrongWith(t, (h) => void (h.packages.ground.src['store-contract.ts'] = '//\n'.repeat(300))),
    []
  )
})

t.test('the list of layers is written between its markers, and an outdated list is found', async (t) => {
  const root = t.testdir(rightHouse())
  t.match(houseIsOld(root), /pnpm floors --write/)
  writeHouse(root)
  t.equal(houseIsOld(root), undefined)
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
  t.match(
    page,
    /^# House\n<!-- house:start -->\n```text\n4 {6}shop\n3 {6}conventions {2}store\n2 {6}left {2}right\n1 {6}ground\napart {2}kit\n```/
  )
  t.match(page, '| [conventions](../packages/conventions) | 3 | left, right |\n')
  t.match(page, '| [kit](../packages/kit) | apart | – |\n')
  t.match(page, '| [store](../packages/store) | 3 | left |\n<!-- house:end -->\nEnd\n')
})

t.test('a page without markers is reported', async (t) => {
  const root = t.testdir({ ...rightHouse(), docs: {} })
  writeHouse(root)
  t.match(houseIsOld(root), /does not contain the list of layers/)
})

t.test('a long layer is written on several lines', async (t) => {
  const packages = Object.fromEntries(
    Array.from({ length: 9 }, (_, n) => [`a-rather-long-name-${n}`, { 'package.json': plugin(`a-rather-long-name-${n}`) }])
  )
  const lines = drawHouse(t.testdir({ packages })).split('\n')
  t.match(lines[1], /^2 {6}a-rather-long-name-0 {2}a-rather-long-name-1/)
  t.match(lines[2], /^ {7}a-rather-long-name-3/)
})
