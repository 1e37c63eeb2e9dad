import t, { type Test } from 'tap'
import { violationsOf } from '../check-layers.ts'
import { outOfDate, writeFiles } from '../generated.ts'
import { drawLayers, layersPage } from '../layers.ts'

const plugin = (name: string, more: object = {}) =>
  JSON.stringify({
    name: `@concordat/${name}`,
    layer: 2,
    dependencies: { '@concordat/ground': 'workspace:^', 'fastify-plugin': '^6' },
    peerDependencies: { fastify: '^5' },
    ...more
  })

/** A valid workspace: a package of layer 1, two plugins, a preset, a separate kit, an example. */
const validWorkspace = () => ({
  'package.json': JSON.stringify({ devDependencies: { tap: '*' } }),
  docs: { 'architecture.md': '# Workspace\n<!-- layers:start -->\n<!-- layers:end -->\nEnd\n' },
  packages: {
    ground: {
      'package.json': JSON.stringify({ name: '@concordat/ground', layer: 1, peerDependencies: { fastify: '^5' } }),
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
        layer: 3,
        dependencies: { '@concordat/left': 'workspace:^', '@concordat/right': 'workspace:^' }
      }),
      src: { 'index.ts': "import { left } from '@concordat/left'\nexport { right } from '@concordat/right'" } as Record<string, string>
    },
    store: {
      'package.json': JSON.stringify({ name: '@concordat/store', layer: 3, peerDependencies: { '@concordat/left': 'workspace:^' } }),
      src: { 'index.ts': "import type { left } from '@concordat/left'" } as Record<string, string>
    },
    kit: { 'package.json': JSON.stringify({ name: '@concordat/kit', layer: 'apart' }), src: { 'index.ts': 'export const kit = 1' } }
  },
  examples: {
    shop: {
      'package.json': JSON.stringify({ name: 'shop', dependencies: { '@concordat/conventions': '*', '@concordat/kit': '*' } }),
      src: { 'main.ts': "import '@concordat/conventions'" },
      test: { 'kit.test.ts': "import '@concordat/kit'" }
    }
  }
})

type Workspace = ReturnType<typeof validWorkspace>

/** Builds the valid workspace with one change, and returns the violations. */
function wrongWith(t: Test, change: (workspace: Workspace) => void) {
  const workspace = validWorkspace()
  change(workspace)
  return violationsOf(t.testdir(workspace)).map(({ where, rule, fix }) => `${where} ${rule}. ${fix}`)
}

t.test('a workspace whose packages import only from lower layers is valid', async (t) => {
  t.strictSame(
    wrongWith(t, () => {}),
    []
  )
})

const wrongs: [title: string, change: (workspace: Workspace) => void, said: RegExp][] = [
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
    'an import cycle of folders',
    (h) => {
      h.packages.left.src['a.ts'] = "import { b } from './deep/b.ts'"
      Object.assign(h.packages.left.src, { deep: { 'b.ts': '', 'c.ts': "import type { A } from '../a.ts'" } })
    },
    /left\/src\/(a\.ts|deep) is part of an import cycle: .*src\/a\.ts → src\/deep.*\. Move the code that both need/
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
        layer: 1,
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
    'a package of layer 1 with more than 400 lines of code',
    (h) => void (h.packages.ground.src['long.ts'] = '// why\n'.repeat(300) + 'void 0\n'.repeat(400)),
    /ground\/src is on layer 1 and has 403 lines of code, more than 400/
  ],
  [
    'a store that registers a plugin',
    (h) => void (h.packages.store.src['more.ts'] = "import left from '@concordat/left'"),
    /at run time, and only @concordat\/conventions registers plugins/
  ],
  [
    'a store that registers a plugin under another name',
    (h) => void (h.packages.store.src['more.ts'] = "import { default as left, other } from '@concordat/left'"),
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
    /right\/package\.json does not state its layer\. Set "layer"/
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

const long = 'export {}\n'.repeat(400)

t.test('the entry point for tests does not count against the line limit of layer 1', async (t) => {
  const testing = { 'index.ts': '', 'store-contract.ts': long }
  t.strictSame(
    wrongWith(t, (h) => void Object.assign(h.packages.ground.src, { testing })),
    []
  )
})

t.test('a contract beside the other sources counts against the line limit of layer 1', async (t) => {
  const found = wrongWith(t, (h) => void (h.packages.ground.src['store-contract.ts'] = long))
  t.match(found, [/ground\/src is on layer 1 and has 403 lines of code, more than 400\. Move out the code/])
})

t.test('a package of layer 3 may run another entry point of a plugin', async (t) => {
  t.strictSame(
    wrongWith(t, (h) => void (h.packages.store.src['more.ts'] = "import { compare } from '@concordat/left/compare'")),
    []
  )
})

t.test('an import cycle of the scripts is refused', async (t) => {
  const scripts = { 'a.ts': "import type { B } from './b.ts'", test: { 'b.test.ts': "import '../a.ts'" }, 'b.ts': "import './a.ts'" }
  t.match(violationsOf(t.testdir({ ...validWorkspace(), scripts })), [
    { where: 'scripts/a.ts', rule: 'is part of an import cycle: a.ts → b.ts → a.ts' }
  ])
})

const fixedWaits: [title: string, source: string][] = [
  ['a delay', "import { setTimeout as later } from 'node:timers/promises'\nawait later(50)"],
  ['a delay by a function of the file', '\nawait sleep(2 * 1000)'],
  ['a promise with only a timer', '\nawait new Promise((resolve) => setTimeout(resolve, 50))'],
  ['a promise with only a timer in a block', '\nawait new Promise((resolve) => { setTimeout(resolve, 50) })'],
  ['a delay for each of several values', '\nfor (const one of list) await delay(50)'],
  ['a delay in a function that a loop defines', '\nfor (;;) add(async () => delay(50))']
]

for (const [title, source] of fixedWaits) {
  t.test(`a test that waits for a fixed time is refused: ${title}`, async (t) => {
    t.strictSame(
      wrongWith(t, (h) => void (h.packages.left.test['slow.test.ts'] = source)),
      ['packages/left/test/slow.test.ts:2 waits for a fixed time. Wait for the condition, for example with until() of the test harness.']
    )
  })
}

t.test('a test may wait between two checks of a condition, for a computed time, and with a deadline', async (t) => {
  const source = [
    "import { setTimeout as delay, setImmediate } from 'node:timers/promises'",
    'while (!isDone()) await delay(50)',
    'do await delay(50); while (!isDone())',
    'for (;;) { if (isDone()) break; await new Promise((resolve) => setTimeout(resolve, 50)) }',
    'await delay(seed * 20)',
    'await setImmediate(1)',
    'await new Promise((resolve) => { const timer = setTimeout(resolve, 50); socket.on("end", () => clearTimeout(timer)) })',
    'await new Promise(executor)',
    'server.get("/", () => void setTimeout(reply, 50))'
  ].join('\n')
  t.strictSame(
    wrongWith(t, (h) => void (h.packages.left.test['patient.test.ts'] = source)),
    []
  )
})

t.test('a file that no longer waits for a fixed time loses its exception', async (t) => {
  const root = t.testdir({
    'package.json': '{}',
    packages: { 'rate-limiting': { src: { testing: { 'store-contract.ts': 'export {}' } } } }
  })
  t.match(violationsOf(root), [
    { where: 'packages/rate-limiting/src/testing/store-contract.ts', fix: 'Remove its exception from scripts/fixed-waits.ts.' }
  ])
})

const privateUses: [source: string, use: string][] = [
  ["server.removeAllListeners('request')", 'removeAllListeners()'],
  ['const [serve] = server.listeners(event)', 'listeners()'],
  ['parse(app.printRoutes())', 'printRoutes()'],
  ["const isEmpty = app.printRoutes() === '(empty tree)'", 'printRoutes()'],
  ['Object.getOwnPropertySymbols(app)', 'getOwnPropertySymbols()'],
  ["request.emit('close')", "emit('close')"],
  ["plugin[Symbol.for('plugin-meta')]", "Symbol.for('plugin-meta')"],
  ["Reflect.get(socket, '_handle')", "'_handle'"],
  ['app.server.close = closeAll', 'close ='],
  ['reply.raw.writeHead = () => reply.raw', 'writeHead =']
]

for (const [source, use] of privateUses) {
  t.test(`what is below the public API of Fastify and Node.js is refused: ${source}`, async (t) => {
    t.strictSame(
      wrongWith(t, (h) => void (h.packages.left.src['deep.ts'] = `\n${source}`)),
      [
        `packages/left/src/deep.ts:2 is below the public API of Fastify and Node.js: ${use}. Use a documented interface, or allow it in scripts/below-public-api.ts, with a row in decision 143.`
      ]
    )
  })
}

t.test('two printed routers may be compared, because neither is read', async (t) => {
  t.strictSame(
    wrongWith(t, (h) => void (h.packages.left.src['own.ts'] = 'const isEmpty = app.printRoutes() === app.printRoutes(none)')),
    []
  )
})

t.test('a class may have methods and events of its own, and symbols that are registered by the suite', async (t) => {
  const source =
    "this.emit('close'); this.end = end; events.emit('revoked'); Symbol.for('concordat.x'); Reflect.get(row, key); const close = stop"
  t.strictSame(
    wrongWith(t, (h) => void (h.packages.left.src['own.ts'] = source)),
    []
  )
})

t.test('a file that is no longer below the public API loses its entry', async (t) => {
  const root = t.testdir({
    'package.json': '{}',
    packages: { conventions: { src: { 'boot-checks.ts': 'app.register = registerOthers' } } }
  })
  t.match(violationsOf(root), [
    {
      where: 'packages/conventions/src/boot-checks.ts',
      rule: "no longer has Symbol.for('plugin-meta')",
      fix: 'Remove it from scripts/below-public-api.ts and decision 143.'
    }
  ])
})

t.test('the list of layers is written between its markers, and an outdated list is found', async (t) => {
  const root = t.testdir(validWorkspace())
  t.strictSame(outOfDate(root, layersPage(root)), ['docs/architecture.md'])
  writeFiles(root, layersPage(root))
  t.strictSame(outOfDate(root, layersPage(root)), [])
  const page = layersPage(root).get('docs/architecture.md')
  t.match(
    page,
    /^# Workspace\n<!-- layers:start -->\n```text\n5 {6}shop\n3 {6}conventions {2}store\n2 {6}left {2}right\n1 {6}ground\napart {2}kit\n```/
  )
  t.match(page, '| [conventions](../packages/conventions) | 3 | left, right |\n')
  t.match(page, '| [kit](../packages/kit) | apart | – |\n')
  t.match(page, '| [store](../packages/store) | 3 | left |\n<!-- layers:end -->\nEnd\n')
})

t.test('a page without markers is reported', async (t) => {
  const root = t.testdir({ ...validWorkspace(), docs: {} })
  t.throws(() => layersPage(root), /does not contain the list of layers/)
})

t.test('a long layer is written on several lines', async (t) => {
  const packages = Object.fromEntries(
    Array.from({ length: 9 }, (_, n) => [`a-rather-long-name-${n}`, { 'package.json': plugin(`a-rather-long-name-${n}`) }])
  )
  const lines = drawLayers(t.testdir({ packages })).split('\n')
  t.match(lines[1], /^2 {6}a-rather-long-name-0 {2}a-rather-long-name-1/)
  t.match(lines[2], /^ {7}a-rather-long-name-3/)
})
