import { Readable } from 'node:stream'
import { type JobRecord, jobRecordSchema } from '@concordat/jobs'
import type { OpenDatabase } from '@concordat/postgres/open'
import { found } from '@concordat/postgres/rows'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { customerOf } from '../access.ts'
import { transaction } from '../fields.ts'
import type { OrderRepresentation } from '../orders/representations.ts'
import type { Order } from '../orders/schemas.ts'
import { csvOf } from './csv.ts'
import { readChunks } from './files.ts'
import { OrderFilters, readFilters } from './filters.ts'
import type { ExportResult, orderExportJob } from './job.ts'
import { ExportFilePath, exportCollection, exportFileRepresentations, OrderExport } from './schemas.ts'

interface Options {
  readonly database: OpenDatabase
  /** The same job for all versions. */
  readonly job: ReturnType<typeof orderExportJob>
  readonly representation: OrderRepresentation
}

const permissions = ['orders:export']
const Accepted = Type.Unsafe<JobRecord>(jobRecordSchema)

export const orderExports: FastifyPluginAsyncTypebox<Options> = async (app, { database, job, representation }) => {
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
      preValidation: readFilters,
      schema: { body: OrderFilters, response: { 202: Accepted } }
    },
    async (request, reply) => reply.accepted(job, { filters: request.body as OrderFilters, customerId: customerOf(request.principal) })
  )

  app.get(
    '/order-exports/:id/files/:fileId',
    {
      config: {
        permissions,
        cache: 'no-store',
        produces: ['application/json', 'text/csv'],
        waivers: { Q10: 'A file is always read as a whole.' },
        openapi: {
          errors: ['JOB_NOT_FOUND', 'JOB_EXPIRED'],
          headers: { 'Content-Disposition': 'For CSV, a name for the file (RFC 6266).' }
        }
      },
      schema: {
        summary: 'Get the file of an order export',
        params: ExportFilePath,
        response: { 200: exportFileRepresentations(representation.schema) }
      }
    },
    async (request, reply) => {
      const { id, fileId } = request.params
      const { state, result } = await app.jobs.find(job, id, request)
      found(state === 'completed' && (result as ExportResult).fileId === fileId.toLowerCase() ? result : undefined)
      const chunks = readChunks(database, fileId)
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
