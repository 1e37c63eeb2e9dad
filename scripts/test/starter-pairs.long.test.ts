// Projects of tarballs, as a user installs them: every two choices are together in one of them.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { packAll } from '../packed.ts'
import { pnpm, run } from '../run.ts'
import { readMembers, repository } from '../workspace.ts'

t.setTimeout(0)

type Row = Readonly<Record<string, string>>

const factors: Readonly<Record<string, readonly [string, string]>> = {
  database: ['pglite', 'postgres'],
  schema: ['typebox', 'zod'],
  tests: ['node', 'tap'],
  auth: ['', 'auth'],
  jobs: ['', 'jobs'],
  webhooks: ['', 'webhooks'],
  batch: ['', 'batch'],
  redis: ['', 'redis'],
  metrics: ['', 'metrics']
}

function pairsOf(row: Row) {
  const names = Object.keys(row)
  return names.flatMap((a, index) => names.slice(index + 1).map((b) => `${a}=${row[a]} ${b}=${row[b]}`))
}

/** Returns few rows in which all pairs of values occur: each time the row with most of the pairs that are missing. */
function allPairs(): Row[] {
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
  return chosen
}

function flagsOf({ database, schema, tests, ...features }: Row) {
  const chosen = Object.values(features).filter((name) => name !== '')
  return [`--database=${database}`, `--schema=${schema}`, `--tests=${tests}`, `--with=${chosen.join(',')}`]
}

const place = mkdtempSync(join(tmpdir(), 'concordat-pairs-'))
t.teardown(() => rmSync(place, { recursive: true, force: true }))
const built = await run(process.execPath, [join(repository, 'scripts/build.ts')], { cwd: repository })
if (built.code !== 0) throw new Error(built.output)
const members = readMembers(repository).filter(({ folder, manifest }) => folder.startsWith('packages/') && !manifest.private)
const tarballs = await packAll(members, place)
const overrides = Object.fromEntries([...tarballs].map(([name, file]) => [name, `file:${file}`]))

async function create(name: string, flags: readonly string[]): Promise<string> {
  const folder = join(place, name)
  const command = join(repository, 'packages/create-concordat/dist/command.js')
  const made = await run(process.execPath, [command, folder, '--yes', '--no-install', ...flags], { cwd: place })
  if (made.code !== 0) throw new Error(made.output)
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), JSON.stringify({ packages: [], overrides }))
  const installed = await pnpm(['install', '--prefer-offline', '--ignore-scripts', '--reporter=append-only'], { cwd: folder })
  if (installed.code !== 0) throw new Error(installed.output)
  return folder
}

async function script(folder: string, name: string) {
  const { code, output } = await pnpm(['run', name], { cwd: folder })
  return code === 0 ? '' : output
}

/** Starts the service and reads its health. */
async function started(folder: string): Promise<number> {
  const env = { ...process.env, PORT: '0', DATABASE_URL: undefined, REDIS_URL: undefined }
  const child: ChildProcess = spawn(process.execPath, ['src/main.ts'], { cwd: folder, env })
  try {
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      const address = / at (http:\S+)/.exec(line)?.[1]
      if (address !== undefined) return (await fetch(`${address}/health/ready`)).status
    }
    return 0
  } finally {
    child.kill()
    if (child.exitCode === null) await once(child, 'exit')
  }
}

for (const [index, row] of allPairs().entries()) {
  const flags = flagsOf(row)
  t.test(`a project with ${flags.join(' ')} passes its checks and tests, also with a resource and a version more`, async (t) => {
    const folder = await create(`service-${index + 1}`, flags)
    t.equal(await started(folder), 200)
    for (const words of [
      ['resource', 'reviews'],
      ['version', '2'],
      ['resource', 'order-items']
    ]) {
      const { code, output } = await pnpm(['exec', 'concordat', 'add', ...words], { cwd: folder })
      t.equal(code, 0, output)
    }
    for (const name of ['check', 'lint', 'test']) t.equal(await script(folder, name), '', name)
    rmSync(folder, { recursive: true })
  })
}

t.test('the copied example passes its checks and tests, and starts', async (t) => {
  const folder = await create('shop', ['--from=orders-service'])
  t.ok(existsSync(join(folder, 'Dockerfile')))
  t.notMatch(readFileSync(join(folder, 'package.json'), 'utf8'), /workspace:|catalog:/)
  t.equal(await started(folder), 200)
  for (const name of ['check', 'lint', 'test']) t.equal(await script(folder, name), '', name)
})
