// A process of the webhook soak test: it emits events, reports those that were acknowledged, and delivers them, until it is killed.
import { randomUUID } from 'node:crypto'
import { flushCompileCache } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import { type Place, startWebhookService } from './webhook-service.ts'

const { subscriptions, urls, ...place } = JSON.parse(process.argv[2] ?? '') as Place & { subscriptions: number; urls: string }
const { app, database } = await startWebhookService(place, { userAgent: String(process.pid) })
if ((await app.webhooks.subscriptions('soak', { limit: 1 })).length === 0) {
  for (let index = 0; index < subscriptions; index += 1) {
    await app.webhooks.subscribe('soak', { url: `${urls}/ok/${index}`, eventTypes: ['order.created'] })
  }
}
const stop = new AbortController()
process.on('message', async (input) => {
  if (input === 'stop') stop.abort()
  if (input === 'count') process.send?.(await counts())
})
process.on('disconnect', () => process.exit())
// The parent may end before it receives a message.
process.on('error', () => process.exit())
// A process that is killed does not write its compile cache at exit.
flushCompileCache()
process.send?.('ready')
void reportStalls()
await Promise.all(Array.from({ length: 3 }, emit))
process.send?.('stopped')

async function emit() {
  while (!stop.signal.aborted) {
    const id = randomUUID()
    await app.webhooks.emit('order.created', { id }, { id })
    process.send?.({ acknowledged: id })
    await delay(Math.random() * 60)
  }
}

/** Reports a stall in which a lease of ten seconds can expire: a busy machine ran neither this process nor the server. */
async function reportStalls() {
  for (let last = Date.now(); ; last = Date.now()) {
    await delay(500)
    await database.query('SELECT 1')
    if (Date.now() - last > 5000) process.send?.({ hasStalled: true })
  }
}

async function counts() {
  const [row] = await database.query(`SELECT json_build_object(
    'pending', (SELECT count(*) FROM ${place.schema}.webhook_deliveries WHERE status = 'pending'),
    'unrecorded', (SELECT count(*) FROM ${place.schema}.webhook_deliveries AS delivery WHERE attempts <>
      (SELECT count(*) FROM ${place.schema}.webhook_attempts WHERE delivery_id = delivery.id))
  )::text AS json`)
  return row
}
