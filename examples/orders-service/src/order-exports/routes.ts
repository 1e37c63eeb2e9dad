import { Readable } from 'node:stream'
import { type JobRecord, jobRecordSchema } from '@concordat/jobs'
import { found } from '@concordat/postgres/rows'
import { Type } from '@fastify/type-provider-typebox'
import { customerOf } from '../access.ts'
import { type Resource, transaction } from '../fields.ts'
import type { OrderRepresentation } from '../orders/representations.ts'
import type { Order } from '../orders/schemas.ts'
import { csvOf } from './csv.ts'
import type { ExportResult, orderExportJob } from './job.ts'
import { ExportFilePath, exportCollection, exportFileRepresentations, filters, OrderExport, OrderFilters } from './schemas.ts'

interface Options {
  /** The same job for all versions. */
  readonly job: ReturnType<typeof orderExportJob>
  readonly representation: OrderRepresentation
}

const permissions = ['orders:export']
const Accepted = Type.Unsafe<JobRecord>(jobRecordSchema)

export const orderExports: Resource<Options> = async (app, { job, representation }) => {
  app.jobs.serve(job, '/order-exports', {
    config: { permissions },
    resultPath: ({ id, result }) => `/order-exports/${id}/files/${(result as ExportResult).fileId}`
  })

  app.get(
    '/order-exports',
    { config: { permissions, collection: exportCollection }, schema: { response: { 200: Type.Array(OrderExport) } } },
    async (request, reply) => reply.page(await app.jobs.list(job, request, request.listQuery(exportCollection)))
  )

  app.post(
    '/order-exports',
    {
      // An export works for minutes, so it counts as ten requests.
      config: { permissions, idempotency: 'accepted', transaction, job: 'start', rateLimit: { cost: 10 }, openapi: { optionalBody: true } },
      preValidation: filters.accept,
      schema: { body: OrderFilters, response: { 202: Accepted } }
    },
    async (request, reply) => reply.accepted(job, { filters: request.body, customerId: customerOf(request.principal) })
  )

  app.get(
    '/order-exports/:id/files/:fileId',
    {
      config: {
        permissions,
        cache: 'no-store',
        produces: ['application/json', 'text/csv'],
        waivers: { Q10: 'A file is always read as a whole.' },
        job: 'result'
      },
      schema: {
        summary: 'Get the file of an order export',
        params: ExportFilePath,
        response: { 200: exportFileRepresentations(representation.schema) }
      }
    },
    async (request, reply) => {
      const { id, fileId } = request.params
      const stored = await app.jobs.find(job, id, request)
      found(stored.state === 'completed' && (stored.result as ExportResult).fileId === fileId.toLowerCase() ? stored : undefined)
      const chunks = app.jobs.output(stored)
      if (request.acceptedMediaType === 'application/json')
        return reply.link('up', `/order-exports/${id}`).streamed(shownIn(representation, chunks))
      reply.type('text/csv; charset=utf-8; header=present')
      reply.header('content-disposition', `attachment; filename="orders-${fileId}.csv"`)
      return Readable.from(csvOf(chunks))
    }
  )
}

// Files are stored in the form of version 1.
async function* shownIn({ show }: OrderRepresentation, chunks: AsyncIterable<string>) {
  for await (const orders of chunks) {
    const shown = (JSON.parse(`[${orders}]`) as Order[]).map(show)
    yield JSON.stringify(shown).slice(1, -1)
  }
}
