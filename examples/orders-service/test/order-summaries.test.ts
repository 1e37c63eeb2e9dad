import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { openDatabase } from '../src/database/open-database.ts'
import { freshFolder, freshPlace, settingsOf, startService } from './service.ts'

/**
 * Moves two orders to each of the last three days in Madrid: one to its first millisecond, with 1.10 EUR, and one to its last, with 2.20 USD.
 */
const moveOrders = `UPDATE orders SET placed_at = moved.placed_at, total = moved.total, currency = moved.currency
  FROM (
    SELECT (array(SELECT id FROM orders ORDER BY id))[row_number() OVER ()] AS id, placed_at, total, currency
    FROM (SELECT ((now() AT TIME ZONE 'Europe/Madrid')::date - n)::timestamp AS midnight FROM generate_series(0, 2) AS n) AS days,
    LATERAL (VALUES
      (midnight AT TIME ZONE 'Europe/Madrid', 1.10, 'EUR'),
      ((midnight + interval '1 day') AT TIME ZONE 'Europe/Madrid' - interval '1 millisecond', 2.20, 'USD')
    ) AS times (placed_at, total, currency)
  ) AS moved WHERE orders.id = moved.id`

for (const [engine, freshOn] of [
  ['the usual database', freshPlace],
  ['PGlite', freshFolder]
] as const)
  t.test(`the nightly job writes one summary of the day before, with its orders from midnight to midnight, on ${engine}`, async (t) => {
    const place = await freshOn(t)
    const database = await openDatabase(settingsOf(place, { SEED_ORDERS: '30' }), () => {})
    await database.query(moveOrders)
    await database.close()
    const { app, call } = await startService(t, { place })
    t.strictSame((await call('GET', '/v2/order-summaries')).body.data, [])

    /** Starts the job as an operator does, and waits for its end. */
    async function run() {
      const before = Date.now()
      t.equal(await app.jobs.schedules.run('order-summaries'), true)
      for (;;) {
        const schedule = (await app.jobs.schedules.list()).find(({ name }) => name === 'order-summaries')
        if ((schedule?.lastAt ?? 0) >= before && schedule?.lastJob?.state === 'completed') return
        await delay(50)
      }
    }
    await run()
    const { body } = await call('GET', '/v2/order-summaries?sort=day')
    const [summary] = body.data
    t.match(body.data, [{ day: /^\d{4}-\d\d-\d\d$/, orders: 2, createdAt: /Z$/ }])
    t.strictSame(summary.totals, [
      { amount: '1.10', currency: 'EUR' },
      { amount: '2.20', currency: 'USD' }
    ])
    await run()
    t.ok((await call('GET', '/v2/order-summaries')).body.data.some((one: object) => JSON.stringify(one) === JSON.stringify(summary)))
  })
