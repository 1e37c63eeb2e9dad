import { scaled } from '@concordat/test-harness/scale'
import t from 'tap'
import { freshDatabase, server } from './fresh-database.ts'
import { soakOrders } from './soak.ts'

if (server === undefined) t.plan(0, 'set TEST_DATABASE_URL to the address of a PostgreSQL server')
else {
  t.test(
    'when processes are killed while clients order, each key has one order and one response, no key is stuck, and the stock is correct',
    async (t) => {
      const { databaseUrl } = await freshDatabase(t)
      const [kills, keys] = [scaled(1, 10), scaled(30, 200)]
      const report = await soakOrders(databaseUrl as string, { processes: 2, kills, keys, minUp: 1 })
      t.match(report, { kills, orders: keys, items: keys, doubles: 0, divergent: 0, stuckKeys: 0, stockIsWrongBy: 0 })
      t.comment(JSON.stringify(report))
    }
  )
}
