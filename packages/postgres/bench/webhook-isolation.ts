// Measures how much the 20 subscriptions of one owner slow down the deliveries of 80 others, and of one more of that owner at another receiver, if their
// receiver never responds: two services, in turns.
// TEST_DATABASE_URL=… node --conditions=@concordat/source packages/postgres/bench/webhook-isolation.ts [turns] [events per turn] [subscriptions] [of which hang]
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import type { Received } from '../test/soak/webhook-receiver.ts'
import { startWebhookService } from '../test/soak/webhook-service.ts'

const [turns = 8, events = 10, subscriptions = 100, hangingOnes = 20] = process.argv.slice(2).map(Number)
const pauseMs = 500
const where = process.env['TEST_DATABASE_URL'] ?? 'memory://'
const schemas: string[] = []
const { receiver, port, certificate } = await startReceiver()
const hanging = await startReceiver()

const services = { 'all respond': await start(0), 'one hangs': await start(hangingOnes) }
const spreads = { 'all respond': [] as Spread[], 'one hangs': [] as Spread[] }
for (let turn = -1; turn < turns; turn += 1) {
  for (const name of Object.keys(services) as (keyof typeof services)[]) {
    const spread = await measure(services[name])
    if (turn >= 0) spreads[name].push(spread)
  }
}
for (const [name, all] of Object.entries(spreads)) {
  console.log(
    `${name}: p50 ${middle(all, 'p50')} ms, p99 ${middle(all, 'p99')} ms, emit ${middle(all, 'emit')} ms (${all.map(({ p99 }) => p99).join(' ')})`
  )
}
console.log(
  `p99 with one owner whose receivers hang: ${(middle(spreads['one hangs'], 'p99') / middle(spreads['all respond'], 'p99')).toFixed(2)} of that without`
)
console.log(
  `p99 of the owner's other receiver: ${middle(spreads['one hangs'], 'sibling')} ms, and ${middle(spreads['all respond'], 'sibling')} ms without`
)
for (const service of Object.values(services)) await service.close()
await drop()
receiver.disconnect()
hanging.receiver.disconnect()

interface Spread {
  readonly p50: number
  readonly p99: number
  /** The p99 of the owner's other receiver. */
  readonly sibling: number
  /** How long an `emit` took. */
  readonly emit: number
}

async function startReceiver() {
  const receiver = fork(fileURLToPath(new URL('../test/soak/webhook-receiver.ts', import.meta.url)), {
    env: { ...process.env, RECORD: 'yes' }
  })
  const [{ address, certificate }] = (await once(receiver, 'message')) as [{ address: { port: number }; certificate: string }]
  return { receiver, port: address.port, certificate }
}

async function start(hangingCount: number) {
  const schema = `webhook_isolation_${randomUUID().slice(0, 8)}`
  schemas.push(schema)
  const service = await startWebhookService({ where, schema, certificate })
  for (let index = 0; index < subscriptions; index += 1) {
    const isOfOne = index < hangingOnes
    const url = `https://localhost:${isOfOne ? hanging.port : port}/${index < hangingCount ? 'hang' : 'ok'}/${schema}/${index}`
    await service.app.webhooks.subscribe(index < hangingOnes ? 'one' : `other ${index}`, { url, eventTypes: ['order.created'] })
  }
  await service.app.webhooks.subscribe('one', { url: `https://localhost:${port}/ok/${schema}/sibling`, eventTypes: ['order.created'] })
  return { ...service, responder: subscriptions - hangingOnes }
}

async function measure({ app, responder }: Awaited<ReturnType<typeof start>>): Promise<Spread> {
  const emits: number[] = []
  for (let event = 0; event < events; event += 1) {
    const began = performance.now()
    await app.webhooks.emit('order.created', { id: '' })
    emits.push(performance.now() - began)
    await delay(pauseMs)
  }
  const [ages, siblings]: [number[], number[]] = [[], []]
  while (ages.length < responder * events || siblings.length < events) {
    await delay(100)
    receiver.send('take')
    const [{ received }] = (await once(receiver, 'message')) as [{ received: Received[] }]
    ages.push(...received.filter(isOther).map(({ ageMs }) => ageMs))
    siblings.push(...received.filter(({ path }) => path.endsWith('sibling')).map(({ ageMs }) => ageMs))
  }
  return { p50: part(ages, 0.5), p99: part(ages, 0.99), sibling: part(siblings, 0.99), emit: part(emits, 0.5) }
}

function isOther({ path }: Received) {
  return Number(path.split('/').at(-1)) >= hangingOnes
}

function part(values: readonly number[], share: number) {
  return Math.round(values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0)
}

function middle(spreads: readonly Spread[], name: keyof Spread) {
  return part(
    spreads.map((spread) => spread[name]),
    0.5
  )
}

async function drop() {
  if (!where.startsWith('postgres:')) return
  const client = new Client({ connectionString: where })
  await client.connect()
  for (const schema of schemas) await client.query(`DROP SCHEMA ${schema}, ${schema}_queue CASCADE`)
  await client.end()
}
