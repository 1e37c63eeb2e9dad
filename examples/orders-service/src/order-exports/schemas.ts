import type { Readable } from 'node:stream'
import { type JobSummary, jobSummarySchema } from '@concordat/jobs'
import { collection, type FilterValues, filterBody } from '@concordat/pagination-query'
import { type TSchema, Type } from '@sinclair/typebox'
import { Id } from '../fields.ts'
import { orderCollection } from '../orders/schemas.ts'

/** The filters of the collection of orders, as a body. */
export const filters = filterBody(orderCollection)
export const OrderFilters = Type.Unsafe<FilterValues>({
  ...filters.schema,
  examples: [{ status: { eq: 'paid' }, placedAt: { gte: '2026-01-01T00:00:00Z' } }]
})

/** An export in the list of exports. Its job has more fields. */
export const OrderExport = Type.Unsafe<JobSummary>({ ...jobSummarySchema, title: 'OrderExportSummary' })

export const exportCollection = collection(OrderExport)({
  name: 'order-exports',
  style: 'page',
  id: 'jobId',
  defaultSort: ['-createdAt'],
  sort: { keys: ['createdAt'] }
})

/** The representations of a file: an array of orders in the envelope, or CSV with a line for each order, the same in every version. */
export function exportFileRepresentations<Shown extends TSchema>(order: Shown) {
  return {
    description: 'The orders',
    headers: {
      'Content-Disposition': Type.String({
        description: 'For CSV, a name for the file (RFC 6266).',
        pattern: '^attachment; filename="[\\w.-]{1,64}"$'
      })
    },
    content: {
      'application/json': { schema: Type.Array(order) },
      'text/csv': { schema: Type.Unsafe<Readable>({ type: 'string', description: 'RFC 4180, with a header line' }) }
    }
  }
}

export const ExportFilePath = Type.Object({ id: Id, fileId: Id })
