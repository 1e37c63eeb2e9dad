import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { concordat, run } from '@concordat/test-harness/generated-project'
import t, { type Test } from 'tap'

const own = join(import.meta.dirname, '..')

// Two made-up releases. The second one is that of the command.
const releases = [
  {
    package: '@concordat/postgres',
    version: '1.5.0',
    exports: { '@concordat/postgres/rows': { found: 'foundRow', statementsOn: 'statementsIn', Statements: 'RowStatements' } },
    manual: ['Add an index to the table notes.']
  },
  {
    package: '@concordat/conventions',
    version: '2.0.0',
    modules: { '@concordat/postgres/rows': '@concordat/postgres/statements', '@concordat/former': '@concordat/present' },
    options: {
      '@concordat/conventions': {
        default: { 'idempotency.waitSeconds': 'maxWaitSeconds', stores: 'storage' },
        serverOptions: { trustProxy: 'trustedProxies' }
      }
    }
  },
  { package: '@concordat/jobs', version: '3.0.0', modules: { '@concordat/jobs': '@concordat/unreleased' } }
]
const versions = {
  '@concordat/postgres': '^2.0.0',
  '@concordat/conventions': '^2.0.0',
  '@concordat/present': '^1.0.0',
  '@concordat/jobs': '^2.0.0',
  concordat: '^2.0.0'
}

// The command reads the tables of its own release; these take their place.
const preload = `
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { readFileSync } = fs
const tables = { 'releases.json': ${JSON.stringify(JSON.stringify(releases))}, 'dist/versions.json': ${JSON.stringify(JSON.stringify(versions))} }
fs.readFileSync = (path, ...rest) => {
  const name = Object.keys(tables).find((one) => String(path).endsWith('/packages/concordat/' + one))
  return name === undefined ? readFileSync(path, ...rest) : tables[name]
}
syncBuiltinESMExports()`

/** Returns the command with made-up releases, and a project with these files. */
function place(t: Test, files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'concordat-upgrade-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'preload.mjs'), preload)
  const project = join(folder, 'project')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  const command = ['--import', join(folder, 'preload.mjs'), '--conditions=@concordat/source', join(own, 'src/command.ts'), 'upgrade']
  const upgrade = (...flags: readonly string[]) => run(project, [...command, ...flags])
  return { upgrade, read: (path: string) => readFileSync(join(project, path), 'utf8') }
}

const manifest = {
  name: 'shop',
  dependencies: { '@concordat/conventions': '^1.2.0', '@concordat/former': '~1.0.0', '@concordat/postgres': '^1.0.0', fastify: '^5.0.0' },
  devDependencies: { '@concordat/jobs': 'workspace:^', concordat: '1.0.0' }
}

const cases: Readonly<Record<string, readonly [before: string, after: string]>> = {
  'an export, where it is used, and nothing else of this name': [
    `import { found, statementsOn } from '@concordat/postgres/rows'
const text = 'found' // found
export const all = [found(1), { found }, { found: found }, text.found, row[found]]
export { found }
class Row { found = statementsOn(found) }
`,
    `import { foundRow, statementsIn } from '@concordat/postgres/statements'
const text = 'found' // found
export const all = [foundRow(1), { found: foundRow }, { found: foundRow }, text.found, row[foundRow]]
export { foundRow as found }
class Row { found = statementsIn(foundRow) }
`
  ],
  'a type, an alias and another form of import and export': [
    `import { found as row, type Statements } from "@concordat/postgres/rows"
import type { Job } from '@concordat/former/jobs'
export { found, statementsOn as on } from '@concordat/postgres/rows'
export * from '@concordat/former'
const later = await import('@concordat/postgres/rows')
type Later = import("@concordat/former").Job
export const one = (rows: Statements) => row(rows)
`,
    `import { foundRow as row, type RowStatements } from "@concordat/postgres/statements"
import type { Job } from '@concordat/present/jobs'
export { foundRow as found, statementsIn as on } from '@concordat/postgres/statements'
export * from '@concordat/present'
const later = await import('@concordat/postgres/statements')
type Later = import("@concordat/present").Job
export const one = (rows: RowStatements) => row(rows)
`
  ],
  'an export whose old or new name is declared in the file': [
    `import { found, statementsOn } from '@concordat/postgres/rows'
export const of = ({ found }: Row, [a, ...statementsIn]: string[]) => statementsOn(found)
`,
    `import { foundRow as found, statementsIn as statementsOn } from '@concordat/postgres/statements'
export const of = ({ found }: Row, [a, ...statementsIn]: string[]) => statementsOn(found)
`
  ],
  'options of a plugin and of a function, in all forms of keys': [
    `import conventions, { serverOptions } from '@concordat/conventions'
const app = Fastify(serverOptions({ trustProxy }))
await app.register(conventions, { idempotency: { waitSeconds: 2 }, 'stores': { waitSeconds: 1 } })
await app.register(other, { stores: 1 })
`,
    `import conventions, { serverOptions } from '@concordat/conventions'
const app = Fastify(serverOptions({ trustedProxies: trustProxy }))
await app.register(conventions, { idempotency: { maxWaitSeconds: 2 }, storage: { waitSeconds: 1 } })
await app.register(other, { stores: 1 })
`
  ],
  'the same names of other packages stay': [
    `import { found } from './rows.ts'\nexport const text = '@concordat/postgres/rows'\nexport const one = found()\n`,
    `import { found } from './rows.ts'\nexport const text = '@concordat/postgres/rows'\nexport const one = found()\n`
  ]
}

t.test('versions and what releases renamed are changed; --dry-run changes nothing', async (t) => {
  const names = Object.keys(cases)
  const sources = Object.values(cases).map(([before], index) => [`src/${index}.ts`, before] as const)
  const files = {
    ...Object.fromEntries(sources),
    'node_modules/a/index.ts': sources[0]?.[1] ?? '',
    'package.json': JSON.stringify(manifest, null, 4)
  }
  const { upgrade, read } = place(t, files)
  const dry = await upgrade('--dry-run')
  t.match(dry, { code: 0, err: '', out: /^Would change: package\.json, src\/0\.ts, src\/1\.ts, src\/2\.ts, src\/3\.ts\. Left to do:\n/ })
  for (const [path, text] of Object.entries(files)) t.equal(read(path), text, path)

  const done = await upgrade()
  t.strictSame(done, { ...dry, out: dry.out.replace('Would change', 'Changed') })
  t.match(
    done.out,
    'Left to do:\n- The version of @concordat/jobs in package.json is workspace:^. Set it to ^2.0.0 if you want this release.\n- Run npm install, then the checks and tests of the project.\n- Add an index to the table notes.\n'
  )
  for (const [index, name] of names.entries()) t.equal(read(`src/${index}.ts`), cases[name]?.[1], name)
  t.equal(read('node_modules/a/index.ts'), files['node_modules/a/index.ts'])
  t.equal(
    read('package.json'),
    `${JSON.stringify(
      {
        name: 'shop',
        dependencies: {
          '@concordat/conventions': '^2.0.0',
          '@concordat/present': '^1.0.0',
          '@concordat/postgres': '^2.0.0',
          fastify: '^5.0.0'
        },
        devDependencies: { '@concordat/jobs': 'workspace:^', concordat: '^2.0.0' }
      },
      null,
      4
    )}\n`
  )
  const again = await upgrade()
  t.match(again, {
    code: 0,
    out: /^Nothing to change: the packages have the versions of this release\. Left to do:\n- The version of @concordat\/jobs .*\n$/
  })
})

t.test('what cannot be changed safely is listed', async (t) => {
  const { upgrade, read } = place(t, {
    'package.json': JSON.stringify(manifest),
    'src/all.ts': "import * as rows from '@concordat/postgres/rows'\nexport const one = rows.found()\n",
    'src/app.ts':
      "import conventions from '@concordat/conventions'\nawait app.register(conventions, { ...options })\nawait app.register(conventions, await read())\n",
    'src/wrong.ts': "import { found from '@concordat/postgres/rows'\n"
  })
  const { code, out } = await upgrade()
  t.equal(code, 0)
  for (const line of [
    'src/all.ts imports all of @concordat/postgres/rows as rows. Replace found by foundRow, statementsOn by statementsIn, Statements by RowStatements.',
    'src/app.ts passes options to conventions that are not written there. Rename stores to storage if they have it.',
    'src/app.ts passes options to conventions that are not written there. Rename idempotency.waitSeconds to maxWaitSeconds if they have it.',
    'src/wrong.ts cannot be parsed. Change it manually.'
  ])
    t.ok(out.includes(`\n- ${line}\n`), `${line}\n${out}`)
  t.equal(out.split('passes options to conventions').length, 3, 'each once')
  t.match(read('src/all.ts'), "from '@concordat/postgres/statements'")
})

t.test('this release renames nothing, and a folder without a project is refused in one line', async (t) => {
  const path = t.testdir({
    project: { 'package.json': JSON.stringify({ dependencies: { '@concordat/jobs': '^0.0.0' } }) },
    wrong: { 'package.json': '{' }
  })
  t.match(await concordat(join(path, 'project'), 'upgrade'), {
    code: 0,
    out: 'Nothing to change: the packages have the versions of this release.\n'
  })
  t.match(await concordat(path, 'upgrade'), {
    code: 2,
    out: '',
    err: 'There is no package.json here. Run the command in the folder of a project.\n'
  })
  t.match(await concordat(join(path, 'wrong'), 'upgrade'), { code: 2, out: '', err: /^package\.json cannot be read: .*Correct it\.\n$/ })
})
