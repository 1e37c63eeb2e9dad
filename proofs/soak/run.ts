// `pnpm soak`: a bad day of the orders service in half an hour. Four processes behind nginx, on one PostgreSQL and one Redis, get a mixed
// load while everything around them fails; then the databases and the receivers are compared with what clients know.
// --minutes 2 (default 30), --rate 25 operations a second, --seed 7, --write writes docs/soak.md, --keep keeps the folder of the run.
import { randomBytes, randomInt } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { randomFrom } from '@concordat/test-harness/random'
import { temporaryFolder } from '../../scripts/service-process.ts'
import { repository } from '../../scripts/workspace.ts'
import { startCluster } from './cluster.ts'
import { Evidence } from './evidence.ts'
import { publicHost, startFleet } from './fleet.ts'
import { checkInvariants, drain } from './invariants.ts'
import { Ledger } from './ledger.ts'
import { checkLogs, checkMemory, checkServerErrors, checkStops } from './logs.ts'
import { startMonitoring } from './monitoring.ts'
import { startProxy } from './proxy.ts'
import { canaries } from './reads.ts'
import { startReceivers } from './receivers.ts'
import { Recorder } from './recorder.ts'
import { report } from './report.ts'
import { sample } from './sampler.ts'
import { causeFaults } from './schedule.ts'
import { subscribeAll } from './subscriptions.ts'
import { sendTraffic } from './traffic.ts'
import { wireTo } from './wire.ts'
import { clientsOf, populate, type World } from './world.ts'

const processCount = 4
const maxDrainSeconds = 180

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    rate: { type: 'string', default: '25' },
    seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
    write: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false }
  }
})
const [minutes, rate, seed] = [Number(values.minutes), Number(values.rate), Number(values.seed)]
const runSeconds = minutes * 60
const isShort = minutes < 10
const folder = temporaryFolder('soak')
const missing: string[] = []
const evidence = new Evidence()
const random = randomFrom(seed)
const closing: (() => unknown)[] = []

// A run that is stopped leaves no process and no mounted disk.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => void close().then(() => process.exit(1)))
try {
  console.log(`A soak of ${minutes} minutes with seed ${seed} and ${rate} operations a second, in ${folder}`)
  await soak()
} finally {
  await close()
  if (values.keep) console.log(`The logs are in ${folder}`)
  else rmSync(folder, { recursive: true, force: true })
}

async function close() {
  for (const one of closing.splice(0).toReversed()) await one()
}

async function soak() {
  const cluster = await startCluster(folder, closing)
  if (!cluster.hasOwnDisk) missing.push('Without the right to mount a file system: no full disk.')
  const wire = await wireTo(cluster.url)
  closing.push(() => wire.close())
  // The first process lives longest; the last one is behind the network that fails.
  const urls = Array.from({ length: processCount }, (_, slot) => (slot === processCount - 1 ? wire.url : cluster.url))
  const fleet = await startFleet(folder, urls, cluster.redisUrl, evidence)
  closing.push(() => fleet.stop())
  const ports = fleet.members.map(({ port }) => port)
  const proxy = await startProxy(folder, publicHost, ports)
  if (proxy === undefined) throw new Error('The soak needs nginx: install it, or set TEST_NGINX to its path.')
  closing.push(() => proxy.daemon.stop('SIGTERM'))
  const monitoring = await startMonitoring(folder, ports, isShort)
  if (monitoring === undefined) missing.push('Without Prometheus: no queries of the dashboard, no alerts.')
  else closing.push(() => monitoring.daemon.stop('SIGTERM'))

  const password = randomBytes(12).toString('base64url')
  const { users, ...products } = await populate(cluster, password)
  const recorder = new Recorder()
  const receivers = await startReceivers(random, evidence, recorder)
  closing.push(() => receivers.close())
  const around = { port: proxy.port, recorder, evidence, secrets: new Set([password, ...canaries, ...fleet.secrets]), isOver: false }
  const clients = clientsOf(around, users)
  closing.push(() => clients.forEach((client) => client.close()))
  let keys = 0
  const world: World = Object.assign(around, {
    ...products,
    cluster,
    fleet,
    receivers,
    ledger: new Ledger(),
    random,
    customers: clients.filter(({ user }) => user.role === 'customer'),
    staff: clients.filter(({ user }) => user.role === 'staff'),
    nextKey: () => `k${(keys += 1)}`
  })
  for (const client of clients) await client.signIn()
  await subscribeAll(world)

  const end = new AbortController()
  const sampling = sample(world, end.signal)
  const traffic = sendTraffic(world, rate, end.signal)
  const collecting = setInterval(() => void monitoring?.collect().catch(() => {}), isShort ? 5000 : 30_000)
  const progress = setInterval(() => console.log(lineOf(world)), 60_000)
  closing.push(() => (clearInterval(collecting), clearInterval(progress)))
  await Promise.all([causeFaults(world, wire, runSeconds), delay(runSeconds * 1000)])
  // A quiet end, which distinguishes what a fault caused from what remains.
  await delay(isShort ? 5000 : 60_000)
  end.abort()
  receivers.isCalm = true
  await Promise.race([traffic, delay(maxDrainSeconds * 1000, undefined, { ref: false })])
  await drain(world, maxDrainSeconds)
  await checkInvariants(world)
  around.isOver = true
  await sampling
  checkServerErrors(world)
  checkMemory(world)
  checkStops(world)
  if (monitoring) {
    for (const query of await monitoring.collect()) evidence.fail('every query of the dashboard has data', query)
    evidence.check('every query of the dashboard has data', `${monitoring.queryCount} queries`)
    recorder.notes.push(`Alerts that fired: ${(await monitoring.alerts()).join(', ') || 'none'}.`)
  }
  await fleet.stop()
  await checkLogs(world, folder, around.secrets)

  const result = join(repository, 'proofs/soak/result')
  mkdirSync(result, { recursive: true })
  const text = report(world, { minutes, rate, seed, missing })
  writeFileSync(join(result, 'soak.md'), text)
  if (values.write) writeFileSync(join(repository, 'docs/soak.md'), text)
  console.log(text)
  if (evidence.failures.size > 0) process.exitCode = 1
}

function lineOf({ recorder, ledger, receivers }: World) {
  const fault = recorder.marks.findLast(({ to }) => to === Infinity)?.name ?? 'none'
  return `${Math.round(recorder.now)} s: ${ledger.orders.size} orders, ${receivers.totals.delivered} deliveries, ${evidence.failures.size} invariants failed, fault: ${fault}`
}
