import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { freshDatabase } from '@concordat/testing'
import { Client } from 'pg'
import t, { type Test } from 'tap'

const server = process.env['TEST_DATABASE_URL']
const engines = { PGlite: false, PostgreSQL: server } as const
const source = new URL('../src/index.ts', import.meta.url).href

async function onServer(sql: string, values: readonly (string | readonly string[])[] = []) {
  const client = new Client({ connectionString: server })
  await client.connect()
  return client
    .query<{ datname: string }>(sql, [...values])
    .then(({ rows }) => rows.map(({ datname }) => datname))
    .finally(() => client.end())
}

/** Creates a project whose program gets a database and prints a line when it prepares one, and one with the rows of its copy. */
function newProject(t: Test, serverUrl: string | false) {
  const program = `
    import { freshDatabase } from ${JSON.stringify(source)}
    import { prepare } from './prepare.mjs'
    const cleanups = []
    const t = { after: (cleanup) => cleanups.push(cleanup) }
    const place = await freshDatabase(t, { prepare, serverUrl: ${JSON.stringify(serverUrl)} })
    console.log('copied', JSON.stringify(place))
    for (const cleanup of cleanups) await cleanup()`
  const prepared = `export async function prepare(database) {
    console.log('preparing')
    await database.query('CREATE TABLE books (title text)')
    if (process.env.HANGS) await new Promise(() => setInterval(() => {}, 1000))
  }`
  const folder = t.testdir({ 'package.json': '{}', test: { 'books.mjs': program, 'prepare.mjs': prepared } })
  const project = createHash('sha256')
    .update(JSON.stringify([folder]))
    .digest('hex')
    .slice(0, 10)
  t.teardown(async () => {
    if (serverUrl === false) return
    for (const name of await templates()) await onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  })

  async function templates() {
    if (serverUrl !== false)
      return onServer('SELECT datname FROM pg_database WHERE starts_with(datname, $1)', [`concordat_template_${project}_`])
    const cache = join(folder, 'node_modules/.cache/concordat-testing')
    return existsSync(cache) ? readdirSync(cache).flatMap((state) => readdirSync(join(cache, state)).map((name) => `${state}/${name}`)) : []
  }

  function start(env: Record<string, string> = {}) {
    const child = spawn(process.execPath, [...process.execArgv, '--no-warnings', 'test/books.mjs'], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const lines: string[] = []
    child.stdout.on('data', (text) => lines.push(...String(text).trim().split('\n')))
    return { child, lines, ended: once(child, 'close').then(() => lines) }
  }

  return { folder, templates, start, change: () => writeFileSync(join(folder, 'migration.sql'), `-- ${Math.random()}`) }
}

for (const [name, serverUrl] of Object.entries(engines)) {
  const options = { skip: serverUrl === undefined && 'set TEST_DATABASE_URL' }

  t.test(
    `${name}: processes that start at the same time prepare one database, also when the first is killed meanwhile`,
    options,
    async (t) => {
      const { start, templates } = newProject(t, serverUrl as string | false)
      const hanging = start({ HANGS: 'yes' })
      await once(hanging.child.stdout, 'data')
      const others = [start(), start()]
      hanging.child.kill('SIGKILL')
      const lines = (await Promise.all(others.map(({ ended }) => ended))).flat()
      t.strictSame(lines.map((line) => line.split(' ')[0]).toSorted(), ['copied', 'copied', 'preparing'])
      t.equal((await start().ended).length, 1)
      t.equal((await templates()).filter((template) => !/-\w+$/.test(template)).length, 1)
    }
  )

  t.test(
    `${name}: a change of a file prepares another database and removes the one before; a change of a test does not`,
    options,
    async (t) => {
      const { start, change, templates, folder } = newProject(t, serverUrl as string | false)
      await start().ended
      const before = await templates()
      writeFileSync(join(folder, 'test/other.test.mjs'), '')
      t.equal((await start().ended).length, 1)
      t.strictSame(await templates(), before)
      change()
      t.match(await start().ended, ['preparing', /^copied/])
      const after = await templates()
      t.equal(after.length, 1)
      t.not(after[0], before[0])
    }
  )
}

t.test(
  'a template that this machine has not used for thirty days is removed, one of another machine is not',
  { skip: server === undefined && 'set TEST_DATABASE_URL' },
  async (t) => {
    const { start, change, templates } = newProject(t, server as string)
    await start().ended
    const [own = ''] = await templates()
    const [comment = ''] = await onServer("SELECT shobj_description(oid, 'pg_database') AS datname FROM pg_database WHERE datname = $1", [
      own
    ])
    t.match(comment, new RegExp(`^concordat-testing ${hostname()} \\d{13}$`))
    const names = ['used', 'unused', 'elsewhere', 'unknown'].map((kind) => `concordat_template_${kind}_${process.pid}`)
    const [used = '', unused = '', elsewhere = '', unknown = ''] = names
    t.teardown(async () => {
      for (const name of names) await onServer(`DROP DATABASE IF EXISTS ${name}`)
    })
    for (const name of names) await onServer(`CREATE DATABASE ${name}`)
    for (const [name, host, days] of [
      [used, hostname(), 29],
      [unused, hostname(), 31],
      [elsewhere, 'elsewhere', 31]
    ] as const)
      await onServer(`COMMENT ON DATABASE ${name} IS 'concordat-testing ${host} ${Date.now() - days * 86_400_000}'`)
    change()
    await start().ended
    const left = await onServer('SELECT datname FROM pg_database WHERE datname = ANY ($1)', [names])
    t.strictSame(left.toSorted(), [elsewhere, unknown, used].toSorted())
  }
)

t.test('the project is the one of the working folder where a runner or no file was started, with or without a package.json', async (t) => {
  const program = `
    import { freshDatabase } from ${JSON.stringify(source)}
    const cleanups = []
    await freshDatabase({ after: (cleanup) => cleanups.push(cleanup) }, { prepare: async () => {}, serverUrl: false })
    for (const cleanup of cleanups) await cleanup()`
  // Not below a folder with a package.json.
  const place = mkdtempSync(join(tmpdir(), 'concordat-projects-'))
  t.teardown(() => rmSync(place, { recursive: true, force: true }))
  const [project, bare] = [join(place, 'project'), join(place, 'bare')]
  for (const folder of [join(place, 'node_modules'), join(project, 'test'), bare]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(place, 'node_modules/runner.mjs'), program)
  writeFileSync(join(project, 'package.json'), '{}')
  symlinkSync('nowhere', join(project, 'link'))
  const run = async (cwd: string, words: readonly string[]) => {
    const child = spawn(process.execPath, [...process.execArgv, '--no-warnings', ...words], { cwd, stdio: 'inherit' })
    t.strictSame(await once(child, 'close'), [0, null])
  }
  await run(join(project, 'test'), [join(place, 'node_modules/runner.mjs')])
  await run(bare, ['--input-type=module', '--eval', program])
  for (const folder of [project, bare]) t.equal(readdirSync(join(folder, 'node_modules/.cache/concordat-testing')).length, 1)
})

t.test(
  'a server that cannot be reached, and a role without the right to create databases, are one line that says what to do',
  async (t) => {
    await t.rejects(freshDatabase(t, { serverUrl: 'postgres://127.0.0.1:1/x' }), {
      message: /^testing: the PostgreSQL of TEST_DATABASE_URL cannot be reached: .*\. Start it, or unset the variable\.$/
    })
    if (server === undefined) return
    const role = `testing_${process.pid}`
    await onServer(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`)
    t.teardown(() => onServer(`DROP ROLE ${role}`))
    const serverUrl = Object.assign(new URL(server), { username: role, password: 'x' }).href
    await t.rejects(freshDatabase(t, { serverUrl }), {
      message: /^testing: the role of TEST_DATABASE_URL may not create databases\. Run: ALTER ROLE/
    })
  }
)
