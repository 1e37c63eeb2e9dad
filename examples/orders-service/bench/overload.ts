// Measures the service beyond its capacity: TEST_DATABASE_URL=… node --conditions=@concordat/source examples/orders-service/bench/overload.ts
// [seconds per step] [seconds of the overload] [folder of the example] [rate]. 70 % of the requests read an item, 20 % a list, 10 % place an order with a
// key. They arrive at a fixed rate, from a process of its own (overload-load.ts). The first steps find the rate with the most responses within a
// second, unless a rate is set; the others send multiples of it, one of them again with retries. The service runs on the first processor, the generator on the others.
// The folder of another version measures that version. Runs on Linux.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { cpuOf, createDatabase, startService } from './running-service.ts'

const [stepSeconds = '10', overloadSeconds = '60', folder = fileURLToPath(new URL('..', import.meta.url)), rate = '0'] =
  process.argv.slice(2)
const multiples = [2, 5, 10]
const run = promisify(execFile)

interface ClassResult {
  readonly sent: number
  readonly good: number
  readonly refused: number
  readonly late: number
  readonly failed: number
  readonly lost: number
  readonly p50: number
  readonly p99: number
}
const classes = ['item', 'list', 'order'] as const
type Report = Readonly<Record<(typeof classes)[number], ClassResult>> & {
  /** The time in which requests were sent, again too. */
  readonly seconds: number
  readonly all: { readonly p50: number; readonly p99: number }
  readonly cpuSeconds: number
  readonly open: number
}

const { name, url, drop } = await createDatabase('orders_overload_bench')
const sql = new Client({ connectionString: url })
await sql.connect()
const service = await start()
/** The results at the best rate. */
let reference: Report | undefined
try {
  // Warms up the service.
  await step(100, 10, 0)
  let best = Number(rate)
  let bestGood = 0
  for (let rate = 200; best === 0 || bestGood > 0; rate = Math.round(rate * 1.25)) {
    const good = goodOf(await step(rate, Number(stepSeconds), 0)) / Number(stepSeconds)
    if (good > bestGood) [best, bestGood] = [rate, good]
    if (good < 0.9 * rate) break
    await delay(2000)
  }
  console.log(`best rate: ${best} requests a second`)
  await delay(5000)
  reference = await step(best, Number(overloadSeconds), 0)
  for (const multiple of multiples) {
    await delay(5000)
    await step(best * multiple, Number(overloadSeconds), 0)
  }
  await delay(5000)
  await step(best * (multiples[1] ?? 1), Number(overloadSeconds), 5)
} finally {
  service.child.kill('SIGKILL')
  await sql.end()
  await drop()
}

function goodOf(report: Report) {
  return classes.reduce((sum, kind) => sum + report[kind].good, 0)
}

/** Sends requests at a rate and prints a line of the results. */
async function step(rate: number, seconds: number, retries: number) {
  const { child, settings } = service
  const probes = { isOver: false, times: [] as number[] }
  const probing = probe(probes)
  const before = { service: cpuOf([child.pid as number]), database: cpuOf(await backends()) }
  const load = JSON.stringify({ ...settings, rate, seconds, retries })
  const { stdout } = await run('taskset', ['-c', '1-64', process.execPath, join(import.meta.dirname, 'overload-load.ts'), load], {
    maxBuffer: 1e7
  })
  probes.isOver = true
  await probing
  const report = JSON.parse(stdout) as Report
  const cpu = (more: number) => Math.round((more / seconds) * 100)
  const perClass = classes.map((kind) => `${kind} ${report[kind].good}/${report[kind].sent} p99 ${report[kind].p99}`)
  const part = (good: number, goodBefore: number) => Math.round((good / goodBefore) * 100 * (Number(overloadSeconds) / report.seconds))
  const parts =
    reference === undefined
      ? []
      : [
          `of the best rate: ${part(goodOf(report), goodOf(reference))} % (${classes.map((kind) => part(report[kind].good, reference?.[kind].good ?? 0)).join(', ')})`
        ]
  const counts = (['refused', 'late', 'failed', 'lost'] as const).map(
    (key) => `${key} ${classes.reduce((sum, kind) => sum + report[kind][key], 0)}`
  )
  console.log(
    [
      `${rate}/s${retries > 0 ? ' with retries' : ''}`,
      `good ${Math.round(goodOf(report) / report.seconds)}/s`,
      ...parts,
      ...perClass,
      `p50 ${report.all.p50} p99 ${report.all.p99} ms`,
      ...counts,
      `live max ${Math.round(Math.max(...probes.times))} ms`,
      `cpu % service ${cpu(cpuOf([child.pid as number]) - before.service)} database ${cpu(cpuOf(await backends()) - before.database)} generator ${cpu(report.cpuSeconds)}`,
      `load ${loadavg()[0]?.toFixed(1)}`
    ].join(' | ')
  )
  return report
}

/** Checks the liveness of the service five times a second. */
async function probe(probes: { isOver: boolean; times: number[] }) {
  while (!probes.isOver) {
    const sent = performance.now()
    const { status } = await fetch(`http://127.0.0.1:${service.settings.port}/health/live`)
    if (status !== 200) throw new Error(`/health/live: ${status}`)
    probes.times.push(performance.now() - sent)
    await delay(200)
  }
}

async function backends() {
  const { rows } = await sql.query('SELECT pid FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()', [name])
  return rows.map(({ pid }) => pid as number)
}

async function start() {
  const { child, address } = await startService(folder, { DATABASE_URL: url, RATE_LIMIT: 'off', SEED_ORDERS: '1000' }, [
    'taskset',
    '-c',
    '0'
  ])
  const response = await fetch(`${address}/v1/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'ada@example.com', password: 'correct horse battery staple' })
  })
  const { data } = (await response.json()) as { data: { accessToken: string } }
  const { rows } = await sql.query('UPDATE products SET units_in_stock = 1000000000, discontinued = false RETURNING id')
  const authorization = `Bearer ${data.accessToken}`
  const placed = await fetch(`${address}/v1/orders`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify({ items: [{ productId: rows[0].id, quantity: 1 }] })
  })
  const { data: order } = (await placed.json()) as { data: { id: string } }
  const settings = { port: Number(new URL(address).port), authorization, products: rows.map(({ id }) => id as string), orderId: order.id }
  return { child, settings }
}
