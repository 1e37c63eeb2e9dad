// Measures ordered subscriptions: how fast their events arrive, one and ten at the same time, and how long after an outage the first and the last arrive.
// TEST_DATABASE_URL=… node --conditions=@concordat/source packages/postgres/bench/webhook-outage.ts [runs] [events] [seconds of the outage]
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:https'
import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@concordat/test-harness/until'
import { everyOwner } from '@concordat/webhooks'
import { Client } from 'pg'
import { generate } from 'selfsigned'
import { startWebhookService, type WebhookService } from '../test/soak/webhook-service.ts'

const [runs = 3, events = 10_000, outageSeconds = 60] = process.argv.slice(2).map(Number)
const where = process.env['TEST_DATABASE_URL'] ?? 'memory://'
const altNames = [{ type: 2 as const, value: 'localhost' }]
const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
  keyType: 'ec',
  extensions: [{ name: 'subjectAltName', altNames }]
})
const received = new Map<string, { readonly at: number; readonly number: number }[]>()
let upAt = 0
const server = createServer({ key, cert }, async (request, response) => {
  const { type, data } = JSON.parse(Buffer.concat(await request.toArray()).toString()) as { type: string; data: { id: string } }
  const isUp = type === 'webhook.ping' || Date.now() >= upAt
  if (isUp && type !== 'webhook.ping') received.get(String(request.url))?.push({ at: Date.now(), number: Number(data.id) })
  response.writeHead(isUp ? 204 : 503).end()
}).listen(0, '127.0.0.1')
await until(() => server.listening)
const { port } = server.address() as { port: number }

for (let run = 0; run < runs; run += 1) {
  const one = await measure(1, events / 10, 0)
  console.log(`one ordered subscription: ${Math.round((one.count * 1000) / one.totalMs)} deliveries/s`)
  const ten = await measure(10, events / 10, 0)
  console.log(`ten ordered subscriptions: ${ten.count} deliveries in ${(ten.totalMs / 1000).toFixed(1)} s`)
  const out = await measure(10, events / 10, outageSeconds)
  console.log(
    `after ${outageSeconds} s of outage: the first of ${out.count} after ${(out.firstMs / 1000).toFixed(1)} s, the last after ${(out.totalMs / 1000).toFixed(1)} s (load ${loadavg()[0]?.toFixed(1)})`
  )
}
server.closeAllConnections()
server.close()

/** Emits `each` events to each of the subscriptions. The times count from the first event, or from the end of the outage. */
async function measure(subscriptions: number, each: number, seconds: number) {
  const schema = `webhook_outage_${randomUUID().slice(0, 8)}`
  const service = await startWebhookService({ where, schema, certificate: cert })
  const paths = Array.from({ length: subscriptions }, (_, index) => `/${schema}/${index}`)
  for (const path of paths) {
    received.set(path, [])
    const url = `https://localhost:${port}${path}`
    await service.app.webhooks.subscribe('one', { url, eventTypes: ['order.created'], ordered: true })
  }
  await until(async () => (await service.app.webhooks.subscriptions(everyOwner, { limit: 100 })).every(isVerified))
  upAt = Date.now() + seconds * 1000
  const emitting = emitAll(service, each)
  if (seconds > 0) await delay(seconds * 1000)
  await emitting
  const count = subscriptions * each
  await until(() => paths.every((path) => (received.get(path)?.length ?? 0) >= each))
  const all = paths.map((path) => received.get(path) ?? [])
  for (const seen of all) {
    if (seen.length !== each || seen.some(({ number }, index) => number !== index))
      throw new Error('An event was lost, repeated or overtaken.')
  }
  const times = all.flat().map(({ at }) => at - upAt)
  await service.close()
  for (const path of paths) received.delete(path)
  await drop(schema)
  return { count, firstMs: Math.min(...times), totalMs: Math.max(...times) }
}

async function emitAll({ app }: WebhookService, each: number) {
  for (let number = 0; number < each; number += 1) await app.webhooks.emit('order.created', { id: String(number) })
}

function isVerified({ verificationJobId }: { readonly verificationJobId?: string | undefined }) {
  return verificationJobId === undefined
}

async function drop(schema: string) {
  if (!where.startsWith('postgres:')) return
  const client = new Client({ connectionString: where })
  await client.connect()
  await client.query(`DROP SCHEMA ${schema}, ${schema}_queue CASCADE`)
  await client.end()
}
