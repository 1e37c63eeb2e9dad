// Projects for tests, with the packages of this workspace instead of those of the registry.
import { execFile, execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { Test } from 'tap'
import { childEnvironment, nodeOptions } from './child.ts'
import { administer } from './database-roles.ts'

const repository = join(import.meta.dirname, '../../..')
const command = join(repository, 'packages/create-concordat/src/command.ts')
const conditions = '--conditions=@concordat/source'

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

execFileSync(process.execPath, [join(repository, 'scripts/copied-examples.ts')])

/** Runs a program of Node.js in a folder. */
export function run(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env, input = ''): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { cwd, env }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, out, err })
    })
    child.stdin?.end(input)
  })
}

/** Runs the command `create-concordat`. */
export function create(cwd: string, ...args: readonly string[]): Promise<Outcome> {
  return run(cwd, [conditions, command, ...args])
}

/** Runs the command `concordat`. */
export function concordat(cwd: string, ...args: readonly string[]): Promise<Outcome> {
  return run(cwd, [conditions, join(repository, 'packages/concordat/src/command.ts'), ...args])
}

/** Returns a folder outside of the repository, until the end of the test. Projects in it find the packages of the workspace. */
export function workshop(t: Test): string {
  const place = mkdtempSync(join(tmpdir(), 'concordat-projects-'))
  t.teardown(() => rmSync(place, { recursive: true, force: true }))
  const modules = join(place, 'node_modules')
  mkdirSync(join(modules, '@types'), { recursive: true })
  const installed = join(repository, 'examples/books-service/node_modules')
  for (const one of readdirSync(installed)) if (one !== '@types') symlinkSync(join(installed, one), join(modules, one))
  symlinkSync(join(installed, '@types/pg'), join(modules, '@types/pg'))
  symlinkSync(join(repository, 'node_modules/@types/node'), join(modules, '@types/node'))
  return place
}

/** Creates a project in a workshop. Returns its folder. */
export async function project(place: string, name: string, ...flags: readonly string[]): Promise<string> {
  const { code, err } = await create(place, name, '--yes', '--no-install', ...flags)
  if (code !== 0) throw new Error(err)
  // Of the version that the project has, which has another name in the template.
  if (flags.some((flag) => flag.endsWith('typebox-1'))) {
    mkdirSync(join(place, name, 'node_modules/@fastify'), { recursive: true })
    symlinkSync(join(place, 'node_modules/type-provider-typebox-1'), join(place, name, 'node_modules/@fastify/type-provider-typebox'))
  }
  return join(place, name)
}

function bin(name: string) {
  return join(repository, 'node_modules', name)
}

/** Checks the types of projects in a workshop together, because the packages take most of the time, and lints each. Returns what is wrong. */
export async function staticFaults(place: string, names: readonly string[]): Promise<string> {
  const include = names.flatMap((name) => [`${name}/src`, `${name}/test`])
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ extends: `./${names[0]}/tsconfig.json`, include }))
  const types = await run(place, [bin('typescript/bin/tsc'), '--customConditions', '@concordat/source'])
  const lints = await Promise.all(names.map((name) => run(join(place, name), [bin('oxlint/bin/oxlint')])))
  // The sources of packages are checked with settings of their own.
  const errors = types.out.split('\n').filter((line) => !/^( |\.\.\/|$)/.test(line))
  return [...errors, types.err, ...lints.map(({ code, out }) => (code === 0 ? '' : out))].join('')
}

/** Returns what the formatter of this repository would change in the projects of a workshop. */
export async function formatFaults(place: string): Promise<string> {
  const { formatter, javascript } = JSON.parse(readFileSync(join(repository, 'biome.json'), 'utf8'))
  writeFileSync(join(place, 'biome.json'), JSON.stringify({ files: { includes: ['**/*.ts'] }, formatter, javascript }))
  const folders = readdirSync(place, { withFileTypes: true }).filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
  const names = folders.map(({ name }) => name)
  const { code, out, err } = await run(place, [bin('@biomejs/biome/bin/biome'), 'format', '--max-diagnostics=20', ...names])
  return code === 0 ? '' : out + err
}

const factors: Readonly<Record<string, readonly string[]>> = {
  database: ['pglite', 'postgres'],
  schema: ['typebox', 'typebox-1', 'zod'],
  tests: ['node', 'tap'],
  ...Object.fromEntries(['auth', 'jobs', 'webhooks', 'batch', 'audit', 'redis', 'metrics'].map((feature) => [feature, ['', feature]]))
}

/** Returns the flags of few projects in which every pair of values occurs: each time those with most of the pairs that are missing. */
export function flagPairs(): string[][] {
  const all = Object.entries(factors).reduce<Row[]>(
    (rows, [name, values]) => rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value }))),
    [{}]
  )
  const missing = new Set(all.flatMap(pairsOf))
  const chosen: Row[] = []
  while (missing.size > 0) {
    const gain = (row: Row) => pairsOf(row).filter((pair) => missing.has(pair)).length
    const best = all.reduce((a, b) => (gain(b) > gain(a) ? b : a))
    for (const pair of pairsOf(best)) missing.delete(pair)
    chosen.push(best)
  }
  return chosen.map(({ database, schema, tests, ...features }) => {
    const names = Object.values(features).filter((name) => name !== '')
    return [`--database=${database}`, `--schema=${schema}`, `--tests=${tests}`, `--with=${names.join(',')}`]
  })
}

type Row = Readonly<Record<string, string>>

function pairsOf(row: Row) {
  const names = Object.keys(row)
  return names.flatMap((a, index) => names.slice(index + 1).map((b) => `${a}=${row[a]} ${b}=${row[b]}`))
}

/** Runs tests of a project, on a PostgreSQL if a URL is given, otherwise on PGlite. Returns the output of those that fail. */
export async function testFaults(folder: string, files: string, serverUrl?: string): Promise<string> {
  const env = { ...childEnvironment(), TEST_DATABASE_URL: serverUrl }
  const { code, out, err } = await run(folder, [...nodeOptions, '--test', files], env)
  return code === 0 ? '' : out + err
}

/**
 * Returns the PostgreSQL of the run for tests of projects, if there is one. Its role owns the databases that these tests keep for their next run, which
 * are dropped at the end of the test.
 */
export async function serverForProjects(t: Test): Promise<string | undefined> {
  const server = process.env['TEST_DATABASE_URL']
  if (server === undefined) return undefined
  const role = `projects_${randomUUID().replaceAll('-', '')}`
  await administer(server, `CREATE ROLE ${role} LOGIN CREATEDB PASSWORD '${role}'`)
  t.teardown(async () => {
    const client = new Client({ connectionString: server })
    await client.connect()
    const { rows } = await client.query('SELECT datname FROM pg_database WHERE pg_get_userbyid(datdba) = $1', [role])
    await client.end()
    await administer(server, ...rows.map(({ datname }) => `DROP DATABASE ${datname} WITH (FORCE)`), `DROP ROLE ${role}`)
  })
  return Object.assign(new URL(server), { username: role, password: role }).href
}
