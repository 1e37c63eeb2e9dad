// The mix of requests at a fixed rate, however long responses take.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from './client.ts'
import { exportOrders, makeMistake, readProduct, readProducts, refresh, signInAgain, walkOrders } from './reads.ts'
import type { Temper } from './receivers.ts'
import { leave, readSlowly, sendBytes, sendSlowly } from './rude.ts'
import { pick, type World } from './world.ts'
import { advanceOrder, cancelOrder, changeItem, changeNote, changeProduct, placeBatch, placeOrder } from './writes.ts'

type Operation = (world: World, client: Client) => Promise<void>

/** Operations of customers and of the staff, with how often each occurs in a hundred. */
const ofCustomers: readonly (readonly [Operation, number])[] = [
  [readProduct, 32],
  [readProducts, 10],
  [walkOrders, 6],
  [placeOrder, 14],
  [changeNote, 7],
  [changeItem, 4],
  [cancelOrder, 3],
  [placeBatch, 2],
  [exportOrders, 1],
  [signInAgain, 0.7],
  [refresh, 2],
  [makeMistake, 6],
  [sendBytes, 2],
  [sendSlowly, 0.3],
  [readSlowly, 0.3],
  [leave, 0.5],
  [changeSubscription, 0.2]
]
const ofStaff: readonly (readonly [Operation, number])[] = [
  [advanceOrder, 5],
  [changeProduct, 4]
]
const all = [...ofCustomers.map((one) => ({ one, isStaff: false })), ...ofStaff.map((one) => ({ one, isStaff: true }))]
const total = all.reduce((sum, { one }) => sum + one[1], 0)
const maxUnderWay = 400

/** Sends operations until the signal. Resolves when all of them have ended. */
export async function sendTraffic(world: World, perSecond: number, signal: AbortSignal): Promise<void> {
  const underWay = new Set<Promise<void>>()
  let [sent, left] = [0, 0]
  const begin = performance.now()
  while (!signal.aborted) {
    const due = ((performance.now() - begin) / 1000) * perSecond
    for (; sent + left < due; ) {
      if (underWay.size >= maxUnderWay) {
        left += 1
        continue
      }
      sent += 1
      const [operation, client] = choose(world)
      const running: Promise<void> = operation(world, client)
        .catch((error: unknown) => world.evidence.fail('the soak itself has no errors', String((error as Error).stack)))
        .finally(() => underWay.delete(running))
      underWay.add(running)
    }
    await delay(20)
  }
  world.recorder.notes.push(`${sent} operations at ${perSecond} a second; ${left} were left out because ${maxUnderWay} were under way.`)
  await Promise.all(underWay)
}

function choose(world: World): [Operation, Client] {
  let place = world.random() * total
  for (const { one, isStaff } of all) {
    place -= one[1]
    if (place < 0) return [one[0], pick(world, isStaff ? world.staff : world.customers) as Client]
  }
  return [readProduct, world.customers[0] as Client]
}

const orderEvents = ['order.created', 'order.updated', 'order.cancelled']

/** Creates the subscriptions of the whole run. */
export async function subscribeAll(world: World): Promise<void> {
  const [steady, flaky, ordered] = world.staff as readonly [Client, Client, Client]
  await subscribe(world, steady, 'steady', [...orderEvents, 'product.updated'])
  await subscribe(world, flaky, 'flaky', orderEvents)
  await subscribe(world, ordered, 'steady', ['order.updated'], { ordered: true })
  for (const customer of world.customers.slice(0, 4)) await subscribe(world, customer, 'flaky', orderEvents)
  for (const customer of world.customers.slice(4, 8)) await subscribe(world, customer, 'steady', orderEvents)
  // Its receiver responds with 410 to the first event, which disables it.
  await subscribe(world, world.customers[8] as Client, 'gone', orderEvents)
}

async function subscribe(
  world: World,
  client: Client,
  temper: Temper,
  eventTypes: readonly string[],
  { ordered = false, isTemporary = false } = {}
) {
  const name = `${temper}-${randomUUID().slice(0, 8)}`
  const body = { url: world.receivers.url(temper, name), eventTypes, ordered }
  const key = randomUUID()
  const reply = await client.final('POST', '/v2/webhook-subscriptions', { body, headers: { 'idempotency-key': key } })
  if (reply === undefined || reply.status === 429) return undefined
  if (reply.status !== 201)
    return world.evidence.fail('a valid write succeeds', `POST /v2/webhook-subscriptions → ${reply.status} ${reply.text}`)
  const { id } = reply.body.data
  // The response whose secret was lost is repeated without it.
  let secret = reply.body.data.secret as string | undefined
  for (let rotation = 0; secret === undefined && rotation < 3; rotation += 1) {
    const rotated = await client.final('POST', `/v2/webhook-subscriptions/${id}/secrets`, { headers: { 'idempotency-key': randomUUID() } })
    secret = rotated?.body?.data?.secret
  }
  if (secret === undefined) return undefined
  world.secrets.add(secret)
  world.receivers.trust(name, secret)
  const isOfStaff = client.user.role === 'staff'
  const subscription = {
    name,
    id,
    owner: client.user.id,
    isOfStaff,
    isOrdered: ordered,
    types: eventTypes,
    since: world.recorder.now,
    isTemporary,
    isRemoved: temper === 'gone'
  }
  world.ledger.subscriptions.push(subscription)
  return subscription
}

/** Subscribes, and unsubscribes one of those that were made in this way. */
async function changeSubscription(world: World, client: Client): Promise<void> {
  const made = world.ledger.subscriptions.find(({ owner, isRemoved, isTemporary }) => owner === client.user.id && !isRemoved && isTemporary)
  if (made === undefined) return void (await subscribe(world, client, 'steady', orderEvents, { isTemporary: true }))
  made.isRemoved = true
  for (;;) {
    const path = `/v2/webhook-subscriptions/${made.id}`
    const current = await client.final('GET', path)
    if (current?.status !== 200) return
    const reply = await client.final('DELETE', path, { headers: { 'if-match': String(current.headers.etag) } })
    if (reply?.status !== 412) return
  }
}
