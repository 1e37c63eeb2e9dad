import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { violationsOf } from '../check-layers.ts'
import { outOfDate, writeFiles } from '../generated.ts'
import { drawLayers, layersPage } from '../layers.ts'

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
  'docs/architecture.md': '# Workspace\n<!-- layers:start -->\n<!-- layers:end -->\nEnd\n',
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

function violationsIn(t: Test, files: Readonly<Record<string, string>>) {
  return violationsOf(workspace(t, files)).map(({ where, rule, fix }) => `${where} ${rule}. ${fix}`)
}

t.test('a workspace whose packages import only from lower layers is valid', async (t) => {
  t.strictSame(violationsIn(t, {}), [])
})

const left = 'packages/left/src/more.ts'
const wrongs: [title: string, file: string, text: string, said: RegExp][] = [
  [
    'an import from a higher layer',
    left,
    "import '@concordat/conventions'",
    /^packages\/left\/src\/more\.ts is on layer 2 and imports @.* of layer 3\. A/
  ],
  ['a type import from its own layer', left, "import type { right } from '@concordat/right'", /imports @concordat\/right of layer 2/],
  ['an import() type from its own layer', left, "export type R = import('@concordat/right').R", /imports @concordat\/right of layer 2/],
  ['a dynamic import from its own layer', left, "await import('@concordat/right')", /imports @concordat\/right of layer 2/],
  ['an export from its own layer', left, "export * from '@concordat/right'", /imports @concordat\/right of layer 2/],
  [
    'a test of a higher layer',
    'packages/left/test/a.test.ts',
    "import '@concordat/conventions'",
    /imports @.* of layer 3.*packages\/conventions\/test/
  ],
  [
    'a devDependency on its own layer',
    'packages/left/package.json',
    plugin('left', { devDependencies: { '@concordat/right': '*' } }),
    /depends on @concordat\/right of layer 2/
  ],
  [
    'an undeclared package',
    left,
    "import 'lodash/get'",
    /imports lodash\/get, which its package\.json does not declare\. Add lodash to dependencies/
  ],
  ['a development tool in src', left, "import 'tap'", /imports tap, which its package\.json does not declare/],
  [
    'its own entry point',
    left,
    "import { left } from './index.ts'",
    /imports the entry point of its own package, \.\/index\.ts\. Import the file/
  ],
  [
    'its own name in src',
    left,
    "import type { left } from '@concordat/left'",
    /imports the entry point of its own package, @concordat\/left/
  ],
  [
    'a path out of the package',
    left,
    "import '../../right/src/a.ts'",
    /which is outside its package\. Import the other package by its name/
  ],
  ['an undescriptive name', 'packages/left/test/common.test.ts', '', /has the undescriptive name "common\.test\.ts"/],
  [
    'a dependency of layer 0',
    'packages/ground/package.json',
    '{ "name": "@concordat/ground", "layer": 0, "dependencies": { "x": "1" } }',
    /is on layer 0 and depends on x/
  ],
  [
    'more than 400 lines of code on layer 0',
    'packages/ground/src/long.ts',
    '// why\n'.repeat(300) + 'void 0\n'.repeat(400),
    /ground\/src is on layer 0 and has 402 lines/
  ],
  [
    'an example that depends on an example',
    'examples/stall/package.json',
    '{ "name": "stall", "dependencies": { "shop": "*" } }',
    /depends on shop of layer 5/
  ],
  [
    'a package without a layer',
    'packages/right/package.json',
    '{ "name": "@concordat/right" }',
    /right\/package\.json does not state its layer\. Set "layer"/
  ]
]

for (const [title, file, text, said] of wrongs)
  t.test(`${title} is refused, with the file, the rule and the fix`, async (t) => {
    const found = violationsIn(t, { [file]: text })
    t.ok(
      found.some((line) => said.test(line)),
      found.join('\n') || 'nothing was refused'
    )
  })

t.test('an import cycle of folders is refused, types included', async (t) => {
  const files = {
    'packages/left/src/a.ts': "import { b } from './deep/b.ts'",
    'packages/left/src/deep/b.ts': '',
    'packages/left/src/deep/c.ts': "import type { A } from '../a.ts'"
  }
  t.match(violationsIn(t, files), [
    /left\/src\/(a\.ts|deep) is part of an import cycle: .*src\/a\.ts → src\/deep.*\. Move the code that both need/
  ])
})

t.test('the entry point for tests does not count against the line limit of layer 0', async (t) => {
  t.strictSame(violationsIn(t, { 'packages/ground/src/testing/store-contract.ts': 'export {}\n'.repeat(400) }), [])
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
    t.strictSame(violationsIn(t, { 'packages/left/test/slow.test.ts': source }), [
      'packages/left/test/slow.test.ts:2 waits for a fixed time. Wait for the condition, for example with until() of the test harness.'
    ])
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
  t.strictSame(violationsIn(t, { 'packages/left/test/patient.test.ts': source }), [])
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
    t.strictSame(violationsIn(t, { 'packages/left/src/deep.ts': `\n${source}` }), [
      `packages/left/src/deep.ts:2 is below the public API of Fastify and Node.js: ${use}. Use a documented interface, or allow it in scripts/below-public-api.ts, with a row in decision 143.`
    ])
  })
}

t.test('two printed routers may be compared, because neither is read', async (t) => {
  const source = 'const isEmpty = app.printRoutes() === app.printRoutes(none)'
  t.strictSame(violationsIn(t, { 'packages/left/src/own.ts': source }), [])
})

t.test('a class may have methods and events of its own, and symbols that are registered by the suite', async (t) => {
  const source =
    "this.emit('close'); this.end = end; events.emit('revoked'); Symbol.for('concordat.x'); Reflect.get(row, key); const close = stop"
  t.strictSame(violationsIn(t, { 'packages/left/src/own.ts': source }), [])
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

t.test('the list of layers is written between its markers, on several lines if it is long, and an outdated list is found', async (t) => {
  const names = Array.from({ length: 9 }, (_, n) => `a-rather-long-name-${n}`)
  const root = workspace(t, Object.fromEntries(names.map((name) => [`packages/${name}/package.json`, plugin(name)])))
  t.strictSame(outOfDate(root, layersPage(root)), ['docs/architecture.md'])
  writeFiles(root, layersPage(root))
  t.strictSame(outOfDate(root, layersPage(root)), [])
  const page = layersPage(root).get('docs/architecture.md')
  t.match(
    page,
    /^# Workspace\n<!-- layers:start -->\n```text\n5 {6}shop\n3 {6}conventions\n2 {6}a-rather-long-name-0 {2}a-rather-long-name-1/
  )
  t.match(page, '| [conventions](../packages/conventions) | 3 | left, right |\n')
  t.match(page, '| [shop](../examples/shop) | 5 | conventions |\n')
  t.match(drawLayers(root).split('\n')[4], /^ {7}a-rather-long-name-3/)
  t.throws(() => layersPage(workspace(t, { 'docs/architecture.md': '' })), /does not contain the list of layers/)
})
