// `pnpm bench`: the processor time of requests, compared with peers that send the same bodies, in interleaved rounds. A run of everything
// takes more than an hour on two idle processors, and writes docs/performance.md. `--write` also writes the section Cost of the READMEs.
// `--rows item,replay` chooses rows, `--peers same` the peers, `--rounds 3` how often: such a run only
// prints. Rows besides requests: `postgres` for all on PostgreSQL, `start`, `parts`, `growth`, `soak`. TEST_DATABASE_URL names a PostgreSQL, by default one on this machine.
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { pnpm } from '../../scripts/run.ts'
import { findService, postgres } from '../../scripts/services.ts'
import { readManifest, repository } from '../../scripts/workspace.ts'
import { growth, soak } from './growth.ts'
import { type Cell, launch, measure, stop } from './measure.ts'
import { costSections, page, type Results } from './page.ts'
import { parts, type Row, rows, type Server } from './rows.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string' },
    peers: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    write: { type: 'boolean', default: false }
  }
})
const rounds = Number(values.rounds)
const isWhole = values.rows === undefined && values.peers === undefined
const extras = ['start', 'parts', 'growth', 'soak']
const names = values.rows?.split(',') ?? [...rows.map(({ name }) => name), ...extras]
const isChosen = (name: string) => names.includes(name) || (names.includes('postgres') && name.startsWith('postgres-'))
const isPeer = (peer: string) => values.peers === undefined || ['bare', 'ours', 'again', ...values.peers.split(',')].includes(peer)
const known = [...rows.map(({ name }) => name), 'postgres', ...extras]
const unknown = names.filter((name) => !known.includes(name))
if (unknown.length > 0) fail(`Unknown rows: ${unknown.join(', ')}. Use any of ${known.join(', ')}.`)
if (!Number.isInteger(rounds) || rounds < 1) fail('--rounds must be an integer from 1.')
if (values.write && (!isWhole || rounds < 7)) fail('--write needs a run of everything, with at least seven rounds.')
await installPeers()

const chosen = rows.filter(({ name }) => isChosen(name))
const found =
  chosen.some(({ isOnPostgres }) => isOnPostgres) || isChosen('growth') || isChosen('soak') ? await findService(postgres) : undefined
const databases: string[] = []
const begin = performance.now()
try {
  const results = await run()
  const text = page(results)
  if (isWhole && rounds >= 7) writeFileSync(join(repository, 'docs/performance.md'), text)
  else console.log(text)
  if (values.write) for (const [file, section] of costSections(results)) writeSection(file, section)
  if (text.includes('**not valid**') || results.soak.some(({ ratio }) => ratio > 1.1)) process.exitCode = 1
} finally {
  for (const database of databases) await administer(`DROP DATABASE ${database} WITH (FORCE)`)
  await found?.stop()
}

async function run(): Promise<Results> {
  const databaseUrl = found && (await newDatabase())
  const serverOf = (peer: string, { isOnPostgres }: Row): Server => ({
    file: peer === 'ours' ? `./ours${isOnPostgres ? '-postgres' : ''}.ts` : `./peers/${peer === 'again' ? 'same' : peer}.mjs`,
    // Other options make another process.
    options: { ...(isOnPostgres && { databaseUrl: databaseUrl as string }), ...(peer === 'again' && { process: 'again' }) }
  })
  // What is compared with a bare server needs the row that this one has in its place.
  const measured = rows.filter((row) => chosen.includes(row) || chosen.some(({ baseline }) => baseline === row.name))
  const cells: Cell[] = measured.flatMap((row) =>
    row.peers
      .filter((peer) => isPeer(peer) && (chosen.includes(row) || peer === 'bare'))
      .map((peer) => ({ row, peer, server: serverOf(peer, row) }))
  )
  const [item] = rows as [Row]
  if (isChosen('parts')) {
    const whole = { row: { ...item, name: 'parts', floors: {} }, peer: 'ours' }
    cells.push({ ...whole, server: { file: './ours.ts' } })
    for (const part of Object.keys(parts)) cells.push({ ...whole, peer: part, server: { file: './ours.ts', options: { without: part } } })
    cells.push({ ...whole, peer: 'metrics', server: { file: './ours.ts', options: { metrics: 'prometheus' } } })
  }
  const measuredCosts = cells.length > 0 ? await measure(uniqueCells(cells), rounds) : { costs: new Map(), databaseCosts: new Map() }
  return {
    ...measuredCosts,
    starts: isChosen('start') ? await starts() : new Map(),
    growth: isChosen('growth') ? await growth(rounds, newDatabase) : [],
    soak: isChosen('soak') ? await soak(await newDatabase()) : [],
    rounds,
    minutes: Math.ceil((performance.now() - begin) / 60_000),
    load: (loadavg()[0] as number).toFixed(1),
    machine: `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown'}, Node.js ${process.version}`,
    versions: versions()
  }
}

/** Starts servers in production, where the checks that tests have made are left out. Returns the processor time until each listened, in milliseconds. */
async function starts() {
  const times = new Map<string, number[]>()
  for (let round = 0; round < rounds; round += 1) {
    for (const file of ['./peers/bare.mjs', './peers/official.mjs', './ours.ts']) {
      const running = await launch({ file }, 'production')
      times.set(file, [...(times.get(file) ?? []), running.startMs])
      await stop(running)
    }
  }
  return times
}

function uniqueCells(cells: readonly Cell[]) {
  return [...new Map(cells.map((cell) => [`${cell.row.name} ${cell.peer}`, cell])).values()]
}

/** Installs the peers, unless their lockfile is the one that was installed. */
async function installPeers() {
  const cwd = join(import.meta.dirname, 'peers')
  const [lockfile, installed] = [join(cwd, 'pnpm-lock.yaml'), join(cwd, 'node_modules/.installed')]
  if (!existsSync(installed) || readFileSync(installed, 'utf8') !== readFileSync(lockfile, 'utf8')) {
    console.error('Installing the peers.')
    await pnpm(['install', '--ignore-workspace', '--frozen-lockfile', '--ignore-scripts'], { cwd })
    writeFileSync(installed, readFileSync(lockfile))
  }
  for (const name of ['fastify', 'pg']) {
    const [own, theirs] = [repository, cwd].map((folder) => readManifest(join(folder, 'node_modules', name, 'package.json')).version)
    if (own !== theirs)
      fail(`The peers have ${name} ${theirs}, and this repository has ${own}. Change proofs/bench/peers/package.json, and install there.`)
  }
}

function versions() {
  const { dependencies = {} } = readManifest(join(import.meta.dirname, 'peers/package.json'))
  return ['fastify', '@nestjs/core', 'express', 'hono'].map((name) => `${name} ${dependencies[name]}`).join(', ')
}

async function newDatabase() {
  const name = `concordat_bench_${randomUUID().slice(0, 8)}`
  await administer(`CREATE DATABASE ${name}`)
  databases.push(name)
  return Object.assign(new URL(found?.url as string), { pathname: `/${name}` }).href
}

async function administer(sql: string) {
  const client = new Client({ connectionString: found?.url })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}

function writeSection(file: string, section: string) {
  const [path, start, end] = [join(repository, file), '<!-- cost:start -->', '<!-- cost:end -->']
  const text = readFileSync(path, 'utf8')
  if (!text.includes(start)) fail(`${file} does not contain ${start}.`)
  writeFileSync(path, `${text.slice(0, text.indexOf(start) + start.length)}\n${section}\n${text.slice(text.indexOf(end))}`)
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
