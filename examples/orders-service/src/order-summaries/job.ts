import { defineJob, type Job } from '@concordat/jobs'
import type { Statements } from '@concordat/postgres/rows'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

const zone = 'Europe/Madrid'

/** Writes the summary of a day, unless it exists or no order was placed on that day. */
function orderSummaryJob(database: Statements): Job<{ day: string }> {
  return defineJob<{ day: string }>({
    name: 'order-summary',
    input: Type.Object({ day: Type.String({ format: 'date' }) }),
    async handler({ day }) {
      await database.query(
        `INSERT INTO order_summaries (day, orders, totals)
        SELECT $1::date, sum(orders), jsonb_agg(jsonb_build_object('amount', amount::text, 'currency', currency) ORDER BY currency)
        FROM (
          SELECT currency, count(*) AS orders, sum(total) AS amount FROM orders
          WHERE placed_at >= $1::date::timestamp AT TIME ZONE '${zone}' AND placed_at < ($1::date + 1)::timestamp AT TIME ZONE '${zone}'
          GROUP BY currency
        ) AS currencies HAVING count(*) > 0
        ON CONFLICT (day) DO NOTHING`,
        [day]
      )
    }
  })
}

/** Writes the summary of each day in the following night, and after an outage those of the last 30 nights that were missed. */
export function scheduleOrderSummaries(app: FastifyInstance, database: Statements): void {
  app.jobs.schedule(orderSummaryJob(database), {
    name: 'order-summaries',
    cron: '15 0 * * *',
    zone,
    input: ({ localDate }) => ({ day: dayBefore(localDate) }),
    missed: 'all',
    maxMissed: 30
  })
}

function dayBefore(day: string) {
  return new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10)
}
