import { defineJob, type Job } from '@concordat/jobs'
import { type Static, Type } from '@sinclair/typebox'
import type { Database } from '../database/database.ts'
import { Id } from '../fields.ts'
import { addChunk, createFile, deleteFile } from './files.ts'
import { OrderFilters } from './filters.ts'
import { walkOrders } from './walk.ts'

const Input = Type.Object({ filters: OrderFilters, customerId: Type.Optional(Id) })
type Input = { readonly filters: OrderFilters; readonly customerId?: string | undefined }

const Result = Type.Object({ fileId: Id, orderCount: Type.Integer() })
export type ExportResult = Static<typeof Result>

/**
 * Writes the orders that a caller may see and wants into a file, a chunk at a time. Each attempt writes a file of its own: of two that run
 * because a worker was thought lost, neither meets what the other writes, and the result names one.
 */
export function orderExportJob(database: Database): Job<Input, ExportResult> {
  return defineJob<Input, ExportResult>({
    name: 'order-export',
    input: Input,
    result: Result,
    async handler({ filters, customerId }, { jobId, signal, progress }) {
      const fileId = await createFile(database, jobId)
      try {
        let [orderCount, chunks] = [0, 0]
        for await (const { orders, done, total } of walkOrders(database, filters, customerId)) {
          signal.throwIfAborted()
          if (orders.length > 0) await addChunk(database, fileId, (chunks += 1), JSON.stringify(orders).slice(1, -1))
          progress(done, total)
          orderCount = done
        }
        return { fileId, orderCount }
      } catch (error) {
        // Where this fails too, it goes with the record of the job.
        await deleteFile(database, fileId).catch(() => {})
        throw error
      }
    }
  })
}
