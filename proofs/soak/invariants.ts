// What must be true at the end, read from the databases and from what the receivers got.
import { setTimeout as delay } from 'node:timers/promises'
import { enoughStock, littleStock, type World } from './world.ts'

interface StoredOrder {
  readonly id: string
  readonly note: string
  readonly status: string
  readonly customer: string
  readonly isTotalRight: boolean
  readonly hasCancellation: boolean
}

const unfinished = `SELECT
  (SELECT count(*) FROM concordat_queue.job WHERE state IN ('created', 'retry', 'active') AND name LIKE 'job-%')::integer AS jobs,
  (SELECT count(*) FROM concordat.webhook_deliveries d JOIN concordat.webhook_subscriptions s ON s.id = d.subscription_id
    WHERE d.status = 'pending' AND s.is_enabled)::integer AS deliveries`

/** Waits until the queues are empty, at most this long. */
export async function drain(world: World, maxSeconds: number): Promise<void> {
  const begin = world.recorder.now
  for (;;) {
    const [left] = await world.cluster.query<{ jobs: number; deliveries: number }>(unfinished)
    const seconds = world.recorder.now - begin
    if (left?.jobs === 0 && left.deliveries === 0)
      return world.evidence.check('the queues are empty after the faults', `${Math.round(seconds)} s after the last request`)
    if (seconds > maxSeconds)
      return world.evidence.fail('the queues are empty after the faults', `${JSON.stringify(left)} after ${maxSeconds} s`)
    await delay(500)
  }
}

export async function checkInvariants(world: World): Promise<void> {
  await checkOrders(world)
  await checkStock(world)
  await checkDescriptions(world)
  await checkWork(world)
  checkEvents(world)
  await checkReplays(world)
  checkResponses(world)
}

// These were checked with each response.
function checkResponses({ recorder, evidence, fleet }: World) {
  const all = [...recorder.statuses.values()].flatMap((counts) => [...counts])
  const responses = all.filter(([outcome]) => /^\d/.test(outcome))
  const errors = responses.filter(([outcome]) => Number(outcome) >= 400)
  evidence.check('every error of the service is in the envelope', `${sum(errors, ([, count]) => count)} errors`)
  for (const name of ['no response is a 500', 'every response has the expected status'])
    evidence.check(name, `${sum(responses, ([, count]) => count)} responses`)
  evidence.check('no process ended by itself', `${fleet.members.length} processes`)
}

async function checkOrders({ cluster, ledger, evidence }: World) {
  const stored = await cluster.query<StoredOrder>(
    `SELECT id::text, note, status, customer_id::text AS customer,
       total = coalesce((SELECT sum(quantity * unit_price) FROM order_items WHERE order_id = orders.id), 0) AS "isTotalRight",
       EXISTS (SELECT FROM order_cancellations WHERE order_id = orders.id) AS "hasCancellation"
     FROM orders WHERE note ~ '^k[0-9]+(;|$)'`
  )
  const byKey = new Map<string, StoredOrder>()
  for (const order of stored) {
    const [key = '', ...changes] = order.note.split(';')
    const known = ledger.orders.get(order.id)
    if (byKey.has(key)) evidence.fail('no write is doubled', `key ${key}: orders ${byKey.get(key)?.id} and ${order.id}`)
    byKey.set(key, order)
    if (ledger.refused.has(key)) evidence.fail('a refused write has no effect', `key ${key}: order ${order.id}`)
    if (!order.isTotalRight) evidence.fail('totals add up', `order ${order.id}`)
    if ((order.status === 'cancelled') !== order.hasCancellation)
      evidence.fail('an order is cancelled if it has a cancellation', `order ${order.id}`)
    if (known === undefined) {
      if (!ledger.open.has(key)) evidence.fail('a write without effect for its client has none', `key ${key}: order ${order.id}`)
      continue
    }
    if (known.key !== key || known.customerId !== order.customer)
      evidence.fail('a write is that of its client', `order ${order.id}: ${order.note}`)
    if (known.isCancelled !== (order.status === 'cancelled'))
      evidence.fail('no acknowledged write is lost', `cancellation of ${order.id}: ${order.status}`)
    if (changes.join() !== known.changes.join())
      evidence.fail('no acknowledged write is lost', `order ${order.id} has ${changes.join()}, and not ${known.changes.join()}`)
  }
  const ids = new Set(stored.map(({ id }) => id))
  for (const { id, key } of ledger.orders.values())
    if (!ids.has(id)) evidence.fail('no acknowledged write is lost', `order ${id} with key ${key}`)
  for (const key of ledger.open) evidence.fail('every write gets a final response', `key ${key}`)
  evidence.check(
    'no acknowledged write is lost',
    `${ledger.orders.size} orders, ${sum(ledger.orders.values(), ({ changes }) => changes.length)} changes of them`
  )
  evidence.check('every write gets a final response', `${ledger.orders.size + ledger.refused.size + ledger.open.size} keys`)
  evidence.check('no write is doubled', `${byKey.size} keys`)
  evidence.check('a refused write has no effect', `${ledger.refused.size} keys`)
  evidence.check('totals add up', `${stored.length} orders`)
}

async function checkStock({ cluster, evidence, scarce }: World) {
  const rows = await cluster.query<{ id: string; stock: number; sold: number }>(
    `SELECT id::text, units_in_stock AS stock, coalesce((SELECT sum(quantity) FROM order_items i JOIN orders o ON o.id = i.order_id
       WHERE i.product_id = products.id AND o.status <> 'cancelled' AND o.note ~ '^k[0-9]+(;|$)'), 0)::integer AS sold FROM products`
  )
  for (const { id, stock, sold } of rows) {
    const before = scarce.includes(id) ? littleStock : enoughStock
    if (stock + sold !== before) evidence.fail('stock adds up', `product ${id}: ${before} before, ${stock} now, ${sold} in orders`)
  }
  evidence.check('stock adds up', `${sum(rows, ({ sold }) => sold)} units of ${rows.length} products`)
}

async function checkDescriptions({ cluster, ledger, evidence, counters }: World) {
  const rows = await cluster.query<{ id: string; description: string | null }>(
    'SELECT id::text, description FROM products WHERE id = ANY($1)',
    [counters]
  )
  let count = 0
  for (const { id, description } of rows) {
    const present = (description ?? '').split(';').filter((text) => text !== '')
    const wanted = ledger.additions.get(id) ?? []
    count += wanted.length
    for (const text of wanted)
      if (!present.includes(text)) evidence.fail('no change with If-Match overwrites another', `product ${id} lost ${text}`)
    if (new Set(present).size !== present.length) evidence.fail('no write is doubled', `product ${id}: ${description}`)
  }
  evidence.check('no change with If-Match overwrites another', `${count} changes of ${rows.length} products`)
}

async function checkWork({ cluster, ledger, evidence }: World) {
  const jobs = await cluster.query<{ id: string; state: string; error: unknown }>('SELECT id::text, state, error FROM concordat.jobs')
  const states = new Map(jobs.map(({ id, state }) => [id, state]))
  for (const { id, state, error } of jobs) {
    if (!['completed', 'failed', 'cancelled'].includes(state)) evidence.fail('every job ends', `${id} is ${state}`)
    if (state === 'failed' && !ledger.poison.has(id)) evidence.fail('an accepted export is completed', `${id}: ${JSON.stringify(error)}`)
  }
  for (const id of ledger.poison)
    if (states.get(id) !== 'failed') evidence.fail('a job that cannot be completed fails', `${id} is ${states.get(id)}`)
  for (const id of ledger.exports.keys()) if (!states.has(id)) evidence.fail('no acknowledged write is lost', `export ${id}`)
  evidence.check('every job ends', `${jobs.length} exports, ${ledger.poison.size} of which must fail`)
  const stuck = await cluster.query<{ key: string }>('SELECT key FROM concordat.idempotency_keys WHERE status IS NULL AND NOT is_progress')
  for (const { key } of stuck) evidence.fail('no idempotency key is stuck', key)
  evidence.check('no idempotency key is stuck', 'all keys')
  const disabled = await cluster.query<{ id: string; record: unknown }>(
    'SELECT id::text, record FROM concordat.webhook_subscriptions WHERE NOT is_enabled'
  )
  for (const { name, id, isRemoved } of ledger.subscriptions)
    if (!isRemoved && disabled.some((one) => one.id === id))
      evidence.fail('no subscription is disabled', `${name}: ${JSON.stringify(disabled.find((one) => one.id === id))}`)
}

function checkEvents({ ledger, receivers, evidence }: World) {
  let count = 0
  for (const { name, owner, isOfStaff, isOrdered, types, since, isRemoved } of ledger.subscriptions) {
    if (isRemoved) continue
    const { events, notes, unverified } = receivers.inbox(name)
    for (const { key, customerId, sentAt } of ledger.events) {
      if (sentAt < since || !types.includes(key.slice(0, key.indexOf(' ')))) continue
      if (customerId !== undefined && !isOfStaff && customerId !== owner) continue
      count += 1
      if (!events.has(key)) evidence.fail('every event reaches each subscription', `${name}: ${key}, sent at ${sentAt.toFixed(1)} s`)
    }
    if (unverified.length > 0)
      evidence.fail('every delivery is signed with the secret of its subscription', `${name}: ${unverified.length} were not verified`)
    if (isOrdered)
      for (const [id, texts] of notes)
        if (texts.some((text, index) => index > 0 && text.length <= (texts[index - 1] as string).length))
          evidence.fail('an ordered subscription gets events in their order', `${name}, order ${id}: ${JSON.stringify(texts)}`)
  }
  const { delivered, repeated, refused } = receivers.totals
  evidence.check('every delivery is signed with the secret of its subscription', `${delivered} deliveries`)
  evidence.check(
    'an ordered subscription gets events in their order',
    `${ledger.subscriptions.filter((one) => one.isOrdered).length} subscription`
  )
  evidence.check(
    'every event reaches each subscription',
    `${count} expected, ${delivered} deliveries accepted, ${repeated} of them again, ${refused} refused`
  )
}

// The responses that some clients got are still those of their keys.
async function checkReplays({ ledger, evidence, customers }: World) {
  for (const { path, body, key, text, userId } of ledger.responses) {
    const client = customers.find(({ user }) => user.id === userId)
    const reply = await client?.final('POST', path, { body, headers: { 'idempotency-key': key } })
    if (reply && JSON.stringify(reply.body?.data) !== text)
      evidence.fail('a retry gets the same response', `key ${key}: ${text}, now ${reply.text}`)
  }
  evidence.check('a retry gets the same response', `${ledger.responses.length} keys at the end, one of ten orders sent twice`)
}

function sum<Value>(values: Iterable<Value>, of: (value: Value) => number): number {
  let total = 0
  for (const value of values) total += of(value)
  return total
}
