import { collection } from '@concordat/pagination-query'
import { Type } from '@sinclair/typebox'
import { Money, Timestamp } from '../fields.ts'

export const OrderSummary = Type.Object(
  {
    day: Type.String({
      format: 'date',
      description: 'The day in Europe/Madrid on which the orders were placed.',
      examples: ['2026-01-31']
    }),
    orders: Type.Integer({ minimum: 1, examples: [42] }),
    totals: Type.Array(Money, { minItems: 1, maxItems: 200, description: 'The sum of the totals in each currency.' }),
    createdAt: Timestamp
  },
  { description: 'The orders that were placed on a day, whatever became of them later. It is written in the following night.' }
)

export const summaryCollection = collection(OrderSummary)({
  name: 'order-summaries',
  style: 'page',
  id: 'day',
  defaultSort: ['-day'],
  sort: { keys: ['day'] }
})
