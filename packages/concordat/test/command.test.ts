import { execFile, execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '@concordat/postgres'
import { jobMigrations, postgresJobStore } from '@concordat/postgres/jobs'
import { openDatabase } from '@concordat/postgres/open'
import { postgresVersionUsageStore, versionUsageMigrations } from '@concordat/postgres/version-usage'
import { administer, freshRoles } from '@concordat/test-harness/database-roles'
import t, { type Test } from 'tap'

const command = join(import.meta.dirname, '../src/command.ts')

interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

function concordat(cwd: string, ...given: (string | Record<string, string>)[]): Promise<Outcome> {
  const [env, args] = typeof given[0] === 'object' ? [given[0], given.slice(1)] : [{}, given]
  const program = ['--conditions=@concordat/source', command, ...(args as string[])]
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      program,
      { cwd, env: { ...process.env, DATABASE_URL: undefined, DATA_DIR: undefined, ...env } },
      (error, out, err) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err })
      }
    )
  })
}

function folder(t: Test, files: Record<string, unknown>): string {
  const path = t.testdir({})
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(path, name), typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const order = { id: { type: 'string', format: 'uuid' }, note: { type: 'string' } }

/** A document whose orders have these properties. */
const documentOf = (properties: object) => ({
  openapi: '3.1.1',
  info: { title: 'Shop', version: '1.0.0' },
  paths: {
    '/v1/orders': {
      get: { responses: { 200: { description: 'All.', content: { 'application/json': { schema: { type: 'object', properties } } } } } }
    }
  }
})

t.test('concordat diff fails and prints every breaking change, and succeeds for compatible changes [V3] [V4]', async (t) => {
  const path = folder(t, {
    'old.json': documentOf(order),
    'broken.json': documentOf({ id: order.id }),
    'wider.json': documentOf({ ...order, coupon: { type: 'string' } })
  })
  const failed = await concordat(path, 'diff', 'old.json', 'broken.json')
  t.match(failed, { code: 1, out: /GET \/v1\/orders 200 application\/json\.note: was removed/, err: '' })
  t.strictSame(await concordat(path, 'diff', 'old.json', 'wider.json'), { code: 0, out: 'No breaking changes.\n', err: '' })
})

const bad = {
  openapi: '3.1.0',
  info: { title: 'A', version: '1' },
  security: [],
  paths: {
    '/v1/getOrders': {
      get: { parameters: [{ name: 'order_id', in: 'query', schema: { type: 'string' } }], responses: { 200: { description: 'All.' } } }
    }
  }
}
const lints = `export const lints = [{ id: 'P3', check: ({ url }) => url.includes('get') ? '"getOrders" begins with a verb. Let the method say it.' : undefined }]`

t.test('concordat lint fails and prints the rule, place and remedy of every finding [F1]', async (t) => {
  const path = folder(t, { 'bad.json': bad, 'lints.mjs': lints })
  const failed = await concordat(path, 'lint', 'bad.json', '--with', './lints.mjs')
  t.match(failed, { code: 1, err: '' })
  t.match(failed.out, /^2 places break a rule\./)
  t.match(failed.out, / F1 GET \/v1\/getOrders query order_id: "order_id" is not in camelCase\. Rename it to "orderId"\./)
  t.match(failed.out, / P3 GET \/v1\/getOrders: "getOrders" begins with a verb\. Let the method say it\./)
  t.match(await concordat(path, 'lint', 'bad.json', '--warn'), { code: 0, out: /^1 place breaks a rule/ })
  t.strictSame(await concordat(path, 'lint', 'bad.json', '--waive', 'F1=old clients'), { code: 0, out: 'No findings.\n', err: '' })
})

t.test('an invalid command exits with 2 and one line, and --help prints the commands', async (t) => {
  const path = folder(t, { 'bad.json': bad, 'text.json': 'no', 'old.json': { openapi: '3.0.3' }, 'empty.mjs': 'export {}' })
  const cases: [string[], RegExp][] = [
    [[], /^The command is missing\. Run npx concordat --help for the commands\.$/],
    [['diff', 'bad.json'], /^"diff bad\.json" is not a valid command\. Run npx concordat --help for the commands\.$/],
    [['frobnicate'], /^"frobnicate" is not a valid command\./],
    [['add', 'resource'], /^"add resource" is not a valid command\./],
    [['lint', 'text.json'], /^text\.json is not JSON in UTF-8\.$/],
    [['lint', 'nowhere.json'], /^nowhere\.json cannot be read: ENOENT/],
    [['lint', 'old.json'], /^old\.json is not an OpenAPI 3\.1 document\./],
    [['lint', 'bad.json', '--waive', 'F1'], /^--waive F1 requires a reason/],
    [['lint', 'bad.json', '--with', './empty.mjs'], /^\.\/empty\.mjs has no export named "lints"/],
    [['lint', 'bad.json', '--with', '@concordat/nowhere'], /^Cannot find module/],
    [['lint', 'bad.json', '--frobnicate'], /^Unknown option '--frobnicate'\. Run npx concordat --help for the flags\.$/]
  ]
  const outcomes = await Promise.all(cases.map(async ([args, message]) => ({ args, message, ...(await concordat(path, ...args)) })))
  for (const { args, message, code, out, err } of outcomes) {
    t.equal(code, 2, args.join(' '))
    t.equal(out, '')
    const [line = '', ...others] = err.split('\n')
    t.match(line, message)
    t.strictSame(others, [''])
  }
  t.match(await concordat(path, '--help'), {
    code: 0,
    out: /^concordat add resource <name> [^]*\nconcordat remove resource <name> [^]*\nconcordat add version <number>\n/,
    err: ''
  })
})

t.test('an old Node.js is refused', async (t) => {
  const path = folder(t, { 'old.mjs': `Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } })` })
  const err = await new Promise((resolve) => {
    const args = ['--conditions=@concordat/source', '--import', './old.mjs', command, 'add', 'version', '2']
    execFile(process.execPath, args, { cwd: path }, (error, out, text) => resolve([error?.code, out, text]))
  })
  t.strictSame(err, [1, '', 'Node.js 20.1.0 is too old. Install version 22.19 or later.\n'])
})

t.test('concordat lint loads the rules for paths from versioning [P3]', async (t) => {
  const operation = { security: [], responses: { 200: { description: 'All.' } } }
  const paths = { '/v1/getOrders': { get: operation }, '/v1/orders': { get: operation } }
  const path = folder(t, { 'bad.json': { openapi: '3.1.0', info: { title: 'A', version: '1' }, paths } })
  const { out } = await concordat(join(import.meta.dirname, '..'), 'lint', join(path, 'bad.json'), '--with', '@concordat/versioning')
  t.match(out, /P3 GET \/v1\/getOrders: "getOrders" starts with a verb\. Use the HTTP method for the action/)
  t.notMatch(out, /GET \/v1\/orders:/)
})

// What a terminal acts on, or what hides text: an escape sequence, a title, C1, line ends, marks of direction, invisible and private characters.
const hostile = 'a\u001b[2J\u001b]0;x\u0007\u009b2K\r\n\u2028\u2029\u0085\u202e\u2066\u200b\u007f\ufeff\u{e0041}\ue000"\'$(id)'

t.test('no command prints what a terminal acts on, whatever names, files and documents contain', async (t) => {
  const files = (name: string) => ({
    'old.json': documentOf({ id: order.id, [name]: order.note }),
    'new.json': documentOf({ id: order.id }),
    'bad.json': {
      ...bad,
      paths: {
        [`/v1/${name}`]: {
          get: { parameters: [{ name, in: 'query', schema: { type: 'string' } }], responses: { 200: { description: name } } }
        }
      }
    },
    'text.json': `{"a": ${name}`,
    'lints.mjs': `export const lints = [{ id: 'P3', check: () => ${JSON.stringify(`${name}. Change it.`)} }]`
  })
  const odd = folder(t, { ...files(hostile), 'long.json': documentOf({ id: order.id, ['y'.repeat(100_000)]: order.note }) })
  const outputOf = async (...args: string[]) => {
    const { code, out, err } = await concordat(odd, ...args)
    const name = args.slice(0, 2).join(' ')
    t.not(code, 0, name)
    t.notMatch((out + err).replaceAll('\n', ''), /[\p{C}\p{Zl}\p{Zp}]/u, name)
    return out + err
  }
  t.match(await outputOf('diff', 'old.json', 'new.json'), /^1 breaking change [^\n]+\n[^\n]+\n$/)
  t.match(
    await outputOf('lint', 'bad.json', '--with', './lints.mjs'),
    /^(?:1 place breaks|[23] places break) a rule[^\n]+\n(?: {2}[FP]\d [^\n]+\n){1,3}$/
  )
  for (const args of [
    ['diff', 'text.json', 'new.json'],
    ['lint', 'bad.json', '--waive', hostile],
    ['add', 'resource', hostile]
  ])
    t.match(await outputOf(...args), /^[^\n]+\n$/, 'one line')
  t.match(await concordat(odd, 'diff', 'long.json', 'new.json'), { code: 1, out: /^1 breaking change [^\n]+\n[^\n]{1000,2500}\n$/ })
})

const server = process.env['TEST_DATABASE_URL']

function daysAgo(days: number) {
  const lastUsedAt = Date.now() - days * 86_400_000
  return { lastUsedAt, day: new Date(lastUsedAt).toISOString().slice(0, 10) }
}

const isUnknown = (reason: RegExp) => ({
  code: 1,
  out: new RegExp(`^It is not known whether clients have used v1 in the last \\d+ days\\. ${reason.source}`),
  err: ''
})

t.test(
  'concordat version-clients fails with the names of the clients that still use a version and are not confirmed',
  { skip: server === undefined && 'set TEST_DATABASE_URL' },
  async (t) => {
    const { admin: DATABASE_URL } = await freshRoles(t, server as string)
    const database = await openDatabase({ url: DATABASE_URL })
    t.teardown(() => database.close())
    const ask = (...args: string[]) => concordat(join(import.meta.dirname, '..'), { DATABASE_URL }, 'version-clients', ...args)
    t.match(await ask('1'), {
      code: 2,
      err: /^The table of the use of versions cannot be read: .*version_usage.* It comes from a start of the service with/
    })

    await migrate(database.postgres, versionUsageMigrations)
    const store = postgresVersionUsageStore(database.postgres)
    t.match(await ask('1'), isUnknown(/Counting begins with the first start of the service with postgresVersionUsageStore\.\n$/))
    // A process reports also without requests.
    await store.add([], Date.now())
    t.match(
      await ask('1'),
      isUnknown(
        /Requests have been counted without a gap only since 2\S+Z\. Run the command again from 2\S+Z on, with retentionDays of the store of at least 30\.\n$/
      )
    )
    for (let days = 91; days > 0; days -= 1) if (days !== 40) await store.add([], daysAgo(days).lastUsedAt)
    t.strictSame(await ask('1'), { code: 0, out: 'No client has used v1 in the last 30 days.\n', err: '' })
    t.match(
      await ask('1', '--days', '60'),
      isUnknown(/Requests have been counted .* of at least 60, or with --days 39\.\n$/),
      'a day without counts'
    )
    await store.add([], daysAgo(40).lastUsedAt)
    t.match(await ask('1', '--days', '90'), { code: 0 })
    t.match(await ask('1', '--days', '3650'), isUnknown(/.* of at least 3650, or with --days 91\.\n$/))
    await store.add([
      { version: 'v1', client: 'shop', requests: 3, ...daysAgo(2) },
      { version: 'v1', client: 'shop', requests: 40, ...daysAgo(60) },
      { version: 'v1', client: null, requests: 1, ...daysAgo(3) },
      { version: 'v1', client: 'moved', requests: 9, ...daysAgo(31) },
      { version: 'v2', client: 'moved', requests: 9, ...daysAgo(0) }
    ])
    const { code, out } = await ask('1')
    t.equal(code, 1)
    t.match(
      out,
      /^2 clients have used v1 in the last 30 days\.\n {2}shop: 3 requests, the last at 2.*\n {2}\(unknown\): 1 requests, .*\n.* --confirmed=shop --confirmed='\(unknown\)'\n$/
    )
    t.match(await ask('1', '--confirmed', 'shop', '--confirmed', '(unknown)'), {
      code: 0,
      out: 'No client has used v1 in the last 30 days but the confirmed: shop, (unknown).\n'
    })
    t.match(await ask('1', '--days', '90'), { code: 1, out: /shop: 43 requests.*[^]*moved: 9 requests/ })
    await store.add([{ version: 'v3', client: "it's \u001b[2J\u009b2J\nNo client $(id)", requests: 1, ...daysAgo(1) }])
    const odd = await ask('3')
    t.match(odd, { code: 1, out: String.raw`it's \u{1b}[2J\u{9b}2J\u{a}No client $(id): 1 requests` })
    t.ok(odd.out.endsWith(String.raw` --confirmed='it'\''s \u{1b}[2J\u{9b}2J\u{a}No client $(id)'` + '\n'), odd.out)
    t.match(await ask('3', '--confirmed', String.raw`it's \u{1b}[2J\u{9b}2J\u{a}No client $(id)`), { code: 0 })
    const texts = [
      '-x',
      '--help',
      '$(id)',
      '`id`',
      'a"b',
      String.raw`a\b`,
      'a;b&c|d>e',
      '!x',
      '~',
      'a b',
      '*',
      '{a,b}',
      '#',
      'a=b',
      '(unknown)',
      hostile
    ]
    const names = [...texts, `${'x'.repeat(2000)}1`, `${'x'.repeat(2000)}2`, '😀'.repeat(60), `${'😀'.repeat(60)}1`, null]
    await store.add(names.map((client) => ({ version: 'v4', client, requests: 1, ...daysAgo(1) })))
    const many = await ask('4')
    t.match(many, { code: 1, out: new RegExp(`^${names.length} clients have used v4`) })
    t.ok(many.out.split('\n').every((line) => line.length < 300 || line.startsWith('Move each')))
    const [, words = ''] = /may break: (.*)\n$/.exec(many.out) ?? []
    // What a shell makes of the command that is printed.
    const args = execFileSync('sh', ['-c', `printf '%s\\n' ${words}`], { encoding: 'utf8' })
      .trimEnd()
      .split('\n')
    t.equal(args.length, names.length)
    t.match(await ask('4', ...args), { code: 0, out: /^No client has used v4 in the last 30 days but the confirmed: / })
    for (const [index] of args.entries())
      if (index % 5 === 0)
        t.match(await ask('4', ...args.toSpliced(index, 1)), { code: 1, out: /^1 client has used v4/ }, args[index] as string)
    await database.postgres.query(`UPDATE concordat.version_usage_days SET last_report_at = last_report_at - 10800000`)
    t.match(await ask('9'), { code: 1, out: /No process has counted requests since 2\S+Z\. Start the service/ })
    t.match(await ask('v1'), { code: 2, err: /"v1" is not the number of a version/ })
    t.match(await ask('1', '--days', 'all'), { code: 2, err: /--days all is not a number of days/ })
    t.match(await concordat(tmpdir(), { DATABASE_URL }, 'version-clients', '1'), {
      code: 2,
      err: /^@concordat\/postgres is not installed here/
    })
    t.match(await concordat(t.testdir({}), {}, 'version-clients', '1'), { code: 2, err: /^Set DATABASE_URL, or DATA_DIR for PGlite/ })
    const down = { DATABASE_URL: 'postgres://127.0.0.1:1/none' }
    t.match(await concordat(join(import.meta.dirname, '..'), down, 'version-clients', '1'), { code: 2, err: /127\.0\.0\.1:1/ })
  }
)

const onServer = { skip: server === undefined && 'set TEST_DATABASE_URL' }

t.test('concordat schedules opens PGlite, and says what is missing', async (t) => {
  const path = join(import.meta.dirname, '..')
  const missing = /^The schedules cannot be read or changed: .* Their table comes from a start of the service\.\n$/
  t.match(await concordat(path, { DATA_DIR: t.testdir({}) }, 'schedules'), { code: 2, err: missing })
  t.match(await concordat(path, 'schedules'), { code: 2, err: /^Set DATABASE_URL, or DATA_DIR/ })
  t.match(await concordat(path, '--help'), { code: 0, out: /concordat schedules/ })
  for (const wrong of [['stop', 'nightly'], ['pause'], ['run', 'a', 'b']])
    t.match(await concordat(path, 'schedules', ...wrong), { code: 2, err: /is not a valid command/ })
})

t.test('concordat tenants check connects as the service, prints what it finds, and fails', onServer, async (t) => {
  const path = join(import.meta.dirname, '..')
  const { owner, service, app } = await freshRoles(t, server as string)
  const check = (DATABASE_URL: string, ...args: string[]) => concordat(path, { DATABASE_URL }, 'tenants', 'check', ...args)
  const table = 'CREATE TABLE visits (clinic text NOT NULL, id bigint PRIMARY KEY)'
  await administer(owner, table, 'CREATE TABLE plans (id text)', `GRANT SELECT ON visits, plans TO ${app}`)
  const args = ['--column', 'clinic', '--shared', 'plans']
  t.match(await check(service, ...args), {
    code: 1,
    out: /^postgres: the database does not keep tenants apart:\n- The table visits has no row level security\. Run ALTER TABLE .+\n- The unique key visits_pkey of visits .+\n$/
  })
  await administer(
    owner,
    'ALTER TABLE visits ENABLE ROW LEVEL SECURITY',
    "CREATE POLICY clinic ON visits USING (clinic = (SELECT NULLIF(current_setting('app.clinic', true), '')))"
  )
  const waived = [...args, '--setting', 'app.clinic', '--waive', 'visits_pkey=random ids']
  t.match(await check(service, ...waived), { code: 0, out: 'Tenants are kept apart in public.\n' })
  t.match(await check(owner, ...waived), { code: 1, out: /FORCE ROW LEVEL SECURITY/ })
  t.match(await check(service, ...args, '--waive', 'visits_pkey'), { code: 2, err: /^--waive visits_pkey requires a reason\./ })
  t.match(await check(service, '--setting', 'tenant'), { code: 2, err: /tenantSetting "tenant" must be two names/ })
  t.match(await check('postgres://root@127.0.0.1:1/root'), { code: 2, err: /^The tables cannot be checked: connect ECONNREFUSED/ })
  t.match(await concordat(path, { DATA_DIR: t.testdir({}) }, 'tenants', 'check', '--schema', 'a', '--schema', 'b'), {
    code: 1,
    out: /- The schemas a, b have no tables\./
  })
})

t.test('concordat schedules lists, pauses, resumes and runs the schedules of a service', onServer, async (t) => {
  const path = join(import.meta.dirname, '..')
  const { admin: DATABASE_URL } = await freshRoles(t, server as string)
  const url = { DATABASE_URL }
  const now = Date.now()
  const inStore = async (work: (store: ReturnType<typeof postgresJobStore>) => Promise<unknown>) => {
    const database = await openDatabase({ url: DATABASE_URL })
    await migrate(database.postgres, jobMigrations)
    await work(postgresJobStore(database.postgres))
    await database.close()
  }
  await inStore(async () => {})
  t.match(await concordat(path, url, 'schedules'), { code: 0, out: 'There is no schedule. app.jobs.schedule adds one.\n' })
  const declared = { job: 'report', timing: '30 2 * * * Europe/Berlin', nextAt: now + 60_000 }
  const jobId = '0b6c9d4e-0000-4000-8000-000000000001'
  await inStore(async (store) => {
    await store.schedules?.declare([{ ...declared, name: 'old' }], now - 600_000, true)
    await store.schedules?.declare([{ ...declared, name: 'nightly' }], now, true)
    const job = { id: jobId, type: 'report', owner: '', input: null, attempt: 0, tries: 0, progress: 0, createdAt: now - 1500 }
    await store.add({ ...job, state: 'queued' })
    const decision = { nextAt: declared.nextAt, lastAt: now - 2000, lastJobId: jobId, endsRequest: false }
    await store.schedules?.decide('nightly', async () => decision)
    await store.schedules?.decide('old', async () => ({ ...decision, lastJobId: '0b6c9d4e-0000-4000-8000-000000000002' }))
  })
  const lines = async () => (await concordat(path, url, 'schedules')).out.split('\n')
  const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`
  const [running = ''] = await lines()
  t.match(running, new RegExp(`^nightly \\(30 2 \\* \\* \\* Europe/Berlin\\): next ${time}, last ${time}: queued$`))
  await inStore((store) => store.change(jobId, { states: ['queued'] }, { state: 'failed', expiresAt: now + 604_800_000 }))
  const [nightly = '', old = ''] = await lines()
  t.match(nightly, new RegExp(`, last ${time}: failed after 1\\.5 s$`))
  t.match(old, new RegExp(`^old .*, last ${time}; no process has declared it since ${time}$`))
  t.match(await concordat(path, url, 'schedules', 'pause', 'nightly'), { code: 0, out: 'nightly is paused.\n' })
  t.match((await lines())[0], /: paused, last/)
  t.match(await concordat(path, url, 'schedules', 'resume', 'nightly'), { code: 0, out: 'nightly continues with the next run.\n' })
  t.match(await concordat(path, url, 'schedules', 'run', 'nightly'), { code: 0, out: /^nightly starts within seconds, or/ })
  t.match(await concordat(path, url, 'schedules', 'run', 'old'), { code: 0, out: /^old starts when a process that declares it runs, or/ })
  t.match((await lines())[0], /, a run was requested, last/)
  for (const action of ['pause', 'resume', 'run'])
    t.match(await concordat(path, url, 'schedules', action, 'unknown'), { code: 2, err: /^There is no schedule "unknown"\./ })
})

t.test('concordat release stores a description with its digest, and refuses one that breaks clients of the stored one [V3]', async (t) => {
  const second = { ...documentOf(order), info: { title: 'Shop', version: '2.0.0' } }
  const path = folder(t, {
    'now.json': documentOf(order),
    'wider.json': { ...documentOf({ ...order, coupon: { type: 'string' } }), servers: [{ url: 'https://a.example' }] },
    'elsewhere.json': { ...documentOf({ ...order, coupon: { type: 'string' } }), servers: [{ url: 'https://b.example' }] },
    'broken.json': documentOf({ id: order.id }),
    'second.json': second,
    'beta.json': { ...documentOf(order), info: { title: 'Shop', version: 'beta' } }
  })
  const stored = () => JSON.parse(readFileSync(join(path, 'released/digests.json'), 'utf8'))
  const release = (...args: string[]) => concordat(path, 'release', ...args)
  t.match(await release('now.json', '--out', 'released'), { code: 0, out: /released\/v1\.json and released\/digests\.json were written/ })
  const first = stored()
  t.match(first, { v1: /^sha-256=:[\w+/]{43}=:$/ })
  t.match(await release('second.json', '--out', 'released'), { code: 0 })
  t.strictSame(Object.keys(stored()), ['v1', 'v2'])
  t.match(await release('wider.json', '--out', 'released'), { code: 0 })
  const wider = stored()
  t.not(wider.v1, first.v1)
  t.match(await release('elsewhere.json', '--out', 'released'), { code: 0 })
  t.strictSame(stored(), wider, 'the address is not part of the digest')
  t.match(await release('broken.json', '--out', 'released'), { code: 1, out: /breaking change/ })
  t.strictSame(stored(), wider, 'nothing was stored')
  t.match(JSON.parse(readFileSync(join(path, 'released/v1.json'), 'utf8')), { servers: [{ url: 'https://b.example' }] })

  const server = createServer((_, response) => response.end(JSON.stringify(second)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/openapi`
  t.match(await release(address, '--out', 'other'), { code: 0, out: /other\/v2\.json/ })
  t.match(await release('now.json'), { code: 2, err: /^--out is missing\./ })
  t.match(await release('beta.json', '--out', 'released'), { code: 2, err: /does not have a version such as 2\.0\.0 in info\.version/ })
  t.match(await release('none.json', '--out', 'released'), { code: 2, err: /cannot be read/ })
})
