// The writes of clients, each with what it proves at the end.
import { randomUUID } from 'node:crypto'
import type { Client, Reply } from './client.ts'
import type { PlacedOrder } from './ledger.ts'
import { pauseAfter, pick, type World } from './world.ts'

const lineCount = 3
const maxTextLength = 1800

/** Places an order with a key. One of ten is sent twice at the same time. */
export async function placeOrder(world: World, client: Client): Promise<void> {
  const { ledger, recorder, evidence } = world
  const key = world.nextKey()
  const isScarce = world.random() < 0.05
  const body = orderOf(world, key, isScarce ? world.scarce : world.products)
  const sending = { body, headers: { 'idempotency-key': key } }
  const sentAt = recorder.now
  ledger.open.add(key)
  const isTwin = world.random() < 0.1
  const [reply, twin] = await Promise.all([
    client.final('POST', '/v2/orders', sending),
    isTwin ? client.final('POST', '/v2/orders', sending) : undefined
  ])
  if (reply === undefined) return
  ledger.open.delete(key)
  if (twin && twin.body?.data?.id !== reply.body?.data?.id)
    evidence.fail('a retry gets the same response', `key ${key}: ${reply.status} ${reply.text} and ${twin.status} ${twin.text}`)
  if (reply.status === 201) {
    placed(world, client, key, reply.body.data.id, sentAt)
    if (world.random() < 0.02)
      ledger.responses.push({ path: '/v2/orders', body, key, text: JSON.stringify(reply.body.data), userId: client.user.id })
  } else if (reply.status === 409 && isScarce) ledger.refused.add(key)
  else evidence.fail('a valid write succeeds', `POST /v2/orders → ${reply.status} ${reply.text}`)
}

/** Places some orders in an atomic batch, sent again until no operation has a transient outcome. */
export async function placeBatch(world: World, client: Client): Promise<void> {
  const { ledger, recorder, evidence } = world
  const keys = Array.from({ length: 3 }, () => world.nextKey())
  // One of five batches has an order that cannot be placed: then none of them is.
  const isBroken = world.random() < 0.2
  const operations = keys.map((key, index) => ({
    id: key,
    method: 'POST',
    path: '/v2/orders',
    body: isBroken && index === 2 ? { items: [{ productId: randomUUID(), quantity: 1 }], note: key } : orderOf(world, key, world.products)
  }))
  const sending = { body: { atomic: true, operations }, headers: { 'idempotency-key': randomUUID() } }
  const sentAt = recorder.now
  for (const key of keys) ledger.open.add(key)
  for (;;) {
    const reply = await client.final('POST', '/v2/order-batches', sending)
    if (reply === undefined) return
    if (reply.status !== 200) return evidence.fail('a valid write succeeds', `POST /v2/order-batches → ${reply.status} ${reply.text}`)
    const outcomes = reply.body.data.operations ?? reply.body.data.outcomes ?? reply.body.data
    const statuses: number[] = outcomes.map(({ status }: { status: number }) => status)
    if (statuses.some((status) => status >= 500 || status === 429)) {
      await pauseAfter(client, undefined)
      continue
    }
    for (const key of keys) ledger.open.delete(key)
    const isPlaced = statuses.every((status) => status === 201)
    if (!isPlaced && !isBroken) evidence.fail('a valid write succeeds', `batch → ${statuses.join()} ${reply.text}`)
    if (isPlaced && isBroken) evidence.fail('an atomic batch has all of its effects or none', `batch → ${reply.text}`)
    for (const [index, key] of keys.entries()) {
      if (isPlaced) placed(world, client, key, outcomes[index].body.data.id, sentAt)
      else ledger.refused.add(key)
    }
    return
  }
}

export async function cancelOrder(world: World, client: Client): Promise<void> {
  await withOrder(world, client, async (order) => {
    const sentAt = world.recorder.now
    const key = randomUUID()
    const reply = await client.final('POST', `/v2/orders/${order.id}/cancellations`, { headers: { 'idempotency-key': key } })
    if (reply === undefined) return
    // The staff may have shipped it meanwhile.
    if (reply.body?.error?.code === 'ORDER_ALREADY_SHIPPED') return
    if (reply.status !== 201)
      return world.evidence.fail('a valid write succeeds', `cancellation of ${order.id} → ${reply.status} ${reply.text}`)
    order.isCancelled = true
    expectEvent(world, 'order.cancelled', order, '', sentAt)
  })
}

/** Adds a text to the note of an order. */
export async function changeNote(world: World, client: Client): Promise<void> {
  await withOrder(world, client, async (order) => {
    const text = `n${order.changes.length}`
    const sentAt = world.recorder.now
    if (!(await addText(world, client, `/v2/orders/${order.id}`, 'note', text))) return
    order.changes.push(text)
    expectEvent(world, 'order.updated', order, text, sentAt)
  })
}

/** Lets a member of the staff set the next status of an order. Its customer may change it at the same time. */
export async function advanceOrder(world: World, staff: Client): Promise<void> {
  const order = pick(world, [...world.ledger.orders.values()].slice(-200))
  if (order === undefined || order.isCancelled) return
  const path = `/v2/orders/${order.id}`
  const sentAt = world.recorder.now
  const current = await staff.final('GET', path)
  const status = ({ pending: 'paid', paid: 'shipped' } as Record<string, string>)[current?.body?.data?.status]
  // A shipped order cannot be cancelled, so most orders stop before.
  if (current === undefined || status === undefined || (status === 'shipped' && world.random() < 0.8)) return
  order.isBusy = order.isBusy || status === 'shipped'
  const reply = await staff.send('PATCH', path, { body: { status }, headers: { 'if-match': String(current.headers.etag) } })
  if (reply?.status === 200) expectEvent(world, 'order.updated', order, status, sentAt)
  if (
    reply &&
    ![200, 412, 401, 429].includes(reply.status) &&
    reply.status < 500 &&
    !['ORDER_ALREADY_CANCELLED', 'STATUS_CHANGE_NOT_ALLOWED'].includes(reply.body?.error?.code)
  )
    world.evidence.fail('a valid write succeeds', `PATCH status → ${reply.status} ${reply.text}`)
}

/** Changes the quantity of an item. The stock and the total follow. */
export async function changeItem(world: World, client: Client): Promise<void> {
  await withOrder(world, client, async (order) => {
    const items = await client.final('GET', `/v2/orders/${order.id}/items`)
    const item = items?.body?.data?.[0]
    if (item === undefined) return
    const path = `/v2/orders/${order.id}/items/${item.id}`
    const current = await client.final('GET', path)
    if (current?.status !== 200) return
    const body = { quantity: 1 + Math.floor(world.random() * 5) }
    await client.send('PATCH', path, { body, headers: { 'if-match': String(current.headers.etag) } })
  })
}

/** Lets several members of the staff add to one text, so that each must see the changes of the others. */
export async function changeProduct(world: World, staff: Client): Promise<void> {
  const id = pick(world, world.counters) as string
  const text = `p${world.nextKey()}`
  const sentAt = world.recorder.now
  if (!(await addText(world, staff, `/v2/products/${id}`, 'description', text))) return
  const additions = world.ledger.additions.get(id) ?? []
  world.ledger.additions.set(id, additions)
  additions.push(text)
  world.ledger.events.push({ key: `product.updated ${id} ${text}`, sentAt })
}

/** Reads, adds and writes with If-Match until it is done; a change whose response was lost is found in what is read. */
async function addText(world: World, client: Client, path: string, field: string, text: string): Promise<boolean> {
  for (;;) {
    const current: Reply | undefined = await client.final('GET', path)
    if (current === undefined) return false
    if (current.status !== 200) {
      world.evidence.fail('what was created can be read', `GET ${path} → ${current.status} ${current.text}`)
      return false
    }
    const before = String(current.body.data[field] ?? '')
    if (before.split(';').includes(text)) return true
    if (before.length > maxTextLength) return false
    const sending = { body: { [field]: `${before};${text}` }, headers: { 'if-match': String(current.headers.etag) } }
    const reply = await client.send('PATCH', path, sending)
    if (reply?.status === 200) return true
    if (reply && reply.status < 500 && ![401, 412, 429].includes(reply.status)) {
      world.evidence.fail('a valid write succeeds', `PATCH ${path} → ${reply.status} ${reply.text}`)
      return false
    }
    await pauseAfter(client, reply)
  }
}

async function withOrder(world: World, client: Client, change: (order: PlacedOrder) => Promise<void>) {
  const own = [...world.ledger.orders.values()]
    .slice(-400)
    .filter((order) => order.customerId === client.user.id && !order.isBusy && !order.isCancelled)
  const order = pick(world, own)
  if (order === undefined) return
  order.isBusy = true
  const before = await client.final('GET', `/v2/orders/${order.id}`)
  if (before?.body?.data?.status === 'pending' || before?.body?.data?.status === 'paid') await change(order)
  order.isBusy = before?.body?.data?.status === 'shipped'
}

function placed({ ledger }: World, client: Client, key: string, id: string, sentAt: number) {
  const customerId = client.user.id
  ledger.orders.set(id, { id, key, customerId, isCancelled: false, changes: [], isBusy: false })
  ledger.events.push({ key: `order.created ${id}`, customerId, sentAt })
}

function expectEvent({ ledger }: World, type: string, { id, customerId }: PlacedOrder, text: string, sentAt: number) {
  ledger.events.push({ key: `${type} ${id}${text === '' ? '' : ` ${text}`}`, customerId, sentAt })
}

function orderOf(world: World, note: string, products: readonly string[]) {
  const ids = new Set(Array.from({ length: 1 + Math.floor(world.random() * lineCount) }, () => pick(world, products) as string))
  return { items: [...ids].map((productId) => ({ productId, quantity: 1 + Math.floor(world.random() * 3) })), note }
}
