// Measures the cost of an export for other requests: node --conditions=@concordat/source examples/orders-service/bench/export-load.ts
// [orders] [requests a second]. It uses a separate database on the PostgreSQL of TEST_DATABASE_URL, and runs on Linux, where /proc has
// the memory of a process.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'

const [orders = 100_000, perSecond = 20] = process.argv.slice(2).map(Number)
const server = process.env['TEST_DATABASE_URL']
if (server === undefined) throw new Error('Set TEST_DATABASE_URL to the address of a PostgreSQL server.')
const idleSeconds = 30
const name = `orders_export_bench_${randomUUID().slice(0, 8)}`
const url = Object.assign(new URL(server), { pathname: `/${name}` }).href
await administer(`CREATE DATABASE ${name}`)
const sql = new Client({ connectionString: url })
await sql.connect()
let service = await start()
try {
  // Warms up the service.
  await load(perSecond, () => delay(20_000))
  const idle = await load(perSecond, () => delay(idleSeconds * 1000))
  let file = ''
  const exporting = await load(perSecond, async () => {
    file = await finished(await begin())
  })
  const downloading = await load(perSecond, async () => {
    for (const accept of ['application/json', 'text/csv']) console.log(accept, await download(file, accept), 'bytes')
  })
  for (const [phase, figures] of Object.entries({ idle, exporting, downloading })) console.log(phase, JSON.stringify(figures))
  console.log('cancelled', JSON.stringify(await cancelling()))
  console.log('stopped', JSON.stringify(await stopping()))
} finally {
  service.child.kill('SIGKILL')
  await sql.end()
  await administer(`DROP DATABASE ${name} WITH (FORCE)`)
}

/** Sends requests at a steady rate, without waiting for responses, while the work runs. */
async function load(rate: number, work: () => Promise<unknown>) {
  const paths = ['/v1/products?perPage=20', `/v1/orders?perPage=20`, `/v1/orders/${service.orderId}`]
  const times: number[] = []
  const memory: number[] = []
  const requested: Promise<void>[] = []
  const state = { isOver: false }
  let [turn, refused] = [0, 0]
  const begun = performance.now()
  const worked = work().finally(() => (state.isOver = true))
  while (!state.isOver) {
    requested.push(call(paths[(turn += 1) % paths.length] ?? ''))
    memory.push(residentMegabytes(service.child))
    await delay(Math.max(0, begun + (turn * 1000) / rate - performance.now()))
  }
  await worked
  const seconds = (performance.now() - begun) / 1000
  await Promise.all(requested)
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => Math.round((sorted[Math.floor(sorted.length * part)] ?? 0) * 10) / 10
  const rss = memory.toSorted((a, b) => a - b)
  return {
    seconds: Math.round(seconds * 10) / 10,
    requests: times.length,
    refused,
    milliseconds: { p50: at(0.5), p99: at(0.99), max: at(0.99999) },
    rssMegabytes: { median: rss[rss.length >> 1], peak: rss.at(-1) }
  }

  async function call(path: string) {
    const sent = performance.now()
    const response = await request(path)
    await response.arrayBuffer()
    if (response.status !== 200) refused += 1
    times.push(performance.now() - sent)
  }
}

/** Measures how long an export continues to write after its DELETE was confirmed. */
async function cancelling() {
  const id = await begun()
  const sent = performance.now()
  const { status } = await request(`/v1/order-exports/${id}`, { method: 'DELETE' })
  const responded = performance.now()
  while ((await chunksOf(id)) > 0) await delay(20)
  return { status, respondedAfterMs: Math.round(responded - sent), stoppedAfterMs: Math.round(performance.now() - sent) }
}

/** Measures how long a service with an export takes to stop, the state of the export then, and how soon the next process finishes it. */
async function stopping() {
  const id = await begun()
  const sent = performance.now()
  service.child.kill('SIGTERM')
  const [code] = await once(service.child, 'close')
  const exitMs = Math.round(performance.now() - sent)
  const { rows } = await sql.query('SELECT state, tries FROM concordat.jobs WHERE id = $1', [id])
  service = await start()
  const ready = performance.now()
  while ((await recordOf(id)).status === 'queued') await delay(10)
  const begunAgainAfterMs = Math.round(performance.now() - ready)
  await finished(id)
  return { code, exitMs, left: rows[0], begunAgainAfterMs }
}

async function begin() {
  const response = await request('/v1/order-exports', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
  return ((await response.json()) as { data: { jobId: string } }).data.jobId
}

/** Starts an export and waits until it has written something. */
async function begun() {
  const id = await begin()
  while ((await chunksOf(id)) < 20) await delay(20)
  return id
}

async function chunksOf(id: string) {
  const { rows } = await sql.query(
    'SELECT count(*)::int AS count FROM order_export_chunks JOIN order_export_files f ON f.id = file_id WHERE export_id = $1',
    [id]
  )
  return rows[0].count as number
}

async function recordOf(id: string) {
  const { data } = (await (await request(`/v1/order-exports/${id}`)).json()) as {
    data: { status: string; _links: { rel: string; href: string }[] }
  }
  return data
}

async function finished(id: string) {
  for (;;) {
    const { status, _links } = await recordOf(id)
    if (status === 'failed') throw new Error('The export failed.')
    if (status === 'completed') return new URL(String(_links.find(({ rel }) => rel === 'result')?.href)).pathname
    await delay(250)
  }
}

async function download(path: string, accept: string) {
  const { body } = await request(path, { headers: { accept, 'accept-encoding': 'identity' } })
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) bytes += chunk.length
  return bytes
}

function request(path: string, { headers, ...more }: RequestInit = {}) {
  return fetch(service.address + path, {
    ...more,
    headers: { authorization: service.authorization, ...(headers as Record<string, string>) }
  })
}

async function start() {
  const child = spawn(process.execPath, ['--conditions=@concordat/source', fileURLToPath(new URL('../src/main.ts', import.meta.url))], {
    env: {
      ...process.env,
      NODE_ENV: 'test',
      DATABASE_URL: url,
      PORT: '0',
      LOG_LEVEL: 'error',
      RATE_LIMIT: 'off',
      SEED_ORDERS: String(orders)
    },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  let out = ''
  for await (const chunk of child.stdout) {
    out += chunk
    if (out.includes('Orders service at ')) break
  }
  const address = /Orders service at (\S+)/.exec(out)?.[1] ?? ''
  const response = await fetch(`${address}/v1/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'ops@example.com', password: 'correct horse battery staple' })
  })
  const { data } = (await response.json()) as { data: { accessToken: string } }
  const authorization = `Bearer ${data.accessToken}`
  const some = await fetch(`${address}/v1/orders?perPage=1`, { headers: { authorization } })
  const [order] = ((await some.json()) as { data: { id: string }[] }).data
  return { child, address, authorization, orderId: String(order?.id) }
}

function residentMegabytes({ pid }: ChildProcess) {
  const pages = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Math.round(Number(pages) / 1024)
}

async function administer(statement: string) {
  const client = new Client({ connectionString: server })
  await client.connect()
  await client.query(statement)
  await client.end()
}
