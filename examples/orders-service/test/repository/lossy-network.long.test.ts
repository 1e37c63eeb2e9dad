// The client of packages/client against this service, as a process on PostgreSQL, through a proxy that loses, delays, repeats and cuts requests and
// responses. Triggers count the effects in the database.
import { createHmac, randomUUID } from 'node:crypto'
import {
  ApiError,
  type Call,
  type ClientOptions,
  createClient,
  createSession,
  type Job,
  type TokenStore,
  type Tokens
} from '@concordat/client'
import { lossyProxyOf } from '@concordat/test-harness/lossy-proxy'
import { scaled } from '@concordat/test-harness/scale'
import { until } from '@concordat/test-harness/until'
import { Client } from 'pg'
import t, { type Test } from 'tap'
import { password } from '../service.ts'
import { startChild } from './child.ts'
import { environmentOf, freshDatabase, server } from './fresh-database.ts'
import { api, type Order } from './shop.ts'

t.setTimeout(0)

const writes = scaled(300, 10_000)
const increments = scaled(40, 1000)
const rows = scaled(2000, 100_000)
const updates = scaled(20, 100)
const exports = scaled(5, 50)
const seed = Number(process.env['LOSSY_SEED'] ?? scaled(58, Date.now() % 100_000))

const workers = 24
const staff = { username: 'ops@example.com', password }
const tokenSecret = randomUUID() + randomUUID()
const lateMs = 5500
// A slow machine is not a fault of the client.
const patient = { retries: 20, timeoutSeconds: 1200 }

const setup = `
  CREATE TABLE effects (entity text, operation text, id uuid, note text);
  CREATE FUNCTION count_effect() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO effects VALUES (TG_TABLE_NAME, TG_OP, coalesce(NEW.id, OLD.id), to_jsonb(NEW)->>''note''); RETURN NULL; END';
  CREATE TRIGGER effects AFTER INSERT OR UPDATE OR DELETE ON orders FOR EACH ROW EXECUTE FUNCTION count_effect();
  CREATE TRIGGER effects AFTER INSERT OR UPDATE OR DELETE ON products FOR EACH ROW EXECUTE FUNCTION count_effect();`

type Network = Awaited<ReturnType<typeof startNetwork>>

async function startNetwork(t: Test) {
  const place = await freshDatabase(t)
  const variables = { RATE_LIMIT: 'off', SEED_ORDERS: String(rows), TOKEN_SECRETS: tokenSecret }
  const direct = await startChild(t, { ...environmentOf(place), ...variables }).address
  const proxy = await lossyProxyOf(t, direct, { seed, lateMs })
  const database = new Client({ connectionString: place.databaseUrl })
  await database.connect()
  t.teardown(() => database.end())
  await database.query(setup)
  const session = createSession(api)
  // Without losses.
  const near = createClient(api, { baseUrl: direct, session, ...patient })
  const clientOf = (options: Partial<ClientOptions> = {}) => createClient(api, { baseUrl: proxy.url, session, ...options })
  await session.signIn(staff)
  const [categoryId, customerId] = [(await near.get('/v2/categories'))[0]?.id as string, (await near.get('/v2/customers'))[0]?.id as string]
  return {
    proxy,
    near,
    clientOf,
    query: async <Row extends object>(text: string, ...values: unknown[]) => (await database.query<Row>(text, values)).rows,
    productOf: (unitsInStock: number) => ({ name: 'Rye Bread', categoryId, unitPrice: '3.33', currency: 'EUR', unitsInStock }),
    orderOf: (productId: string, note?: string) => ({ customerId, items: [{ productId, quantity: 1 }], note })
  }
}

/** Resolves with the data of a call. Where it ends unknown, its key continues it. */
async function settled<Data>(
  unknown: Map<string, number>,
  call: (more: { idempotencyKey?: string; retries?: number }) => Call<Data, string>
): Promise<Data> {
  let result = await call({}).result()
  while (!result.ok) {
    const { code, retry, effect, idempotencyKey } = result.error
    const ending = `${code}, ${effect}`
    unknown.set(ending, (unknown.get(ending) ?? 0) + 1)
    if (retry !== 'later' || idempotencyKey === undefined) throw result.error
    result = await call({ idempotencyKey, retries: 8 }).result()
  }
  return result.data
}

const exact = (kind: string, count: number) => ({ kind, all: count, different: count, wanted: count })

async function keyedWrites(t: Test, { near, clientOf, query, productOf, orderOf }: Network) {
  const products = await Promise.all(
    Array.from({ length: workers }, async () => (await near.post('/v2/products', { body: productOf(writes) })).id)
  )
  await query('TRUNCATE effects')
  // A late request arrives after its client has sent the next one.
  const shop = clientOf({ attemptTimeoutSeconds: lateMs / 1000 - 0.5 })
  const [placed, notes, created] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const unknown = new Map<string, number>()
  let left = writes
  await Promise.all(
    products.map(async (productId) => {
      // Of ten writes, five place an order, three change the last one, one creates a product, and one deletes it.
      while ((left -= 10) >= 0) {
        let last: Order | undefined
        for (let count = 0; count < 5; count += 1) {
          const body = orderOf(productId, randomUUID())
          last = await settled(unknown, (more) => shop.post('/v2/orders', { body, ...more }))
          placed.add(last.id)
        }
        for (let count = 0; count < 3; count += 1) {
          const [body, path] = [{ note: randomUUID() }, { id: (last as Order).id }]
          const changed = await settled(unknown, (more) => shop.patch('/v2/orders/{id}', { path, body, ifMatch: '*', ...more }))
          if (changed.note === body.note) notes.add(body.note)
        }
        const { id } = await settled(unknown, (more) => shop.post('/v2/products', { body: productOf(1), ...more }))
        await settled(unknown, (more) => shop.delete('/v2/products/{id}', { path: { id }, ...more }))
        created.add(id)
      }
    })
  )
  t.comment(`ended without a response, then resolved: ${JSON.stringify(Object.fromEntries(unknown))}`)
  t.strictSame([placed.size, notes.size, created.size], [0.5 * writes, 0.3 * writes, 0.1 * writes])
  const counted = await query<{ kind: string; all: number; different: number; wanted: number }>(
    `SELECT entity || ' ' || operation AS kind, count(*)::int AS all, count(DISTINCT coalesce(note, id::text))::int AS different,
      count(*) FILTER (WHERE id::text = ANY($1) OR note = ANY($1))::int AS wanted
    FROM effects WHERE entity <> 'products' OR operation <> 'UPDATE' GROUP BY kind ORDER BY kind`,
    [...placed, ...notes, ...created]
  )
  t.strictSame(counted, [
    exact('orders INSERT', placed.size),
    exact('orders UPDATE', notes.size),
    exact('products DELETE', created.size),
    exact('products INSERT', created.size)
  ])
  const [stock] = await query<{ taken: number }>(
    'SELECT sum($1 - units_in_stock)::int AS taken FROM products WHERE id = ANY($2)',
    writes,
    products
  )
  t.equal(stock?.taken, placed.size, 'each order has taken its unit once')
}

async function addedUp(t: Test, { near, clientOf, query, productOf }: Network) {
  const { id } = await near.post('/v2/products', { body: productOf(0) })
  const clients = Array.from({ length: 4 }, () => clientOf(patient))
  const begun = performance.now()
  const add = async (index: number) =>
    clients[index % clients.length]?.update('/v2/products/{id}', { path: { id } }, ({ unitsInStock }) => ({
      unitsInStock: unitsInStock + 1
    }))
  await Promise.all(Array.from({ length: increments }, (_, index) => add(index)))
  t.comment(`${Math.round(performance.now() - begun)} ms`)
  t.equal((await near.get('/v2/products/{id}', { path: { id } })).unitsInStock, increments)
  const [changes] = await query<{ count: number }>(`SELECT count(*)::int FROM effects WHERE id = $1 AND operation = 'UPDATE'`, id)
  t.equal(changes?.count, increments)
}

async function updatesAtOnce(t: Test, { near, clientOf, productOf, orderOf }: Network) {
  const { id: productId } = await near.post('/v2/products', { body: productOf(1) })
  const { id } = await near.post('/v2/orders', { body: orderOf(productId) })
  const begun = performance.now()
  const results = await Promise.all(
    Array.from({ length: updates }, (_, index) =>
      clientOf(patient)
        .update('/v2/orders/{id}', { path: { id } }, ({ note = '' }) => ({ note: `${note}${index},` }))
        .result()
    )
  )
  t.comment(`${Math.round(performance.now() - begun)} ms`)
  t.strictSame(
    results.filter(({ ok }) => !ok),
    []
  )
  const { note = '' } = await near.get('/v2/orders/{id}', { path: { id } })
  const seen = note.split(',').slice(0, -1).map(Number)
  t.strictSame(
    seen.toSorted((a, b) => a - b),
    Array.from({ length: updates }, (_, index) => index)
  )
}

async function walks(t: Test, { near, clientOf, query, productOf, orderOf }: Network) {
  const { id: productId } = await near.post('/v2/products', { body: productOf(1_000_000) })
  const shop = clientOf()
  const idsNow = async () => new Set((await query<{ id: string }>('SELECT id FROM orders')).map(({ id }) => id))
  for (const sort of ['-placedAt', 'total'] as const) {
    const before = await idsNow()
    const victims = await query<{ id: string }>(`SELECT id FROM orders WHERE status = 'pending' ORDER BY md5(id::text)`)
    let isOver = false
    const churn = until(async () => {
      await near.post('/v2/orders', { body: orderOf(productId) })
      const id = victims.pop()?.id
      if (id !== undefined) await near.delete('/v2/orders/{id}', { path: { id }, ifMatch: '*' })
      return isOver
    })
    const seen = new Map<string, number>()
    let [next, resumed, isWhole]: [string | undefined, number, boolean] = [undefined, 0, false]
    while (!isWhole) {
      try {
        for await (const page of shop.list('/v2/orders', { query: { sort, perPage: 100, fields: ['id'] } }).pages(next)) {
          for (const { id } of page.items) seen.set(id, (seen.get(id) ?? 0) + 1)
          next = page.next
        }
        isWhole = true
      } catch (error) {
        if (!(error instanceof ApiError) || error.retry !== 'later') throw error
        resumed += 1
      }
    }
    isOver = true
    await churn
    const after = await idsNow()
    const lived = [...before].filter((id) => after.has(id))
    t.comment(`${sort}: ${seen.size} rows seen, ${before.size - lived.length} deleted meanwhile, ${resumed} times resumed`)
    t.ok(lived.length > before.size / 2 && lived.length < before.size)
    t.strictSame(
      lived.filter((id) => seen.get(id) !== 1),
      [],
      'every row that existed throughout is seen once'
    )
    t.strictSame(
      [...seen.values()].filter((count) => count > 1),
      []
    )
  }
}

async function ended(job: Job<unknown>) {
  return job.result().then(
    (data) => (data as unknown[]).length,
    (error: unknown) => (error instanceof ApiError ? error.code : String(error))
  )
}

async function exportsEnd(t: Test, { near, clientOf }: Network) {
  const shop = clientOf(patient)
  const [, , { placedAt } = { placedAt: '' }] = await near.get('/v2/orders', { query: { sort: '-placedAt', perPage: 3 } })
  const outcomes = await Promise.all(
    Array.from({ length: exports }, async (_, index) => {
      const job = await shop.job('/v2/order-exports', { body: { placedAt: { gte: placedAt } } })
      const isCancelled =
        index % 5 === 0 &&
        (await job.cancel().then(
          () => true,
          (error: unknown) => !(error instanceof ApiError && error.status === 409)
        ))
      return [isCancelled ? 'JOB_CANCELLED' : 3, await ended(job)]
    })
  )
  for (const [expected, outcome] of outcomes) t.equal(outcome, expected)
  t.comment(`${outcomes.filter(([expected]) => expected !== 3).length} cancelled`)
}

/** The same token, which has expired an hour ago. */
function expired(token: string) {
  const [head, payload = ''] = token.split('.')
  const { exp, iat, nbf, ...claims } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<'exp' | 'iat' | 'nbf', number>
  const earlier = { ...claims, exp: exp - 4500, iat: iat - 4500, nbf: nbf - 4500 }
  const signed = `${head}.${Buffer.from(JSON.stringify(earlier)).toString('base64url')}`
  return `${signed}.${createHmac('sha256', tokenSecret).update(signed).digest('base64url')}`
}

async function twoTabs(t: Test, { near, clientOf }: Network) {
  let stored: Tokens | undefined
  const saved: Tokens[] = []
  const store: TokenStore = {
    load: () => stored,
    save(tokens) {
      stored = tokens
      if (tokens !== undefined) saved.push(tokens)
    }
  }
  const tabs = Array.from({ length: 2 }, () => {
    const session = createSession(api, { store })
    return { shop: clientOf({ ...patient, session }) }
  })
  for (const name of ['Web Locks', 'no locks']) {
    if (name === 'no locks') {
      const { locks } = navigator as { locks?: unknown }
      Object.defineProperty(navigator, 'locks', { value: undefined, configurable: true })
      t.teardown(() => Object.defineProperty(navigator, 'locks', { value: locks, configurable: true }))
    }
    const refreshed = async () => {
      const { accessToken, refreshToken } = await near.post('/v2/tokens', { body: staff })
      stored = { accessToken: expired(accessToken), refreshToken }
      saved.length = 0
      const calls = Array.from({ length: 40 }, async (_, index) => tabs[index % 2]?.shop.get('/v2/customers').result())
      return (await Promise.all(calls)).every((result) => result?.ok === true)
    }
    // A refresh that takes longer than eight seconds, on a slow machine, is not repeated.
    await until(refreshed)
    t.equal(saved.length, 1, `${name}: refreshed once`)
  }
}

t.test(
  `through a network with losses, seed ${seed}`,
  { skip: server === undefined && 'set TEST_DATABASE_URL to the address of a PostgreSQL server' },
  async (t) => {
    const network = await startNetwork(t)
    const prove = (title: string, proof: (t: Test, network: Network) => Promise<void>) => t.test(title, async (t) => proof(t, network))
    await prove(
      `${writes} writes with keys have one effect each, and each call resolves, or ends unknown and resolves with its key`,
      keyedWrites
    )
    await prove(`${increments} increments by update are ${increments}`, addedUp)
    await prove(`${updates} updates of one order at the same time all apply`, updatesAtOnce)
    await prove(`walks through ${rows} rows that are created and deleted meanwhile see each other row once`, walks)
    await prove(`${exports} exports end, also those that are cancelled`, exportsEnd)
    await prove('a token that expires is refreshed once for two tabs', twoTabs)
    t.comment(JSON.stringify(network.proxy.faults))
  }
)
