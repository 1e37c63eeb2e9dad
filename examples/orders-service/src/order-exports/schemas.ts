import type { Readable } from 'node:stream'
import type { JobState } from '@concordat/jobs'
import { collection } from '@concordat/pagination-query'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Id, Timestamp } from '../fields.ts'

const Link = Type.Object({ rel: Type.String(), href: Type.String({ format: 'uri' }), method: Type.String() })

/** An export in the list of exports. Its job has more fields. */
export const OrderExport = Type.Object(
  {
    jobId: Id,
    status: Type.Unsafe<JobState>(
      Type.Union(['queued', 'processing', 'completed', 'failed', 'cancelled'].map((status) => Type.Literal(status)))
    ),
    createdAt: Timestamp,
    _links: Type.Array(Link)
  },
  { title: 'OrderExportSummary' }
)
export type OrderExport = Static<typeof OrderExport>

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
    content: {
      'application/json': { schema: Type.Array(order) },
      'text/csv': { schema: Type.Unsafe<Readable>({ type: 'string', description: 'RFC 4180, with a header line' }) }
    }
  }
}

export const ExportFilePath = Type.Object({ id: Id, fileId: Id })
