// The client of packages/client against this service, through a network that loses and repeats requests and responses.
import type { AddressInfo } from 'node:net'
import { ApiError, type ClientOptions, createClient, createSession, isCode, type Tokens } from '@concordat/client'
import { randomFrom } from '@concordat/test-harness/random'
import t from 'tap'
import { password, startService } from '../service.ts'
import { api } from './shop.ts'

const { app } = await startService(t, { publicUrl: undefined })
await app.listen({ host: '127.0.0.1', port: 0 })
const baseUrl = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
const staff = { username: 'ops@example.com', password }

async function signedIn(options: Partial<ClientOptions> = {}) {
  const session = createSession(api)
  const shop = createClient(api, { baseUrl, session, ...options })
  await session.signIn(staff)
  return { shop, session }
}

const { shop } = await signedIn()
const [category] = await shop.get('/v2/categories')
const [customer] = await shop.get('/v2/customers')
const newProduct = async (unitsInStock: number) => {
  const body = { name: 'Rye Bread', categoryId: category?.id as string, unitPrice: '3.33', currency: 'EUR', unitsInStock }
  return (await shop.post('/v2/products', { body })).id
}
const stockOf = async (id: string) => (await shop.get('/v2/products/{id}', { path: { id } })).unitsInStock
const orderOf = (productId: string, quantity = 1) => ({ customerId: customer?.id as string, items: [{ productId, quantity }] })

/** A network that loses a part of the requests, and of the responses, and delivers some requests twice. */
function lossyFetch(random: () => number, lost = 0.15): typeof fetch {
  return async (input, init) => {
    if (random() < lost / 3) throw new TypeError('the request was lost')
    if (random() < 0.1) await (await fetch(input, init)).arrayBuffer()
    const response = await fetch(input, init)
    if (random() >= lost) return response
    await response.arrayBuffer()
    throw new TypeError('the response was lost')
  }
}

t.test('each keyed request has one effect, and each call resolves, or ends unknown and resolves with its key', async (t) => {
  const productId = await newProduct(1000)
  const through = createClient(api, { baseUrl, token: await tokenOf(), fetch: lossyFetch(randomFrom(58)) })
  const ids: string[] = []
  const worker = async () => {
    for (let count = 0; count < 15; count += 1) {
      const body = orderOf(productId)
      const first = await through.post('/v2/orders', { body }).result()
      if (!first.ok) t.equal(first.error.retry, 'later')
      // Without losses, the same key continues where the call ended.
      ids.push(
        first.ok ? first.data.id : (await shop.post('/v2/orders', { body, idempotencyKey: first.error.idempotencyKey, retries: 8 })).id
      )
    }
  }
  await Promise.all([worker(), worker(), worker(), worker()])
  t.equal(new Set(ids).size, 60)
  t.equal(await stockOf(productId), 940)
})

async function tokenOf() {
  const { accessToken } = await createClient(api, { baseUrl }).post('/v2/tokens', { body: staff })
  return () => accessToken
}

t.test('an error has the codes of its operation; in catch, those of the service', async (t) => {
  const productId = await newProduct(1)
  const result = await shop.post('/v2/orders', { body: orderOf(productId, 7) }).result()
  t.ok(!result.ok && isCode(result.error, 'INSUFFICIENT_STOCK'))
  t.match(result, { error: { status: 409, retry: 'changed', attempts: 1, idempotencyKey: /^[\da-f]{32}$/ } })
  const error = await shop.get('/v2/orders/{id}', { path: { id: '018f4e2a-7c1b-7d3e-9a5f-0123456789ab' } }).then(
    () => undefined,
    (reason: unknown) => reason
  )
  t.ok(shop.isCode(error, 'RESOURCE_NOT_FOUND'))
  t.ok(error instanceof ApiError && error.requestId !== undefined && error.retry === 'never')
})

t.test('simultaneous updates of one resource all apply; with from, the user sees the conflict', async (t) => {
  const id = await newProduct(0)
  const clients = [shop, (await signedIn()).shop, (await signedIn()).shop]
  const add = (index: number) =>
    (clients[index % 3] as typeof shop).update('/v2/products/{id}', { path: { id } }, ({ unitsInStock }) => ({
      unitsInStock: unitsInStock + 1
    }))
  await Promise.all(Array.from({ length: 30 }, (_, index) => add(index)))
  t.equal(await stockOf(id), 30)
  const from = await shop.get('/v2/products/{id}', { path: { id } }).withResponse()
  await add(0)
  const late = await shop.update('/v2/products/{id}', { path: { id }, from }, () => ({ unitsInStock: 0 })).result()
  t.ok(!late.ok && isCode(late.error, 'PRECONDITION_FAILED'))
  t.equal(await stockOf(id), 31)
})

t.test('a list by cursor has every row, also where it continues from a stored cursor, and with fields', async (t) => {
  const all = new Set<string>()
  for await (const { id } of shop.list('/v2/orders', { query: { perPage: 7, fields: ['id'] } })) all.add(id)
  const seen = new Set<string>()
  let cursor: string | undefined
  for await (const { items, next } of shop.list('/v2/orders', { query: { perPage: 7 } }).pages()) {
    for (const { id } of items) seen.add(id)
    cursor = next
    if (seen.size >= 14) break
  }
  for await (const { items } of shop.list('/v2/orders').pages(cursor)) for (const { id } of items) seen.add(id)
  t.ok(all.size >= 30)
  t.strictSame([...seen].toSorted(), [...all].toSorted())
})

t.test('a list and a resource have what include asks for', async (t) => {
  const query = { include: ['customer' as const], fields: ['total' as const, 'customer.companyName' as const], perPage: 3 }
  const orders = await shop.get('/v2/orders', { query })
  t.equal(orders.length, 3)
  for (const { id, customer } of orders) {
    const order = await shop.get('/v2/orders/{id}', { path: { id }, query: { include: ['customer'] } })
    t.equal(order.customer?.id, order.customerId)
    t.equal(order.customer?.companyName, customer?.companyName)
  }
})

t.test('a job has a result, and can be cancelled', async (t) => {
  const job = await shop.job('/v2/order-exports', { body: {} })
  const progress: number[] = []
  const result = await job.result({ onProgress: (percent) => progress.push(percent) })
  t.ok(result !== undefined)
  t.match(job.url, /^\/v2\/order-exports\/[\w-]+$/)
  const other = await shop.job('/v2/order-exports')
  await other.cancel()
  await t.rejects(other.result(), { name: 'ApiError' })
  t.ok(progress.every((percent) => percent >= 0 && percent <= 100))
})

t.test('a batch returns a tuple of results in its order', async (t) => {
  const productId = await newProduct(5)
  const order = await shop.post('/v2/orders', { body: orderOf(productId) })
  const path = { id: order.id }
  const [patched, read, missing] = await shop.batch('/v2/order-batches', (b) => [
    b.patch('/v2/orders/{id}', { path, ifMatch: '*', body: { note: 'Ring twice.' } }),
    b.get('/v2/orders/{id}', { path }),
    b.post('/v2/orders', { body: orderOf(productId, 99) })
  ])
  t.ok(patched.ok && patched.data.note === 'Ring twice.')
  t.ok(read.ok && read.data.note === 'Ring twice.')
  t.ok(!missing.ok && isCode(missing.error, 'INSUFFICIENT_STOCK'))
})

t.test('two clients of one session refresh once, and continue; after the end of the session they reject', async (t) => {
  let stored: Tokens | undefined
  const session = createSession(api, {
    store: {
      load: () => stored,
      save(next) {
        stored = next
      }
    }
  })
  let exchanges = 0
  // The service says for the first token that it has expired.
  let expired: string | undefined
  const aged: typeof fetch = async (input, init) => {
    if ((input as string).endsWith('/v2/tokens') && (init as { body: string }).body.includes('refreshToken')) exchanges += 1
    const headers = new Headers(init?.headers)
    if (expired === undefined || headers.get('authorization') !== `Bearer ${expired}`) return fetch(input, init)
    return Response.json({ error: { code: 'TOKEN_EXPIRED', message: 'The access token has expired.' } }, { status: 401 })
  }
  const clients = [createClient(api, { baseUrl, session, fetch: aged }), createClient(api, { baseUrl, session, fetch: aged })]
  await session.signIn(staff)
  expired = stored?.accessToken
  const calls = Array.from({ length: 20 }, (_, index) => (clients[index % 2] as typeof shop).get('/v2/customers'))
  t.ok((await Promise.all(calls)).every((rows) => rows.length > 0))
  t.equal(exchanges, 1)
  await session.signOut()
  t.equal(stored, undefined)
  t.match(await clients[0]?.get('/v2/customers').result(), { ok: false, error: { status: 401 } })
})
