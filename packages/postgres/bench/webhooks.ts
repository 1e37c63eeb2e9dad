// Deliveries with their rows, against raw signed POSTs by undici to the same receiver over TLS, in interleaved rounds.
// TEST_DATABASE_URL=… node --conditions=@concordat/source packages/postgres/bench/webhooks.ts [rounds] [deliveries] [subscriptions] [ways]
import { fork } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { newSecret } from '@concordat/webhooks'
import { Client } from 'pg'
import { Agent, request } from 'undici'
import { type Place, startWebhookService } from '../test/soak/webhook-service.ts'

interface Run {
  readonly milliseconds: number
  readonly cpu: NodeJS.CpuUsage
}

const atOnce = 100
const data = { text: 'a'.repeat(900) }

// The second process of the last way: it only delivers.
if (process.send) process.once('message', (place: Place) => void startWebhookService(place).then(() => process.send?.('ready')))
else await measure()

async function measure() {
  const [rounds = 5, deliveries = 4000, subscriptions = 20] = process.argv.slice(2, 5).map(Number)
  const wanted = process.argv[5]
  const receiver = fork(fileURLToPath(new URL('../test/soak/webhook-receiver.ts', import.meta.url)))
  const [{ address, certificate }] = (await once(receiver, 'message')) as [{ address: { port: number }; certificate: string }]
  const url = `https://localhost:${address.port}/ok`
  const server = process.env['TEST_DATABASE_URL']
  const ends: (() => Promise<unknown>)[] = [async () => receiver.disconnect()]
  const ways: Record<string, () => Promise<Run>> = { raw: rawPosts(certificate) }
  if (isWanted('PGlite')) ways['PGlite'] = await service('memory://', false)
  if (server !== undefined && isWanted('PostgreSQL')) ways['PostgreSQL'] = await service(server, false)
  if (server !== undefined && isWanted('two')) ways['PostgreSQL, two processes'] = await service(server, true)

  const rates = new Map(Object.keys(ways).map((name) => [name, [] as number[]]))
  const costs = new Map(Object.keys(ways).map((name) => [name, [] as number[]]))
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(ways)) {
      const { milliseconds, cpu } = await run()
      // The first round warms up.
      if (round < 0) continue
      rates.get(name)?.push((deliveries / milliseconds) * 1000)
      costs.get(name)?.push((cpu.user + cpu.system) / deliveries)
    }
  }
  for (const [name, all] of rates) {
    const list = all.map((rate) => Math.round(rate)).join(' ')
    const share = (median(all) / median(rates.get('raw'))).toFixed(2)
    // On a machine that has other things to do, what it costs says more than how fast it was. Without the server's part.
    const cost = Math.round(median(costs.get(name)))
    console.log(`${name}: ${Math.round(median(all))}/s, ${share} of raw (${list}); ${cost} microseconds of this process each`)
  }
  for (const end of ends) await end()

  function isWanted(name: string) {
    return wanted === undefined || wanted.split(',').includes(name)
  }

  function rawPosts(ca: string) {
    const agent = new Agent({ allowH2: false, connect: { ca } })
    const key = Buffer.from(newSecret().slice('whsec_'.length), 'base64')
    ends.push(() => agent.close())
    return async () => {
      const [began, before] = [performance.now(), process.cpuUsage()]
      let next = 0
      const line = async () => {
        while (next < deliveries) {
          next += 1
          const id = randomUUID()
          const body = JSON.stringify({ type: 'order.created', timestamp: new Date().toISOString(), data })
          const timestamp = Math.floor(Date.now() / 1000)
          const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
          const headers = {
            'content-type': 'application/json',
            'webhook-id': id,
            'webhook-timestamp': String(timestamp),
            'webhook-signature': `v1,${signature}`
          }
          await (await request(url, { method: 'POST', dispatcher: agent, headers, body })).body.dump()
        }
      }
      await Promise.all(Array.from({ length: atOnce }, line))
      return { milliseconds: performance.now() - began, cpu: process.cpuUsage(before) }
    }
  }

  async function service(where: string, hasHelper: boolean) {
    const schema = `webhook_bench_${randomUUID().slice(0, 8)}`
    const place = { where, schema, certificate }
    const running = await startWebhookService(place, { concurrency: atOnce })
    const { app, database } = running
    for (let index = 0; index < subscriptions; index += 1) {
      await app.webhooks.subscribe('bench', { url: `${url}/${index}`, eventTypes: ['order.created'] })
    }
    const helper = hasHelper ? fork(import.meta.filename) : undefined
    helper?.send(place)
    if (helper !== undefined) await once(helper, 'message')
    ends.push(async () => {
      helper?.kill()
      await running.close()
      if (where.startsWith('postgres:')) await drop(where, schema)
    })
    return async () => {
      const { session } = await database.open({})
      const told: (() => void)[] = []
      const transaction = {
        query: async (text: string, values: unknown[] = []) => session.query(text, values),
        afterCommit: (tell: () => void) => void told.push(tell)
      }
      for (let event = 0; event < deliveries / subscriptions; event += 1) await app.webhooks.emit('order.created', data, { transaction })
      await session.commit()
      const before = await counted()
      const [began, cpu] = [performance.now(), process.cpuUsage()]
      for (const tell of told) tell()
      while ((await counted()) < before + deliveries) await delay(10)
      const pending = `SELECT '1' AS json FROM ${schema}.webhook_deliveries WHERE status = 'pending' LIMIT 1`
      while ((await database.query(pending)).length > 0) await delay(2)
      return { milliseconds: performance.now() - began, cpu: process.cpuUsage(cpu) }
    }
  }

  async function counted() {
    receiver.send('count')
    const [{ count }] = (await once(receiver, 'message')) as [{ count: number }]
    return count
  }
}

function median(values: readonly number[] = []) {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

async function drop(connectionString: string, schema: string) {
  const client = new Client({ connectionString })
  await client.connect()
  await client.query(`DROP SCHEMA ${schema} CASCADE`)
  await client.query(`DROP SCHEMA ${schema}_queue CASCADE`)
  await client.end()
}
