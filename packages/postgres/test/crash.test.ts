import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, connect as dial } from 'node:net'
import { startFleet } from '@concordat/test-harness/fleet'
import { ownPostgres } from '@concordat/test-harness/own-postgres'
import { scaled } from '@concordat/test-harness/scale'
import { Pool } from 'pg'
import t from 'tap'
import { onServer, server } from './database.ts'
import { programOn, soakPostgres } from './soak/soak.ts'
import { makeTables } from './soak/tables.ts'

const right = (keys: number) => ({ keys, rows: keys, events: keys, doubles: 0, divergent: 0 })

/** One fleet for the tests that do not kill processes. */
let fleet: ReturnType<typeof startFleetOfFour> | undefined

async function startFleetOfFour() {
  const schema = newSchema()
  const pool = new Pool({ connectionString: server, max: 2 })
  await makeTables(pool, schema)
  const fleet = await startFleet(4, programOn(server, schema))
  t.teardown(async () => {
    await fleet.stop()
    await pool.query(`DROP SCHEMA ${schema} CASCADE`)
    await pool.end()
  })
  const orders = async (key: string) => {
    const { rows } = await pool.query<{ id: string }>(`SELECT id FROM ${schema}.orders WHERE client_key = $1`, [key])
    return rows.map(({ id }) => id)
  }
  return { schema, pool, urls: fleet.members.map(({ url }) => url), orders }
}

function newSchema() {
  return `concordat_soak_${randomUUID().slice(0, 8)}`
}

function post(url: string, key: string) {
  return fetch(url, { method: 'POST', headers: { 'idempotency-key': key } })
}

t.test('gives each key one row and one response, and leaves none locked, when processes are killed', onServer, async (t) => {
  const load = { processes: scaled(2, 4), kills: scaled(2, 10), keys: scaled(60, 500), minUp: scaled(1, 2) }
  const report = await soakPostgres(server, newSchema(), load)
  t.match(report, { kills: load.kills, ...right(load.keys) })
  t.comment(JSON.stringify(report))
})

t.test('loses and repeats nothing when PostgreSQL crashes and restarts, and the processes continue', async (t) => {
  const own = await ownPostgres()
  if (own === undefined) return t.comment('not run: PostgreSQL is not installed here')
  t.teardown(() => own.stop())
  const restarts = { count: 1, restart: () => own.restart() }
  const keys = scaled(60, 200)
  const report = await soakPostgres(own.url, newSchema(), { processes: 2, kills: 0, keys, restarts })
  t.match(report, { kills: 0, ...right(keys) })
  return t.comment(JSON.stringify(report))
})

t.test('runs one of four hundred requests with one key on four processes, and serves other routes meanwhile', onServer, async (t) => {
  const { urls, orders, schema, pool } = await (fleet ??= startFleetOfFour())
  const holder = await pool.connect()
  await holder.query('BEGIN')
  await holder.query('SELECT pg_advisory_xact_lock(hashtext($1))', [schema])
  const all = Array.from({ length: 400 }, async (_, index) => {
    const response = await post(`${urls[index % urls.length]}/held-orders`, 'one-key')
    return `${response.status} ${response.headers.get('location')} ${await response.text()}`
  })
  let responded = 0
  for (const response of all) void response.finally(() => (responded += 1))
  for (const url of [...urls, ...urls, ...urls]) t.equal((await fetch(`${url}/ping`)).status, 200)
  t.equal(responded, 0, 'all of them wait meanwhile')
  await holder.query('COMMIT')
  holder.release()
  t.equal(new Set(await Promise.all(all)).size, 1)
  t.equal((await orders('one-key')).length, 1)
})

t.test('replays a response that was lost on the way, with the same body and Location', onServer, async (t) => {
  const { urls, orders } = await (fleet ??= startFleetOfFour())
  const origin = new URL(urls[0] as string)
  let isCut = true
  // Resets the connection to the client when the response of the origin arrives.
  const proxy = createServer((client) => {
    const behind = dial(Number(origin.port), origin.hostname)
    client.pipe(behind)
    client.on('error', () => behind.destroy())
    behind.on('data', (data) => (isCut ? client.resetAndDestroy() : client.write(data)))
    behind.on('close', () => client.destroy())
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => proxy.close())
  const url = `http://127.0.0.1:${(proxy.address() as { port: number }).port}/orders`
  await t.rejects(post(url, 'lost'))
  isCut = false
  const [again, third] = [await post(url, 'lost'), await post(url, 'lost')]
  const [id] = await orders('lost')
  t.equal((await orders('lost')).length, 1)
  t.strictSame([again.status, again.headers.get('location'), again.headers.get('idempotency-replayed')], [201, `/orders/${id}`, 'true'])
  const body = await again.text()
  t.equal((JSON.parse(body) as { id: string }).id, id)
  t.equal(await third.text(), body)
})
