// What is compared: each row is a request, sent to each of its peers. The first peer is what the others are divided by.
import { password, product, username } from './resources.ts'

interface Request {
  readonly path: string
  readonly method?: 'GET' | 'POST'
  readonly headers?: Record<string, string>
  readonly body?: string
  /** Returns the idempotency key of the next request. */
  readonly key?: () => string
}

/** A server: a file and its options. Rows with the same server share a process. */
export interface Server {
  readonly file: string
  readonly options?: Record<string, string>
}

/** Sends one request and returns the response, for what a row needs to know before it starts. */
export type Call = (request: Request) => Promise<Response>

export interface Row {
  readonly name: string
  readonly title: string
  readonly peers: readonly string[]
  /** What a bare server sends in place of this row, if it has no such response. */
  readonly baseline?: string
  /** The servers of a row that needs processes of its own. */
  readonly group?: string
  readonly isOnPostgres?: boolean
  readonly status: number
  /** The ratio to bare that each peer must reach, so that nothing is compared with a peer that was badly written. */
  readonly floors?: Readonly<Record<string, number>>
  /** How many operations a request has. */
  readonly operations?: number
  readonly connections?: number
  /** How many requests a measurement sends. */
  readonly amount?: number
  /** How many requests are sent before, until V8 has compiled what they need. By default 30,000. */
  readonly warmUp?: number
  readonly request: (call: Call) => Request | Promise<Request>
}

// `again` is `same` in a process of its own: how much the two differ is the error of a row.
const all = ['bare', 'same', 'again', 'official', 'nest', 'express', 'hono', 'ours']
const fastify = ['bare', 'same', 'again', 'official', 'ours']
const item = `/v1/products/${product(1).id}`
const collection = '/v1/products'
const order = { customer: 'ada', items: [{ productId: product(1).id, quantity: 1 }], note: 'Ring twice.' }
const json = { 'content-type': 'application/json' }
const post = (path: string, body: object): Request => ({ path, method: 'POST', headers: json, body: JSON.stringify(body) })
const unchanged = (path: string) => async (call: Call) => {
  const { headers } = await call({ path })
  return { path, headers: { 'if-none-match': String(headers.get('etag')) } }
}

// The keys of one run, which a database may have from a row before.
let keys = 0
const run = Date.now()
const orderWith = (key: () => string): Request => ({ ...post('/v1/orders', order), key })
const newKey = () => orderWith(() => `"${run}-${String((keys += 1)).padStart(20, '0')}"`)
const replayed = async (call: Call) => {
  const stored = Array.from({ length: 500 }, () => `"${run}-${String((keys += 1)).padStart(20, 'x')}"`)
  for (const key of stored) await call({ ...post('/v1/orders', order), headers: { ...json, 'idempotency-key': key } })
  let next = 0
  return orderWith(() => stored[(next += 1) % stored.length] as string)
}
const signIn = () => post('/v1/tokens', { username, password })
const operations = Array.from({ length: 20 }, (_, number) => ({
  id: String(number),
  method: 'GET',
  path: `/v1/products/${product(number + 1).id}`
}))

export const rows: readonly Row[] = [
  { name: 'item', title: 'an item', peers: all, status: 200, floors: { same: 0.79, official: 0.24 }, request: () => ({ path: item }) },
  {
    name: 'collection',
    title: 'a collection of 50',
    peers: all,
    status: 200,
    floors: { same: 0.94, official: 0.44 },
    request: () => ({ path: collection })
  },
  {
    name: 'item-304',
    title: 'an unchanged item, 304',
    peers: ['same', 'ours'],
    baseline: 'item',
    status: 304,
    floors: { same: 0.77 },
    request: unchanged(item)
  },
  {
    name: 'collection-304',
    title: 'an unchanged collection, 304',
    peers: ['same', 'ours'],
    baseline: 'collection',
    status: 304,
    request: unchanged(collection)
  },
  {
    name: 'order',
    title: 'a POST with a new key',
    peers: fastify,
    group: 'orders',
    status: 201,
    floors: { same: 0.47, official: 0.25 },
    request: newKey
  },
  {
    name: 'replay',
    title: 'its replay',
    peers: ['same', 'official', 'ours'],
    baseline: 'order',
    group: 'orders',
    status: 201,
    floors: { same: 0.68, official: 0.23 },
    request: replayed
  },
  {
    name: 'invalid',
    title: 'an invalid body, 422',
    peers: fastify,
    status: 422,
    request: () => ({
      ...post('/v1/orders', { ...order, items: [{ productId: product(1).id, quantity: 'one' }] }),
      headers: { ...json, 'idempotency-key': '"an-invalid-request-000"' }
    })
  },
  { name: 'missing', title: 'an unknown id, 404', peers: all, status: 404, request: () => ({ path: `/v1/products/${product(999).id}` }) },
  { name: 'sign-in', title: 'a sign-in', peers: fastify, status: 200, connections: 4, amount: 40, warmUp: 40, request: signIn },
  {
    name: 'batch',
    title: 'a batch of 20 reads',
    peers: ['bare', 'same', 'ours'],
    status: 200,
    connections: 4,
    amount: 300,
    warmUp: 300,
    request: () => post('/v1/product-batches', { operations })
  },
  // One request in flight on each connection, as from clients that wait for each response.
  {
    name: 'item-in-turn',
    title: 'an item, unpipelined',
    peers: ['bare', 'same', 'ours'],
    status: 200,
    connections: 20,
    request: () => ({ path: item })
  },
  {
    name: 'order-in-turn',
    title: 'a POST with a new key, unpipelined',
    peers: ['bare', 'same', 'ours'],
    group: 'orders',
    status: 201,
    connections: 20,
    request: newKey
  },
  ...[
    { name: 'item', title: 'an item', status: 200, request: () => ({ path: item }) },
    { name: 'collection', title: 'a collection of 50', status: 200, request: () => ({ path: `${collection}?perPage=50` }) },
    { name: 'order', title: 'a POST with a new key', status: 201, request: newKey },
    { name: 'replay', title: 'its replay', status: 201, request: replayed },
    { name: 'sign-in', title: 'a sign-in', status: 200, connections: 4, amount: 40, warmUp: 40, request: signIn }
    // The preset creates the tables, so it is first. More clients than connections of a route would measure how it refuses requests.
  ].map((row) => ({
    amount: 1500,
    connections: 6,
    ...row,
    name: `postgres-${row.name}`,
    peers: ['ours', 'same', 'again'],
    isOnPostgres: true
  }))
]

/** The plugins that the preset leaves out with `false`, in its order. */
export const parts = {
  transportSecurity: 'transport-security',
  errorCatalogue: 'error-catalogue',
  batch: 'batch',
  rateLimiting: 'rate-limiting',
  paginationQuery: 'pagination-query',
  envelope: 'envelope',
  contentNegotiation: 'content-negotiation',
  conditionalCaching: 'conditional-caching',
  idempotency: 'idempotency',
  compression: '@fastify/compress',
  httpMethods: 'http-methods'
} as const
