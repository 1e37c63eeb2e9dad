import t, { type Test } from 'tap'
import { oldReports, reportOf, reportsOf } from '../api-report.ts'
import { readMembers } from '../workspace.ts'

const manifest = JSON.stringify({
  name: '@concordat/one',
  floor: 1,
  exports: { '.': { types: './dist/index.d.ts' }, './deep': { types: './dist/deep.d.ts' }, './package.json': './package.json' }
})
const dist = {
  'index.d.ts':
    "export { one, one as uno } from './one.js';\nexport { default } from './plugin.ts';\nexport * from './star.ts';\nexport { far } from 'far';\n//# sourceMappingURL=index.d.ts.map",
  'one.d.ts':
    "import type { Shape as Form } from './shape.ts';\n/** Makes one. */\nexport declare function one(form: Form): void;\nexport declare function one(): void;\nexport declare function inner(): void;\n",
  'shape.d.ts':
    'export interface Shape extends Base {\n    readonly size: Size;\n}\ninterface Base {\n}\ntype Size = 1;\ntype Unused = 2;\n',
  'plugin.d.ts':
    "import { type inner } from './one.ts';\ndeclare module 'fastify' {\n    interface FastifyRequest {\n        one: 1;\n    }\n}\ndeclare const plugin: 1;\nexport default plugin;\n",
  'star.d.ts': "export * from './shape.ts';\nexport type * from 'elsewhere';\nexport declare class Star {\n}\n",
  'deep.d.ts': "import { type Deepest } from './deepest.ts';\nexport declare const deep: Deepest;\n",
  'deepest.d.ts': 'export type Deepest = typeof depth;\ndeclare const depth: 1;\n'
}

function report(t: Test, changes: object = {}) {
  const root = t.testdir({ packages: { one: { 'package.json': manifest, dist: { ...dist, ...changes } } } })
  return reportsOf(root).get('docs/api/one.md') ?? ''
}

t.test('a report has what each entry point exports, by name, and what that refers to', async (t) => {
  t.equal(
    report(t),
    `# @concordat/one: the public API

Made by \`pnpm api-report --write\`; not to be edited.

## @concordat/one

\`\`\`ts
export * from 'elsewhere'
interface Shape extends Base {
    readonly size: Size;
}
declare class Star {
}
declare const plugin: 1;
export { plugin as default }
export { far } from 'far'
/** Makes one. */
declare function one(form: Form): void;
declare function one(): void;
/** Makes one. */
declare function one(form: Form): void;
declare function one(): void;
export { one as uno }
\`\`\`

## @concordat/one/deep

\`\`\`ts
declare const deep: Deepest;
\`\`\`

## Added to other packages

\`\`\`ts
declare module 'fastify' {
    interface FastifyRequest {
        one: 1;
    }
}
\`\`\`

## Referred to, not exported

\`\`\`ts
interface Base {
}
type Deepest = typeof depth;
type Size = 1;
declare const depth: 1;
\`\`\`
`
  )
})

t.test('a change of what is not exported changes no report', async (t) => {
  const changed = { 'one.d.ts': `${dist['one.d.ts']}export declare const another: 1;\n`, 'inner.d.ts': 'export declare const inner: 2;\n' }
  t.equal(report(t, changed), report(t))
})

t.test('a package that is not built is an error that says how to build it', async (t) => {
  const root = t.testdir({ packages: { one: { 'package.json': manifest } } })
  t.throws(() => readMembers(root).map((member) => reportOf(root, member)), {
    message: /packages\/one\/dist\/index\.d\.ts is missing\. Run: pnpm build/
  })
})

t.test('a report that is missing, outdated, or of a removed package is named', async (t) => {
  const docs = { api: { 'gone.md': '', 'one.md': 'old' } }
  const root = t.testdir({ packages: { one: { 'package.json': manifest, dist } }, docs })
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
