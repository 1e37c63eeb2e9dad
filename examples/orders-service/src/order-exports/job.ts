import { defineJob, type Job } from '@concordat/jobs'
import { type FilterValues, type ListQuery, walkPages } from '@concordat/pagination-query'
import type { OpenDatabase } from '@concordat/postgres/open'
import { type Static, Type } from '@sinclair/typebox'
import { v7 } from 'uuid'
import { Id } from '../fields.ts'
import { listOrders } from '../orders/repository.ts'
import { type Order, orderCollection } from '../orders/schemas.ts'
import { filters, OrderFilters } from './schemas.ts'

const Input = Type.Object({ filters: OrderFilters, customerId: Type.Optional(Id) })
type Input = { readonly filters: FilterValues; readonly customerId?: string | undefined }

const Result = Type.Object({ fileId: Id, orderCount: Type.Integer() })
export type ExportResult = Static<typeof Result>

/** Writes the orders that the caller may see and that meet the filters, as JSON separated by commas, a page at a time. */
export function orderExportJob(database: OpenDatabase): Job<Input, ExportResult> {
  return defineJob<Input, ExportResult>({
    name: 'order-export',
    input: Input,
    result: Result,
    async handler(input, { progress, write }) {
      let [orderCount, orderTotal] = [0, 0]
      const list = (query: ListQuery<Order>) => listOrders(database, query, input.customerId)
      const conditions = filters.conditionsOf(input.filters)
      for await (const { rows, total } of walkPages(orderCollection, list, { conditions, count: 'exact' })) {
        if (rows.length > 0) await write(JSON.stringify(rows).slice(1, -1))
        orderTotal = total?.items ?? orderTotal
        progress((orderCount += rows.length), orderTotal)
      }
      return { fileId: v7(), orderCount }
    }
  })
}
