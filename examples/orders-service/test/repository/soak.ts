import { fileURLToPath } from 'node:url'
import { openDatabase } from '@concordat/postgres/open'
import { compileCache } from '@concordat/test-harness/child'
import { type CrashReport, type CrashSoak, crashSoak } from '@concordat/test-harness/crash-soak'
import { buildApp } from '../../src/app.ts'
import { settings } from '../../src/settings.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const stock = 1_000_000
const products = 25
// Access tokens are valid for 15 minutes.
const signInMs = 5 * 60_000

/** The contents of the database at the end. */
export interface Counts {
  readonly orders: number
  /** Orders beyond the first order of a key. */
  readonly doubles: number
  readonly items: number
  /** The difference in units between the stock and what the orders leave of it. */
  readonly stockIsWrongBy: number
  /** Keys without a response. */
  readonly stuckKeys: number
}

interface Product {
  readonly id: string
}

/** Runs a soak of processes of this service on an empty database: each key places an order, and the order records its key. */
export async function soakOrders(databaseUrl: string, soak: Omit<CrashSoak, 'program' | 'request'>): Promise<CrashReport & Counts> {
  const environment = {
    DATABASE_URL: databaseUrl,
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    RATE_LIMIT: 'off',
    SEED_ORDERS: '0',
    PUBLIC_URL: 'http://shop.example'
  }
  const app = await buildApp(settings(environment))
  const database = await openDatabase({ url: databaseUrl })
  let authorization = ''
  const signIn = async () => {
    const payload = { username: 'ada@example.com', password: 'correct horse battery staple' }
    const response = await app.inject({ method: 'POST', url: '/v1/tokens', payload })
    authorization = `Bearer ${response.json<{ data: { accessToken: string } }>().data.accessToken}`
  }
  await signIn()
  const timer = setInterval(() => void signIn(), signInMs)
  try {
    const ids = await database.query<Product>(
      'UPDATE products SET units_in_stock = $1, discontinued = false WHERE id IN (SELECT id FROM products ORDER BY id LIMIT $2) RETURNING id',
      [stock, products]
    )
    const request = (key: string, number: number) => {
      const items = [{ productId: (ids[number % products] as Product).id, quantity: 1 + (number % 3) }]
      return {
        path: '/v1/orders',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ items, note: key })
      }
    }
    const program = {
      command: [process.execPath, '--conditions=@concordat/source', main] as const,
      env: { ...environment, ...compileCache }
    }
    const report = await crashSoak({ ...soak, program, request })
    const [counts] = await database.query<Counts>(
      `SELECT (SELECT count(*) FROM orders) AS orders, (SELECT count(*) - count(DISTINCT note) FROM orders) AS doubles,
        (SELECT count(*) FROM order_items) AS items, (SELECT count(*) FROM concordat.idempotency_keys WHERE status IS NULL) AS "stuckKeys",
        (SELECT coalesce(sum(abs($1 - units_in_stock - (SELECT coalesce(sum(quantity), 0) FROM order_items WHERE product_id = products.id))), 0)
          FROM products WHERE id = ANY($2::uuid[]))::integer AS "stockIsWrongBy"`,
      [stock, ids.map(({ id }) => id)]
    )
    return { ...report, ...(counts as Counts) }
  } finally {
    clearInterval(timer)
    await database.close()
    await app.close()
  }
}
