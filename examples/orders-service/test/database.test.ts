import { migrate } from '@concordat/postgres'
import type { OpenDatabase } from '@concordat/postgres/open'
import t from 'tap'
import { showProgress } from '../sample/progress.ts'
import { seed } from '../sample/seed.ts'
import { migrations, openDatabase } from '../src/database/open-database.ts'
import { freshFolder, freshPlace, settingsOf } from './service.ts'

const ignore = () => {}
const counts = `SELECT (SELECT count(*) FROM categories) AS categories, (SELECT count(*) FROM products) AS products,
  (SELECT count(*) FROM customers) AS customers, (SELECT count(*) FROM orders) AS orders, (SELECT count(*) FROM order_items) AS items`
const seeded = { categories: 8, products: 77, customers: 91, orders: 830, items: 2155 }

let database: OpenDatabase
t.before(async () => {
  const options = settingsOf(await freshPlace(t), { SEED_ORDERS: '830' })
  database = await openDatabase(options, ignore)
})
t.teardown(() => database.close())

t.test('the first start seeds 77 products in 8 categories, 91 customers and 830 orders with 2,155 items', async (t) => {
  t.strictSame(await database.query(counts), [seeded])
})

t.test('another start adds nothing and does not restore deleted rows', async (t) => {
  const [gone] = await database.query<{ id: string }>(`DELETE FROM orders WHERE id = (SELECT min(id::text)::uuid FROM orders) RETURNING id`)
  await migrate(database.postgres, migrations)
  await seed(database, 830)
  t.match(await database.query(counts), [{ ...seeded, orders: 829, items: Number }])
  t.strictSame(await database.query('SELECT id FROM orders WHERE id = $1', [gone?.id]), [])
})

t.test('the date of a product is that of its write, not of the beginning of its transaction, and never decreases', async (t) => {
  const write = `UPDATE products SET discontinued = discontinued WHERE id = (SELECT min(id::text)::uuid FROM products)
    RETURNING updated_at AS "updatedAt", updated_at > now() AS "isLater"`
  let last: { readonly updatedAt: string; readonly isLater: boolean } | undefined
  await database.transaction(async (transaction) => {
    for (let count = 0; count < 1000 && last?.isLater !== true; count += 1) {
      const [row] = await transaction.query<NonNullable<typeof last>>(write)
      t.ok(last === undefined || String(row?.updatedAt) >= last.updatedAt)
      last = row
    }
  })
  t.equal(last?.isLater, true)
  // Written by a server whose clock was ahead.
  const future = '2100-01-01T00:00:00.000Z'
  await database.query(`INSERT INTO products (id, name, category_id, unit_price, currency, units_in_stock, discontinued, updated_at)
    SELECT gen_random_uuid(), 'Ahead', id, 1, 'EUR', 1, false, '${future}' FROM categories LIMIT 1`)
  const [ahead] = await database.query<{ updatedAt: string }>(
    `UPDATE products SET units_in_stock = 2 WHERE name = 'Ahead' RETURNING updated_at AS "updatedAt"`
  )
  t.equal(new Date(String(ahead?.updatedAt)).toISOString(), future)
  await database.query("DELETE FROM products WHERE name = 'Ahead'")
})

t.test('every seeded total is the sum of the items of its order', async (t) => {
  const wrong = `SELECT id FROM orders WHERE total <> (SELECT sum(quantity * unit_price) FROM order_items WHERE order_id = orders.id)`
  t.strictSame(await database.query(wrong), [])
})

t.test('a tenth of the orders is Ada’s, Max has some, and the orders are spread over two years', async (t) => {
  const owned = `SELECT email, count(*) AS orders FROM orders JOIN customers ON customers.id = customer_id
    WHERE email IN ('ada@example.com', 'max@example.com') GROUP BY email ORDER BY email`
  const [ada, max] = await database.query<{ email: string; orders: number }>(owned)
  t.ok(ada?.email === 'ada@example.com' && ada.orders >= 82 && ada.orders <= 83, 'Ada has 82 or 83 orders')
  t.ok(max?.email === 'max@example.com' && max.orders > 0)
  const [span] = await database.query<{ days: number; statuses: number }>(
    `SELECT (extract(epoch FROM max(placed_at) - min(placed_at)) / 86400)::integer AS days, count(DISTINCT status) AS statuses FROM orders`
  )
  t.ok(span !== undefined && span.days > 720 && span.days <= 730)
  t.equal(span?.statuses, 4)
})

t.test('the sample data is the same everywhere', async (t) => {
  const digest = `SELECT md5(string_agg(id::text || total || extract(epoch FROM placed_at), ',' ORDER BY id DESC)) AS digest
    FROM (SELECT * FROM orders ORDER BY id DESC LIMIT 800) AS latest`
  t.strictSame(await database.query(digest), [{ digest: '43e3ae9997dae515ee339912346a32b4' }])
})

t.test('a higher number of orders adds the missing orders', async (t) => {
  await seed(database, 850)
  t.match(await database.query(counts), [{ orders: 849 }])
  await seed(database, 10)
  t.match(await database.query(counts), [{ orders: 849 }], 'a lower number removes none')
})

t.test('a data folder retains what was written, and only one process at a time can use it', async (t) => {
  const options = settingsOf(await freshFolder(t), { SEED_ORDERS: '5' })
  const first = await openDatabase(options, ignore)
  await first.query(`UPDATE orders SET note = 'kept'`)
  await t.rejects(openDatabase(options, ignore), { message: /is in use by another process/ })
  await first.close()
  const second = await openDatabase(options, ignore)
  t.strictSame(await second.query('SELECT DISTINCT note, (SELECT count(*) FROM orders) AS orders FROM orders'), [
    { note: 'kept', orders: 5 }
  ])
  await second.close()
})

t.test('a long seeding shows its progress, a short one shows nothing', async (t) => {
  const written: string[] = []
  const output = { write: (text: string) => void written.push(text) }
  showProgress(830, 830, output)
  showProgress(5_000, 20_000, output)
  showProgress(500_000, 1_000_000, output)
  showProgress(1_000_000, 1_000_000, output)
  t.strictSame(written, [
    `\rSeeding orders ${'█'.repeat(7)}${'░'.repeat(23)} 5,000 of 20,000`,
    `\rSeeding orders ${'█'.repeat(15)}${'░'.repeat(15)} 500,000 of 1,000,000`,
    `\rSeeding orders ${'█'.repeat(30)} 1,000,000 of 1,000,000\n`
  ])
})
