// Sends pairs of atomic batches that order two products in opposite orders, each pair at once to two processes of the service:
// TEST_DATABASE_URL=postgres://… node --conditions=@concordat/source examples/orders-service/bench/atomic-batches.ts [pairs] [rounds]
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '@concordat/postgres/open'
import { administer } from '@concordat/test-harness/database-roles'
import { startFleet } from '@concordat/test-harness/fleet'
import { spreadOf } from '@concordat/test-harness/spread'

const server = process.env['TEST_DATABASE_URL']
const [pairs = 12, rounds = 5] = process.argv.slice(2).map(Number)
if (server === undefined) throw new Error('Set TEST_DATABASE_URL to the address of a PostgreSQL server.')
const name = `orders_service_bench_${randomUUID().replaceAll('-', '')}`
await administer(server, `CREATE DATABASE ${name}`)
const env = {
  DATABASE_URL: Object.assign(new URL(server), { pathname: `/${name}` }).href,
  NODE_ENV: 'test',
  LOG_LEVEL: 'silent',
  RATE_LIMIT: 'off',
  SEED_ORDERS: '0',
  PUBLIC_URL: 'http://shop.example'
}
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const fleet = await startFleet(2, { command: [process.execPath, '--conditions=@concordat/source', main], env })
const database = await openDatabase({ url: env.DATABASE_URL })
const [here, there] = fleet.members.map(({ url }) => url) as [string, string]

async function post(url: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body)
  })
  return { status: response.status, body: (await response.json()) as { data: unknown } }
}

try {
  const products = await database.query<{ id: string }>(
    'UPDATE products SET units_in_stock = 1000000, discontinued = false WHERE id IN (SELECT id FROM products ORDER BY id LIMIT 2) RETURNING id'
  )
  const signedIn = await post(`${here}/v1/tokens`, { username: 'ada@example.com', password: 'correct horse battery staple' })
  const authorization = `Bearer ${(signedIn.body.data as { accessToken: string }).accessToken}`
  const operations = products.map(({ id: productId }, n) => ({
    id: `op-${n}`,
    method: 'POST',
    path: '/v1/orders',
    body: { items: [{ productId, quantity: 1 }] }
  }))

  const send = async (address: string, input: readonly object[]) => {
    const begunAt = performance.now()
    const headers = { authorization, 'idempotency-key': randomUUID() }
    const { status, body } = await post(`${address}/v1/order-batches`, { operations: input, atomic: true }, headers)
    const statuses = status === 200 ? (body.data as { status: number }[]).map((outcome) => outcome.status) : [status]
    return { ms: performance.now() - begunAt, statuses: statuses.join(' ') }
  }
  for (let round = 0; round <= rounds; round += 1) {
    const sent = Array.from({ length: pairs }, () => [send(here, operations), send(there, operations.toReversed())])
    const received = await Promise.all(sent.flat())
    const counts = Object.fromEntries(
      [...Map.groupBy(received, ({ statuses }) => statuses)].map(([statuses, all]) => [statuses, all.length])
    )
    // The first round compiles the code.
    if (round > 0) console.log(JSON.stringify({ pairs, ...spreadOf(received.map(({ ms }) => ms)), counts }))
  }
} finally {
  await fleet.stop()
  await database.close()
  await administer(server, `DROP DATABASE ${name} WITH (FORCE)`)
}
