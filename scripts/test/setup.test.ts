import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import t, { type Test } from 'tap'
import { importsOf, packageOf } from '../imports.ts'
import { run } from '../run.ts'
import { filesUnder, readMembers, repository } from '../workspace.ts'

// Records its arguments instead of installing, and fails while a file with the name failing exists.
const npx = `#!${process.execPath}
const { appendFileSync, existsSync, mkdirSync } = require('node:fs')
appendFileSync('calls', process.argv.slice(2).join(' ') + '\\n')
mkdirSync('node_modules', { recursive: true })
process.exitCode = existsSync('failing') ? 1 : 0
`

/** Creates a repository with setup.mjs, and an `npx` that installs nothing. */
function repositoryWithNpx(t: Test) {
  const root = t.testdir({
    'package.json': '{ "packageManager": "pnpm@12.0.1" }',
    'pnpm-lock.yaml': 'first',
    programs: { npx },
    scripts: {},
    docs: { '.vitepress': { 'pnpm-lock.yaml': 'first' } },
    packages: { links: { 'package.json': '{}' } },
    proofs: { 'test-harness': { 'package.json': '{}' } }
  })
  cpSync(join(repository, 'scripts/setup.mjs'), join(root, 'scripts/setup.mjs'))
  chmodSync(join(root, 'programs/npx'), 0o755)
  const env = { ...process.env, PATH: [join(root, 'programs'), process.env['PATH']].join(delimiter) }
  const calls = () => (existsSync(join(root, 'calls')) ? readFileSync(join(root, 'calls'), 'utf8').trim().split('\n') : [])
  /** Runs setup.mjs. Resolves to its exit code, its output and the calls of npx that it made. */
  const setup = async (...scope: readonly string[]) => setupWith([], ...scope)
  const setupWith = async (flags: readonly string[], ...scope: readonly string[]) => {
    const before = calls().length
    const { code, output } = await run('node', [...flags, 'scripts/setup.mjs', ...scope], { cwd: root, env })
    return { code, output, installs: calls().slice(before) }
  }
  return { root, setup, setupWith }
}

const everything = '--yes pnpm@12.0.1 install --frozen-lockfile --reporter=append-only'
const example = `${everything} --prod --filter=. --filter=orders-service... --trust-lockfile`

t.test('npm start installs the packages of the example, and npm test installs the rest', async (t) => {
  const { root, setup } = repositoryWithNpx(t)
  t.match(await setup('example'), { code: 0, output: 'Installing the packages of the example.\n', installs: [example] })
  t.strictSame(await setup('example'), { code: 0, output: '', installs: [] }, 'the second start installs nothing')
  mkdirSync(join(root, 'node_modules/fastify'))
  t.match(await setup(), { code: 0, output: 'Installing the packages of tests and checks.\n', installs: [everything] })
  t.ok(existsSync(join(root, 'node_modules/fastify')), 'a service that runs in the meantime keeps its packages')
  t.strictSame(await setup(), { code: 0, output: '', installs: [] }, 'the second run of tests installs nothing')
})

t.test('after an installation of all packages, npm start installs nothing', async (t) => {
  const { setup } = repositoryWithNpx(t)
  t.strictSame((await setup()).installs, [everything])
  t.strictSame((await setup('example')).installs, [])
  t.strictSame((await setup()).installs, [], 'it still counts as an installation of all packages')
})

t.test('npm run docs also installs the packages of the site, once for each lockfile', async (t) => {
  const { root, setup } = repositoryWithNpx(t)
  const site = '--yes pnpm@12.0.1 install --frozen-lockfile --reporter=append-only --ignore-workspace --ignore-scripts'
  const installsOfSite = () => readFileSync(join(root, 'docs/.vitepress/calls'), 'utf8').trim().split('\n')
  t.strictSame((await setup('docs')).installs, [example])
  t.strictSame(installsOfSite(), [site])
  t.strictSame(await setup('docs'), { code: 0, output: '', installs: [] }, 'the second start of the site installs nothing')
  await setup()
  t.strictSame(installsOfSite(), [site], 'tests install nothing of the site')
  writeFileSync(join(root, 'docs/.vitepress/pnpm-lock.yaml'), 'second')
  await setup('docs')
  t.strictSame(installsOfSite(), [site, site], 'a changed lockfile')
})

t.test('a changed lockfile or manifest causes a new installation from scratch', async (t) => {
  const { root, setup } = repositoryWithNpx(t)
  await setup()
  for (const file of ['pnpm-lock.yaml', 'package.json', 'packages/links/package.json', 'proofs/test-harness/package.json']) {
    const stale = ['node_modules/stale', 'packages/links/node_modules/stale', 'proofs/test-harness/node_modules/stale']
    for (const folder of stale) mkdirSync(join(root, folder), { recursive: true })
    writeFileSync(join(root, file), '{ "packageManager": "pnpm@12.0.1", "changed": true }')
    t.strictSame((await setup()).installs, [everything], file)
    t.notOk(
      stale.some((folder) => existsSync(join(root, folder))),
      'nothing is left of the previous installation'
    )
  }
})

t.test('a failed installation ends with one line that says what to do, and the next run installs again', async (t) => {
  const { root, setup } = repositoryWithNpx(t)
  writeFileSync(join(root, 'failing'), '')
  for (const scope of [['example'], []]) {
    const { code, output, installs } = await setup(...scope)
    t.equal(code, 1)
    t.equal(installs.length, 1)
    t.strictSame(output.trimEnd().split('\n').slice(1), [
      'Setup failed: the packages could not be installed. Check the network and that npm works, then try again.'
    ])
  }
  rmSync(join(root, 'failing'))
  t.match(await setup('example'), { code: 0, installs: [example] })
})

t.test('after a failed installation of the rest, npm start installs again', async (t) => {
  const { root, setup } = repositoryWithNpx(t)
  await setup('example')
  writeFileSync(join(root, 'failing'), '')
  t.equal((await setup()).code, 1)
  rmSync(join(root, 'failing'))
  t.strictSame((await setup('example')).installs, [example])
})

t.test('on Windows, npm start works, and npm test ends with one line that says where it runs', async (t) => {
  const { setup, setupWith } = repositoryWithNpx(t)
  await setup('example')
  const windows = [`--import=data:text/javascript,Object.defineProperty(process,'platform',{value:'win32'})`]
  t.strictSame(await setupWith(windows, 'example'), { code: 0, output: '', installs: [] })
  t.strictSame(await setupWith(windows), {
    code: 1,
    output: 'The tests and checks of this repository run on Linux and macOS. On Windows, run them in WSL; npm start works without it.\n',
    installs: []
  })
})

t.test('where the Node of the packages does not run, the installed one is used', async (t) => {
  const { root, setup } = repositoryWithNpx(t)
  await setup('example')
  const own = join(root, 'node_modules/.bin/node')
  for (const [script, isUsed] of [
    ['exit 0', true],
    ['exit 127', false]
  ] as const) {
    mkdirSync(join(root, 'node_modules/.bin'), { recursive: true })
    writeFileSync(own, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    t.match(await setup('example'), { code: 0 })
    t.equal(existsSync(own), isUsed, script)
  }
})

t.test('npm start installs every package that the example and its dependencies import', async (t) => {
  const lockfile = readFileSync(join(repository, 'pnpm-lock.yaml'), 'utf8')
  const missing = readMembers(repository).flatMap(({ folder, manifest }) => {
    // The root has those optional peers of packages that the example imports: packages of the workspace find no peer of the example.
    const installed = [manifest.name, ...productionDependencies(lockfile, '.'), ...productionDependencies(lockfile, folder)]
    return filesUnder(join(repository, folder), folder.startsWith('examples/') ? '{src,scripts}/**/*.ts' : 'src/**/*.ts').flatMap((file) =>
      [...importsOf(file, atRunTime(readFileSync(join(repository, folder, file), 'utf8')))]
        .map(packageOf)
        .filter((name) => name !== undefined && !installed.includes(name))
        .map((name) => `${folder} imports ${name}`)
    )
  })
  // Tools for tests that the example does not import, and an optional peer that is loaded if it is installed.
  t.strictSame([...new Set(missing)].toSorted(), [
    'packages/files imports file-type',
    'packages/testing imports @concordat/postgres',
    'packages/testing imports pg'
  ])
})

/** Returns a source without its imports of types. */
function atRunTime(source: string) {
  return source.replaceAll(/^(import|export) type [^']* from '[^']+'$|\btypeof import\('[^']+'\)|(?<!await )\bimport\('[^']+'\)\./gm, '')
}

/** Returns the names under `dependencies` of a package in pnpm-lock.yaml. */
function productionDependencies(lockfile: string, folder: string) {
  const importer = lockfile.split(/^ {2}(?=\S)/m).find((part) => part.startsWith(`${folder}:\n`)) ?? ''
  const dependencies = importer.split(/^ {4}(?=\S)/m).find((part) => part.startsWith('dependencies:\n')) ?? ''
  return [...dependencies.matchAll(/^ {6}'?([^\s']+)'?:$/gm)].map(([, name]) => name as string)
}

t.test('no script of a package.json needs a shell of one system', (t) => {
  // Programs with their words, one after the other: `cmd.exe` knows no exec, variables, quotes, redirections or Unix commands.
  const portable = /^(?:(?!exec |cp |rm |mkdir |cat )[\w@./:=*-]+(?: (?:&& )?[\w@./:=*-]+)*)$/
  for (const file of filesUnder(
    repository,
    '{package.json,{packages,examples,proofs}/*/package.json,packages/create-concordat/project/package.json}'
  )) {
    const { scripts = {} } = JSON.parse(readFileSync(join(repository, file), 'utf8')) as { scripts?: Record<string, string> }
    for (const [name, script] of Object.entries(scripts)) t.match(script, portable, `${file}: ${name}`)
  }
  t.end()
})
