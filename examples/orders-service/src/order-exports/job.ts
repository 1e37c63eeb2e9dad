import { defineJob, type Job } from '@concordat/jobs'
import { type ListQuery, walkPages } from '@concordat/pagination-query'
import type { OpenDatabase } from '@concordat/postgres/open'
import { type Static, Type } from '@sinclair/typebox'
import { Id } from '../fields.ts'
import { listOrders } from '../orders/repository.ts'
import { type Order, orderCollection } from '../orders/schemas.ts'
import { addChunk, createFile, deleteFile } from './files.ts'
import { conditionsOf, OrderFilters } from './filters.ts'
import { pacer } from './pace.ts'

const Input = Type.Object({ filters: OrderFilters, customerId: Type.Optional(Id) })
type Input = { readonly filters: OrderFilters; readonly customerId?: string | undefined }

const Result = Type.Object({ fileId: Id, orderCount: Type.Integer() })
export type ExportResult = Static<typeof Result>

/**
 * Writes the orders that the caller may see and that meet the filters into a file, a chunk at a time. Each attempt writes its own file:
 * when two attempts run because a worker was considered lost, neither touches the file of the other, and the result names one file.
 */
export function orderExportJob(database: OpenDatabase): Job<Input, ExportResult> {
  return defineJob<Input, ExportResult>({
    name: 'order-export',
    input: Input,
    result: Result,
    async handler({ filters, customerId }, { jobId, signal, progress }) {
      const fileId = await createFile(database, jobId)
      try {
        const pause = pacer()
        let [orderCount, orderTotal, chunks] = [0, 0, 0]
        const orders = (query: ListQuery<Order>) => listOrders(database, query, customerId)
        for await (const { rows, total } of walkPages(orderCollection, orders, { conditions: conditionsOf(filters), count: 'exact' })) {
          signal.throwIfAborted()
          if (rows.length > 0) await addChunk(database, fileId, (chunks += 1), JSON.stringify(rows).slice(1, -1))
          orderTotal = total?.items ?? orderTotal
          progress((orderCount += rows.length), orderTotal)
          if (orderCount < orderTotal) await pause()
        }
        return { fileId, orderCount }
      } catch (error) {
        // If this fails too, the file is deleted with the record of the job.
        await deleteFile(database, fileId).catch(() => {})
        throw error
      }
    }
  })
}
