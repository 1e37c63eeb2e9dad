// Compares deliveries with their rows, and the sender without any rows, to raw signed POSTs by undici to the same receiver over TLS and to
// a hand-written outbox, in interleaved rounds, each in a separate process.
// TEST_DATABASE_URL=… node --conditions=@concordat/source packages/postgres/bench/webhooks.ts [rounds] [deliveries] [subscriptions] [ways]
import { type ChildProcess, fork } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { newSecret, webhookSender } from '@concordat/webhooks'
import { Pool } from 'pg'
import { Agent, request } from 'undici'
import { type Place, startWebhookService } from '../test/soak/webhook-service.ts'

interface Input {
  readonly way: string
  readonly url: string
  readonly deliveries: number
  readonly subscriptions: number
  readonly place: Place
}

/** A round: the preparation before the time is measured, the measured work, and the moment when all of it is stored. */
interface Way {
  prepare(): Promise<void>
  start(): void
  ended(): Promise<void>
}

const atOnce = { raw: 100, deliveries: 800 }
const data = { text: 'a'.repeat(900) }

if (process.send) await serve()
else await measure()

async function measure() {
  const [rounds = 5, deliveries = 20_000, subscriptions = 100] = process.argv.slice(2, 5).map(Number)
  const receiver = fork(fileURLToPath(new URL('../test/soak/webhook-receiver.ts', import.meta.url)))
  const [{ address, certificate }] = (await once(receiver, 'message')) as [{ address: { port: number }; certificate: string }]
  const url = `https://localhost:${address.port}/ok`
  const server = process.env['TEST_DATABASE_URL']
  const places: Record<string, string | undefined> = {
    raw: '',
    sender: '',
    PGlite: 'memory://',
    'hand-written': server,
    PostgreSQL: server,
    'two processes': server
  }
  const wanted = process.argv[5]?.split(',') ?? Object.keys(places)
  const schemas: string[] = []
  const children = new Map<string, ChildProcess>()
  for (const [way, where] of Object.entries(places)) {
    if (where === undefined || (way !== 'raw' && !wanted.includes(way))) continue
    const schema = `webhook_bench_${randomUUID().slice(0, 8)}`
    if (where === server) schemas.push(schema)
    const input: Input = { way, url, deliveries, subscriptions, place: { where, schema, certificate } }
    children.set(way, await childFor(input))
  }

  const rates = new Map([...children.keys()].map((way) => [way, [] as number[]]))
  const costs = new Map([...children.keys()].map((way) => [way, [] as number[]]))
  for (let round = -1; round < rounds; round += 1) {
    for (const [way, child] of children) {
      await requested(child, 'prepare')
      const before = await counted()
      const began = performance.now()
      child.send('start')
      while ((await counted()) < before + deliveries) await delay(10)
      const cost = (await requested(child, 'ended')) as number
      // The first round warms up.
      if (round < 0) continue
      rates.get(way)?.push((deliveries / (performance.now() - began)) * 1000)
      costs.get(way)?.push(cost / deliveries)
    }
  }
  for (const [way, all] of rates) {
    const list = all.map((rate) => Math.round(rate)).join(' ')
    const share = (median(all) / median(rates.get('raw'))).toFixed(2)
    // On a busy machine, the CPU time says more than the speed. It excludes the CPU time of the server.
    const cost = Math.round(median(costs.get(way)))
    console.log(`${way}: ${Math.round(median(all))}/s, ${share} of raw (${list}); ${cost} microseconds of its process each`)
  }
  for (const child of children.values()) {
    child.disconnect()
    await once(child, 'exit')
  }
  receiver.disconnect()
  if (server !== undefined) for (const schema of schemas) await drop(server, schema)

  async function counted() {
    const { count } = (await requested(receiver, 'count')) as { count: number }
    return count
  }
}

async function childFor(input: Input | Place) {
  const child = fork(import.meta.filename)
  child.once('exit', (code) => {
    if (code !== 0) process.exit(1)
  })
  child.send(input)
  await once(child, 'message')
  return child
}

async function requested(child: ChildProcess, message: string): Promise<unknown> {
  child.send(message)
  const [response] = (await once(child, 'message')) as [unknown]
  return response
}

/** Runs a child process: the first message sets its work, and three messages control each round. */
async function serve() {
  process.on('disconnect', () => process.exit())
  const [input] = (await once(process, 'message')) as [Input | Place]
  if ('where' in input) await startWebhookService(input, { concurrency: atOnce.deliveries, concurrencyPerOwner: atOnce.deliveries })
  else responseRounds(await wayOf(input))
  process.send?.('ready')
}

function wayOf(input: Input) {
  if (input.way === 'raw') return posts(input, rawPoster(input.place.certificate))
  if (input.way === 'sender') return posts(input, senderPoster())
  return input.way === 'hand-written' ? outbox(input) : service(input)
}

function responseRounds(way: Way) {
  let before = process.cpuUsage()
  process.on('message', async (message) => {
    if (message === 'prepare') {
      await way.prepare()
      process.send?.('prepared')
    }
    if (message === 'start') {
      before = process.cpuUsage()
      way.start()
    }
    if (message === 'ended') {
      await way.ended()
      const { user, system } = process.cpuUsage(before)
      process.send?.(user + system)
    }
  })
}

type Post = (url: string, id: string, body: string) => Promise<unknown>

/** Signs and posts once, like hand-written code. */
function rawPoster(certificate: string) {
  const agent = new Agent({ allowH2: false, connect: { ca: certificate } })
  const key = Buffer.from(newSecret().slice('whsec_'.length), 'base64')
  return async (url: string, id: string, body: string) => {
    const timestamp = Math.floor(Date.now() / 1000)
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${signature}`
    }
    const response = await request(url, { method: 'POST', dispatcher: agent, headers, body })
    await response.body.dump()
    return response.statusCode
  }
}

function senderPoster(): Post {
  const sender = webhookSender({ dangerouslyAllowLoopback: 'any-certificate' })
  const keys = [newSecret()]
  return async (url, id, body) => sender.send({ url, keys, id, body })
}

/** Posts without any rows. */
function posts({ url, deliveries }: Input, post: Post): Way {
  let lines: Promise<unknown> = Promise.resolve()
  let next = 0

  async function line() {
    while (next < deliveries) {
      next += 1
      await post(url, randomUUID(), JSON.stringify({ type: 'order.created', timestamp: new Date().toISOString(), data }))
    }
  }

  return {
    prepare: async () => void (next = 0),
    start: () => void (lines = Promise.all(Array.from({ length: atOnce.raw }, line))),
    ended: async () => void (await lines)
  }
}

/** The smallest durable outbox that stores attempts: rows are taken, posted and updated in batches, without any handling of failures. */
async function outbox({ url, deliveries, subscriptions, place: { where, schema, certificate } }: Input): Promise<Way> {
  const pool = new Pool({ connectionString: where, max: 10 })
  await pool.query(`CREATE SCHEMA ${schema};
    CREATE TABLE ${schema}.message (id uuid PRIMARY KEY, body text NOT NULL);
    CREATE TABLE ${schema}.delivery (
      id uuid PRIMARY KEY, subscription integer NOT NULL, message_id uuid NOT NULL, status text NOT NULL, ended_at timestamptz
    );
    CREATE INDEX ON ${schema}.delivery (id) WHERE status = 'pending';
    CREATE INDEX ON ${schema}.delivery (subscription, status, id);
    CREATE TABLE ${schema}.attempt (
      delivery_id uuid, id uuid, started_at timestamptz NOT NULL, milliseconds double precision, status_code integer, PRIMARY KEY (delivery_id, id)
    )`)
  const post = rawPoster(certificate)
  const taken = `UPDATE ${schema}.delivery SET status = 'sending' FROM ${schema}.message WHERE message.id = message_id AND delivery.id = ANY(ARRAY(
      SELECT id FROM ${schema}.delivery WHERE status = 'pending' ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
    )) RETURNING delivery.id, subscription, message_id, body`
  const written = `WITH done AS (
      UPDATE ${schema}.delivery SET status = 'delivered', ended_at = now() FROM json_to_recordset($1::json)
        AS next (delivery_id uuid, id uuid, started_at timestamptz, milliseconds double precision, status_code integer)
      WHERE delivery.id = next.delivery_id RETURNING next.*
    )
    INSERT INTO ${schema}.attempt SELECT * FROM done`
  const share = 200
  let lines: Promise<unknown> = Promise.resolve()

  async function line() {
    for (;;) {
      const { rows } = await pool.query<{ id: string; subscription: number; message_id: string; body: string }>(taken, [share])
      if (rows.length === 0) return
      const attempts = await Promise.all(
        rows.map(async ({ id, subscription, message_id: messageId, body }) => {
          const startedAt = new Date()
          const statusCode = await post(`${url}/${subscription}`, messageId, body)
          const milliseconds = Date.now() - startedAt.getTime()
          return { delivery_id: id, id: randomUUID(), started_at: startedAt, milliseconds, status_code: statusCode }
        })
      )
      await pool.query(written, [JSON.stringify(attempts)])
    }
  }

  return {
    async prepare() {
      for (let event = 0; event < deliveries / subscriptions; event += 1) {
        const body = JSON.stringify({ type: 'order.created', timestamp: new Date().toISOString(), data })
        await pool.query(
          `WITH message AS (INSERT INTO ${schema}.message VALUES (gen_random_uuid(), $1) RETURNING id)
          INSERT INTO ${schema}.delivery SELECT gen_random_uuid(), number, message.id, 'pending' FROM message, generate_series(1, $2) AS number`,
          [body, subscriptions]
        )
      }
    },
    start: () => void (lines = Promise.all(Array.from({ length: atOnce.deliveries / share }, line))),
    ended: async () => void (await lines)
  }
}

async function service({ way, url, deliveries, subscriptions, place }: Input): Promise<Way> {
  const { app, database } = await startWebhookService(place, { concurrency: atOnce.deliveries, concurrencyPerOwner: atOnce.deliveries })
  for (let index = 0; index < subscriptions; index += 1) {
    await app.webhooks.subscribe('bench', { url: `${url}/${index}`, eventTypes: ['order.created'] })
  }
  if (way === 'two processes') await childFor(place)
  let received: (() => void)[] = []

  return {
    async prepare() {
      received = []
      const { session } = await database.open({})
      const transaction = {
        query: async (text: string, values: unknown[] = []) => session.query(text, values),
        afterCommit: (notify: () => void) => void received.push(notify)
      }
      for (let event = 0; event < deliveries / subscriptions; event += 1) await app.webhooks.emit('order.created', data, { transaction })
      await session.commit()
    },
    start() {
      for (const notify of received) notify()
    },
    async ended() {
      const { schema } = place
      const pending = `SELECT '1' AS json FROM ${schema}.webhook_subscriptions AS subscription WHERE EXISTS (
        SELECT FROM ${schema}.webhook_deliveries WHERE subscription_id = subscription.id AND status = 'pending'
      )`
      while ((await database.query(pending)).length > 0) await delay(2)
    }
  }
}

function median(values: readonly number[] = []) {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

async function drop(connectionString: string, schema: string) {
  const pool = new Pool({ connectionString, max: 1 })
  await pool.query(`DROP SCHEMA IF EXISTS ${schema}, ${schema}_queue CASCADE`)
  await pool.end()
}
