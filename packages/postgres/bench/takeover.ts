// Measures how soon a waiting retry takes over when the process that ran its request is killed, on the server of TEST_DATABASE_URL:
// node --conditions=@concordat/source packages/postgres/bench/takeover.ts [kills]
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type FleetMember, startFleet } from '@concordat/test-harness/fleet'
import { spreadOf } from '@concordat/test-harness/spread'
import { Pool } from 'pg'
import { programOn } from '../test/soak/soak.ts'
import { makeTables } from '../test/soak/tables.ts'

const [kills = 40] = process.argv.slice(2).map(Number)
const connectionString = process.env['TEST_DATABASE_URL']
if (connectionString === undefined) throw new Error('Set TEST_DATABASE_URL to the address of a PostgreSQL server.')
const schema = `concordat_soak_${randomUUID().slice(0, 8)}`
const pool = new Pool({ connectionString, max: 2 })
await makeTables(pool, schema)
const fleet = await startFleet(2, programOn(connectionString, schema))

function post({ url }: FleetMember, key: string, headers: Record<string, string> = {}) {
  return fetch(`${url}/hanging-orders`, { method: 'POST', headers: { 'idempotency-key': key, ...headers } })
}

/** Returns the time from the kill of the owner to the response for the waiter. */
async function takeover(place: string, owner: FleetMember, waiter: FleetMember) {
  const key = randomUUID()
  post(owner, key, { 'x-hangs-in': place }).catch(() => {})
  await delay(500)
  const response = post(waiter, key)
  // Long enough for the retry to poll at its longest interval.
  await delay(2000 + Math.random() * 1000)
  const killedAt = performance.now()
  await fleet.kill(owner)
  const { status } = await response
  if (status !== 201) throw new Error(`The response for the waiter was ${status}.`)
  return performance.now() - killedAt
}

for (const place of ['transaction', 'statement']) {
  const times: number[] = []
  for (let n = 0; n < kills; n += 1) {
    while (!fleet.members.every(({ isUp }) => isUp)) await delay(20)
    const [owner, waiter] = n % 2 === 0 ? fleet.members : fleet.members.toReversed()
    times.push(await takeover(place, owner as FleetMember, waiter as FleetMember))
  }
  console.log(`killed in the middle of a ${place}, ms:`, spreadOf(times), `of ${kills} kills`)
}
await fleet.stop()
await pool.query(`DROP SCHEMA ${schema} CASCADE`)
await pool.end()
