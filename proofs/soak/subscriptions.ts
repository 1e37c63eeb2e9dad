// The subscriptions of clients to webhooks.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from './client.ts'
import type { Temper } from './receivers.ts'
import type { World } from './world.ts'
import { placeOrder } from './writes.ts'

const maxSeconds = 20
const scrapedMs = 6000
const orderEvents = ['order.created', 'order.updated', 'order.cancelled']

/** Creates the subscriptions of the whole run. */
export async function subscribeAll(world: World): Promise<void> {
  const [steady, flaky, ordered] = world.staff as readonly [Client, Client, Client]
  await subscribe(world, steady, 'steady', [...orderEvents, 'product.updated'])
  await subscribe(world, flaky, 'flaky', orderEvents)
  await subscribe(world, ordered, 'steady', ['order.updated'], { ordered: true })
  for (const customer of world.customers.slice(0, 4)) await subscribe(world, customer, 'flaky', orderEvents)
  for (const customer of world.customers.slice(4, 8)) await subscribe(world, customer, 'steady', orderEvents)
}

/** Subscribes with a receiver that responds with 410 to the first event, which disables the subscription, and causes that event. */
export async function subscribeInVain(world: World): Promise<void> {
  const client = world.customers[8] as Client
  const { totals } = world.receivers
  const before = totals.gone
  await subscribe(world, client, 'gone', orderEvents)
  await placeOrder(world, client)
  for (let second = 0; second < maxSeconds && totals.gone === before; second += 1) await delay(1000)
  // Prometheus reads what the process has counted before the next fault can end it.
  await delay(scrapedMs)
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
export async function changeSubscription(world: World, client: Client): Promise<void> {
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
