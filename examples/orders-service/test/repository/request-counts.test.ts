// What a request needs: hooks, calls of headers and of functions of the packages, promises, statements, round trips, bytes and memory. Nothing is timed,
// so the counts are the same on every machine. They are in request-counts.json; WRITE_COUNTS=true writes it:
// WRITE_COUNTS=true npm test -- examples/orders-service/test/repository/request-counts.test.ts
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { childEnvironment } from '@concordat/test-harness/child'
import { countRequests, memoryOptions, type RequestCounts, type RequestMemory } from '@concordat/test-harness/request-counts'
import { type Interceptor, proxyRoundTrips, type RoundTrip } from '@concordat/test-harness/round-trips'
import { postgresProtocol } from '@concordat/test-harness/wire-protocols'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { buildApp } from '../../src/app.ts'
import { password, settingsOf } from '../service.ts'
import { emptyDatabase, freshDatabase, server } from './fresh-database.ts'
import type { Needs } from './request-counts-process.ts'

interface Counts extends RequestCounts, Partial<RequestMemory> {
  readonly status: number
  readonly promises?: number
  readonly sentBytes?: number
  readonly calls?: number
  readonly statements?: number
  readonly roundTrips?: number
}

type Table = Record<string, Readonly<Record<string, Counts>>>

const file = new URL('request-counts.json', import.meta.url)
const table = JSON.parse(readFileSync(file, 'utf8')) as Table
const isWritten = process.env['WRITE_COUNTS'] === 'true'
const counted = countRequests()
const onServer = { skip: server === undefined && 'set TEST_DATABASE_URL to the address of a PostgreSQL server' }
const secret = 'w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE'
const productId = '0191106c-03c0-76ff-b1de-b7ec6c68a6a1'
// These are sent besides a request, which does not wait for them: notifications, the feed of revocations, the queue, and audit records without a
// transaction.
const beside = /pg_notify|LISTEN|revocations|pgboss|queue|connect|password|^(INSERT INTO|DELETE FROM) concordat\.audit_records(?!, COMMIT)/

t.test('a request in memory runs as many hooks, and needs as much memory, as before', async (t) => {
  check(t, 'memory', await needs('ours.ts'))
})

// The example has a queue that works beside requests, so memory is measured without it and without a proxy.
t.test('a request to PostgreSQL needs as much memory as before', onServer, async (t) => {
  const { databaseUrl } = await emptyDatabase(t, server)
  check(t, 'memory, with PostgreSQL', await needs('ours-postgres.ts', { databaseUrl }))
})

/** Starts a server of the benchmark in a process, which measures what requests to it need. */
async function needs(file: string, options = {}) {
  const program = fileURLToPath(new URL('request-counts-process.ts', import.meta.url))
  const words = [new URL(`../../../../proofs/bench/${file}`, import.meta.url).href, JSON.stringify(options)]
  const { stdout } = await promisify(execFile)(process.execPath, [...memoryOptions, program, ...words], { env: childEnvironment() })
  return JSON.parse(stdout) as Record<string, Needs>
}

t.test('a request to PostgreSQL needs as many statements, round trips and hooks as before', onServer, async (t) => {
  const place = await freshDatabase(t)
  const url = new URL(place.databaseUrl as string)
  let trips: RoundTrip[] = []
  const record: Interceptor = {
    request: () => 'forward',
    response(trip) {
      if (!beside.test(trip.label)) trips.push(trip)
      return 'forward'
    }
  }
  const target = { name: 'PostgreSQL', host: url.hostname, port: Number(url.port || 5432), protocol: postgresProtocol }
  const databaseUrl = Object.assign(new URL(url), { host: `127.0.0.1:${await proxyRoundTrips(t, target, record)}` }).href
  const found: Record<string, Counts> = {}
  for (const [name, send] of Object.entries(await ordersKinds(await start(t, { ...place, databaseUrl })))) {
    // What only the first request of a kind does.
    await send()
    const runs: Counts[] = []
    // Whatever a request needs, each run needs; what the polls of queues and health checks send beside one, another run is without.
    while (runs.length < 3 || (runs.length < 20 && sent(least(runs)) > sent(table['PostgreSQL']?.[name]))) {
      trips = []
      counted()
      const { status } = await send()
      const statements = trips.reduce((sum, trip) => sum + trip.statements, 0)
      runs.push({ status, ...counted(), statements, roundTrips: trips.length })
    }
    found[name] = least(runs)
  }
  check(t, 'PostgreSQL', found)
})

function sent({ roundTrips = 0, statements = 0 }: Partial<Counts> = {}) {
  return roundTrips + statements
}

function least(runs: readonly Counts[]) {
  return runs.reduce((least, run) => (sent(run) < sent(least) ? run : least))
}

async function start(t: Test, place: Awaited<ReturnType<typeof freshDatabase>>) {
  const variables = { RATE_LIMIT: 'off', SEED_ORDERS: '30', CURSOR_SECRETS: secret, TOKEN_SECRETS: secret, REFRESH_SECRETS: secret }
  const app = await buildApp({ ...settingsOf(place, variables), publicUrl: 'https://shop.example' })
  t.teardown(() => app.close())
  return app
}

async function ordersKinds(app: FastifyInstance): Promise<Record<string, () => Promise<{ readonly status: number }>>> {
  const signIn = async (username: string) => sender(app)('POST', '/v1/tokens', {}, { username, password })
  const as = async (username: string) => sender(app, { authorization: `Bearer ${(await signIn(username)).body.data.accessToken}` })
  const [ada, staff] = [await as('ada@example.com'), await as('ops@example.com')]
  await staff('PATCH', `/v1/products/${productId}`, {}, { unitsInStock: 100_000 })
  const body = { items: [{ productId, quantity: 1 }] }
  const key = { 'idempotency-key': randomUUID() }
  const { body: created, headers } = await ada('POST', '/v1/orders', key, body)
  const path = `/v1/orders/${created.data.id}`
  const unchanged = { 'if-none-match': String(headers['etag']) }
  return {
    item: () => ada('GET', path),
    collection: () => ada('GET', '/v1/products?perPage=50'),
    'item, 304': () => ada('GET', path, unchanged),
    // BEGIN with the claim; the order; the subscribers of its event; the stored response with COMMIT.
    'order with a key': () => ada('POST', '/v1/orders', { 'idempotency-key': randomUUID() }, body),
    replay: () => ada('POST', '/v1/orders', key, body),
    change: () => staff('PATCH', path, { 'if-match': '*' }, { note: 'Ring twice.' }),
    'sign-in': () => signIn('ada@example.com')
  }
}

function sender(app: FastifyInstance, common: Record<string, string> = {}) {
  return async (method: 'GET' | 'POST' | 'PATCH', url: string, more: Record<string, string> = {}, payload?: object) => {
    // The feed of revocations needs time for its timer.
    await setImmediate()
    const response = await app.inject({ method, url, headers: { ...common, ...more }, ...(payload && { payload }) })
    return {
      status: response.statusCode,
      headers: response.headers,
      // oxlint-disable-next-line typescript/no-explicit-any -- only the preparation reads it
      get body(): any {
        return response.json()
      }
    }
  }
}

/** Compares what was found with the table. Promises and bytes may be fewer: a timer or the length of a number may add some. Memory may differ by a tenth and 2 KB, because V8 compiles at different times. */
function check(t: Test, place: string, found: Readonly<Record<string, Counts>>) {
  if (isWritten) {
    table[place] = found
    writeFileSync(file, `${JSON.stringify(table, null, 2)}\n`)
  }
  for (const [name, { calls, allocatedKb, keptKb, promises, sentBytes, ...counts }] of Object.entries(found)) {
    const {
      calls: mayCall = 0,
      allocatedKb: mayAllocate = 0,
      keptKb: mayKeep = 0,
      promises: mayPromise = 0,
      sentBytes: maySend = 0,
      ...others
    } = table[place]?.[name] ?? {}
    t.strictSame(counts, others, `${place}, ${name}: the counts`)
    if (promises !== undefined) t.ok(promises <= mayPromise, `${place}, ${name}: creates ${promises} promises, the table has ${mayPromise}`)
    if (sentBytes !== undefined) t.ok(sentBytes <= maySend + 8, `${place}, ${name}: sends ${sentBytes} bytes, the table has ${maySend}`)
    if (calls !== undefined) t.ok(calls <= mayCall, `${place}, ${name}: calls ${calls} functions of the packages, the table has ${mayCall}`)
    if (allocatedKb !== undefined)
      t.ok(allocatedKb <= mayAllocate * 1.1 + 2, `${place}, ${name}: allocates ${allocatedKb} KB, the table has ${mayAllocate}`)
    if (keptKb !== undefined) t.ok(keptKb <= mayKeep * 1.1 + 2, `${place}, ${name}: keeps ${keptKb} KB, the table has ${mayKeep}`)
  }
}
