// Reads, sessions, exports and the mistakes of clients.
import { randomUUID } from 'node:crypto'
import type { Client, Sending } from './client.ts'
import { pick, type World } from './world.ts'

const etags = new Map<string, string>()

/** Reads a product as a client with a cache does. */
export async function readProduct(world: World, client: Client): Promise<void> {
  const path = `/v2/products/${pick(world, world.random() < 0.3 ? world.counters : world.products)}`
  const known = etags.get(path)
  const reply = await client.send('GET', path, known === undefined ? {} : { headers: { 'if-none-match': known } })
  if (reply?.status === 200) etags.set(path, String(reply.headers.etag))
  expect(world, reply, `GET ${path}`, known === undefined ? [200] : [200, 304])
}

export async function readProducts(world: World, client: Client): Promise<void> {
  const reply = await client.send('GET', `/v2/products?perPage=20&sort=${pick(world, ['name', '-unitPrice', 'createdAt'])}`)
  expect(world, reply, 'GET /v2/products', [200])
}

/** Follows the cursors of the orders of a customer, of whom some are placed meanwhile. No order may appear twice. */
export async function walkOrders(world: World, client: Client): Promise<void> {
  const seen = new Set<string>()
  let path: string | undefined = '/v2/orders?perPage=10'
  for (let page = 0; page < 4 && path !== undefined; page += 1) {
    const reply = await client.send('GET', path)
    expect(world, reply, `GET ${path}`, [200])
    if (reply?.status !== 200) return
    for (const { id } of reply.body.data) {
      if (seen.has(id)) world.evidence.fail('a walk by cursors has each order once', `${id} twice, last at ${path}`)
      seen.add(id)
    }
    const next = reply.body._links.find(({ rel }: { rel: string }) => rel === 'next')?.href
    path = next === undefined ? undefined : next.slice(new URL(next).origin.length)
  }
}

/** Starts an export, waits for its end, and reads its file. */
export async function exportOrders(world: World, client: Client): Promise<void> {
  const { ledger, evidence } = world
  const started = await client.final('POST', '/v2/order-exports', { body: {}, headers: { 'idempotency-key': randomUUID() } })
  if (started === undefined) return
  if (started.status !== 202) return evidence.fail('a valid write succeeds', `POST /v2/order-exports → ${started.status} ${started.text}`)
  const id = started.body.data.jobId as string
  ledger.exports.set(id, client.user.id)
  for (;;) {
    const reply = await client.final('GET', `/v2/order-exports/${id}`, { headers: { prefer: 'wait=10' } })
    if (reply === undefined) return
    if (reply.status !== 200) return evidence.fail('an accepted job can be read', `${id} → ${reply.status} ${reply.text}`)
    const { status, _links: links } = reply.body.data
    if (status === 'failed' || status === 'cancelled') return evidence.fail('an accepted export is completed', `${id}: ${reply.text}`)
    if (status !== 'completed') continue
    const href: string = links.find(({ rel }: { rel: string }) => rel === 'result').href
    const file = await client.final('GET', href.slice(new URL(href).origin.length))
    if (file === undefined) return
    const ids: string[] = file.body?.data?.map((order: { id: string }) => order.id) ?? []
    if (file.status !== 200 || new Set(ids).size !== ids.length)
      evidence.fail(
        'a completed export has each order once',
        `${id} → ${file.status}, ${ids.length} orders, ${new Set(ids).size} different`
      )
    return
  }
}

export const signInAgain = (_world: World, client: Client): Promise<void> => client.signIn()
export const refresh = (_world: World, client: Client): Promise<void> => client.signIn('refresh')

/** What a client does wrong, and the codes that say so. */
const mistakes: readonly (readonly [status: number, method: string, path: string, sending?: Sending])[] = [
  [404, 'GET', `/v2/products/${randomUUID()}`],
  [404, 'GET', '/v2/nothing'],
  [405, 'DELETE', '/v2/categories'],
  [406, 'GET', '/v2/products', { headers: { accept: 'image/png' } }],
  [422, 'GET', '/v2/orders?after=garbage'],
  [401, 'GET', '/v2/orders', { isAnonymous: true }],
  [401, 'GET', '/v2/orders', { isAnonymous: true, headers: { authorization: 'Bearer soak-canary-0f3a9c' } }],
  [400, 'POST', '/v2/orders', { body: { items: [{ productId: randomUUID(), quantity: 1 }] } }],
  [422, 'POST', '/v2/orders', { body: { itemz: 1 }, headers: { 'idempotency-key': 'mistake' } }],
  [400, 'POST', '/v2/order-batches', { body: '{"operations":', headers: { 'idempotency-key': 'mistake-2' } }],
  [428, 'PATCH', '/v2/orders/own', { body: { note: 'x' } }],
  [412, 'PATCH', '/v2/orders/own', { body: { note: 'x' }, headers: { 'if-match': '"0"' } }],
  [
    415,
    'POST',
    '/v2/orders',
    { body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded', 'idempotency-key': 'mistake-3' } }
  ],
  [401, 'POST', '/v2/tokens', { body: { username: 'nobody@shop.example', password: 'soak-canary-71be02' }, isAnonymous: true }]
]

/** The secrets of these mistakes. */
export const canaries = ['soak-canary-0f3a9c', 'soak-canary-71be02']

export async function makeMistake(world: World, client: Client): Promise<void> {
  const [status, method, path, sending] = pick(world, mistakes) as (typeof mistakes)[number]
  const own = [...world.ledger.orders.values()].findLast(({ customerId }) => customerId === client.user.id)
  if (path.endsWith('/own') && own === undefined) return
  const reply = await client.send(method, path.replace('own', own?.id ?? ''), sending)
  expect(world, reply, `${method} ${path}`, [status])
}

// Outages, limits and expired tokens are not mistakes of the service; other invariants judge them.
function expect(world: World, reply: { status: number; text: string } | undefined, what: string, statuses: readonly number[]) {
  if (reply === undefined || reply.status >= 500 || [401, 429, ...statuses].includes(reply.status)) return
  world.evidence.fail('every response has the expected status', `${what} → ${reply.status} ${reply.text.slice(0, 300)}`)
}
