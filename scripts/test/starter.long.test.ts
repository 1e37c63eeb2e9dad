// The starter as its users get it: from packed packages. Every two choices are together in one of the projects that are checked with each supported
// version of TypeScript; two projects are made, started and extended with the oldest and the newest Node.js, and their npm.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { generatedClients } from '@concordat/test-harness/generated-clients'
import { flagPairs } from '@concordat/test-harness/generated-project'
import t from 'tap'
import { reachableRegistry, startRegistry } from '../local-registry.ts'
import { packAll, publishedMembers } from '../packed.ts'
import { pnpm, run } from '../run.ts'
import { environmentOf, follow, tours, useStarted } from '../starter.ts'
import { repository } from '../workspace.ts'

t.setTimeout(0)

const compilers = { 'typescript-5': 'npm:typescript@~5.9.3', 'typescript-6': 'npm:typescript@~6.0.3' }
const node = `node-${process.platform}-${process.arch}`
// What a machine with the oldest supported Node.js has, and one with the newest.
const machines = { oldest: { [node]: '22.19.0', npm: '10.9.3' }, newest: { [node]: '26', npm: '11' } }

const upstream = await reachableRegistry()
const skip = upstream === undefined && 'this machine cannot reach the registry of npm'
const place = mkdtempSync(join(tmpdir(), 'concordat-starter-'))
t.teardown(() => rmSync(place, { recursive: true, force: true }))
const built = await run(process.execPath, [join(repository, 'scripts/build.ts')])
if (built.code !== 0) throw new Error(built.output)
const tarballs = await packAll(publishedMembers(), place)

async function succeeds(program: string, words: readonly string[], cwd: string, env = process.env) {
  const { code, output } = await run(program, words, { cwd, env })
  if (code !== 0) throw new Error(`${program} ${words.join(' ')} ended with code ${code}:\n${output}`)
}

t.test(
  'every two choices: the project starts, and passes its checks and tests, also with two resources and a version more, whose descriptions make clients',
  async (t) => {
    const projects = flagPairs().map((flags, index) => ({ name: `service-${index + 1}`, flags }))
    const workspace = join(place, 'pairs')
    mkdirSync(join(workspace, 'compilers'), { recursive: true })
    const command = join(repository, 'packages/create-concordat/dist/command.js')
    for (const { name, flags } of projects) await succeeds(process.execPath, [command, name, '--yes', '--no-install', ...flags], workspace)
    // One installation, in which a package still finds only what it declares.
    writeFileSync(join(workspace, 'package.json'), JSON.stringify({ private: true }))
    writeFileSync(join(workspace, 'compilers/package.json'), JSON.stringify({ private: true, devDependencies: compilers }))
    const overrides = Object.fromEntries([...tarballs].map(([name, file]) => [name, `file:${file}`]))
    writeFileSync(join(workspace, 'pnpm-workspace.yaml'), JSON.stringify({ packages: ['*'], hoist: false, overrides }))
    const installed = await pnpm(['install', '--prefer-offline', '--ignore-scripts', '--reporter=append-only'], { cwd: workspace })
    if (installed.code !== 0) throw new Error(installed.output)

    for (const { name, flags } of projects)
      await t.test(flags.join(' '), async (t) => {
        const folder = join(workspace, name)
        const { TEST_DATABASE_URL: server } = process.env
        const env = { ...process.env, TEST_DATABASE_URL: flags.includes('--database=postgres') ? server : undefined }
        await useStarted({ cwd: folder, env: environmentOf(place, '') }, '/v1/books')
        for (const words of ['resource reviews', 'version 2', 'resource order-items'])
          await succeeds(process.execPath, [join(folder, 'node_modules/concordat/dist/command.js'), 'add', ...words.split(' ')], folder)
        for (const body of await useStarted({ cwd: folder, env: environmentOf(place, '') }, '/v1/openapi', '/v2/openapi'))
          t.strictSame((await generatedClients(JSON.parse(body) as object)).problems, [])
        for (const script of ['check', 'lint', 'test']) await succeeds('npm', ['run', script], folder, env)
        for (const compiler of Object.keys(compilers))
          await succeeds(process.execPath, [join(workspace, 'compilers/node_modules', compiler, 'bin/tsc')], folder)
        t.pass('every command succeeded')
      })
  }
)

for (const [age, dependencies] of Object.entries(machines))
  for (const tour of tours)
    t.test(
      `with the ${age} Node.js and its npm: npm create concordat -- ${tour.flags}, and the commands of the README`,
      { skip },
      async (t) => {
        const machine = join(place, age)
        mkdirSync(machine, { recursive: true })
        writeFileSync(join(machine, 'package.json'), JSON.stringify({ private: true, dependencies }))
        await succeeds('npm', ['install', '--prefer-offline'], machine)
        const registry = await startRegistry([...tarballs.values()], String(upstream))
        t.teardown(() => registry.close())
        const home = mkdtempSync(join(place, 'home-'))
        const path = [join(machine, 'node_modules/.bin'), '/usr/bin', '/bin'].join(delimiter)
        await follow(tour, home, { ...environmentOf(place, registry.url), PATH: path })
        t.ok(existsSync(join(home, tour.name)))
      }
    )

// A version of each optional peer that is not the one which the packages load.
const others: Readonly<Record<string, string>> = {
  '@electric-sql/pglite': '~0.3.9',
  '@fastify/compress': '^8.3.1',
  '@fastify/jwt': '^9.1.0',
  '@opentelemetry/api': '~1.8.0',
  '@opentelemetry/exporter-prometheus': '~0.57.2',
  '@opentelemetry/sdk-metrics': '^1.30.1',
  '@scalar/fastify-api-reference': '~1.25.0',
  ioredis: '^5.9.3',
  pg: '~8.11.6',
  'pg-boss': '^10.4.2',
  'pino-pretty': '^11.3.0'
}

t.test('npm installs all packages beside any version of a package that they use only where it is installed', { skip }, async (t) => {
  const optional = publishedMembers().flatMap(({ manifest }) => Object.keys(manifest.peerDependenciesMeta ?? {}))
  const foreign = optional.filter((name) => name !== 'fastify' && !name.startsWith('@concordat/'))
  t.strictSame([...new Set(foreign)].toSorted(), Object.keys(others).toSorted())
  const registry = await startRegistry([...tarballs.values()], String(upstream))
  t.teardown(() => registry.close())
  const env = environmentOf(place, registry.url)
  const own = Object.fromEntries(publishedMembers().map(({ manifest }) => [manifest.name, `^${manifest.version}`]))
  for (const [name, version] of Object.entries(others)) {
    const cwd = mkdtempSync(join(place, 'beside-'))
    const dependencies = { ...own, fastify: '^5.12.1', [name]: version }
    writeFileSync(join(cwd, 'package.json'), JSON.stringify({ private: true, dependencies }))
    const { code, output } = await run('npm', ['install', '--package-lock-only', '--prefer-offline', '--no-audit'], { cwd, env })
    t.equal(code, 0, `${name} ${version}: ${output}`)
  }
})
