import type { FileStore } from '@concordat/files'
import { type JobRecord, jobRecordSchema } from '@concordat/jobs'
import { found, statementsOn } from '@concordat/postgres/rows'
import { Type } from '@fastify/type-provider-typebox'
import { IdPath, type Resource, transaction } from '../fields.ts'
import { columns, hasHeader, maxLineBytes } from './csv.ts'
import { productImportErrors, refusalTexts } from './errors.ts'
import type { ImportInput, productImportJob } from './job.ts'
import { createImport, findImport } from './repository.ts'
import { importCollection, maxFileBytes, NewProductImport, ProductImport, ProductImportResult } from './schemas.ts'

interface Options {
  readonly job: ReturnType<typeof productImportJob>
  readonly files: FileStore
}

const permissions = ['products:import']
const Accepted = Type.Unsafe<JobRecord>(jobRecordSchema)

export const productImports: Resource<Options> = async (app, { database, job, files }) => {
  app.jobs.serve(job, '/product-imports', { config: { permissions }, resultPath: ({ id }) => `/product-imports/${id}/result` })

  app.get(
    '/product-imports',
    { config: { permissions, collection: importCollection }, schema: { response: { 200: Type.Array(ProductImport) } } },
    async (request, reply) => reply.page(await app.jobs.list(job, request, request.listQuery(importCollection)))
  )

  app.post(
    '/product-imports',
    {
      config: {
        permissions,
        idempotency: 'required',
        transaction,
        job: 'start',
        rateLimit: { cost: 10 },
        upload: { file: { types: ['text/csv'], maxBytes: maxFileBytes } },
        openapi: { errors: ['INVALID_PRODUCT_FILE'] }
      },
      schema: {
        summary: 'Import products from a CSV file',
        description: `The first line of the file has the columns ${columns.map((name) => `\`${name}\``).join(', ')}, in any order. A line changes the product that has its \`name\`, or creates one. Lines are stored in groups of 100, each of which is stored as a whole: what an import has stored remains when it is cancelled or fails. Its result says at any time what it has stored.`,
        body: NewProductImport,
        response: { 202: Accepted }
      }
    },
    async (request, reply) => {
      const { id: fileId, size: sizeBytes } = request.upload.file
      const start = files.read(fileId, { start: 0, end: Math.min(sizeBytes, maxLineBytes) - 1 }, request.transaction)
      if (!(await hasHeader(start))) {
        const params = { columns: columns.join(', ') }
        throw productImportErrors.create('INVALID_PRODUCT_FILE', { errors: [{ field: 'body.file', key: 'header', params }] })
      }
      await createImport(statementsOn(request.transaction), fileId)
      return reply.accepted(job, { fileId, sizeBytes, dryRun: request.body.dryRun ?? false })
    }
  )

  app.get(
    '/product-imports/:id/result',
    {
      config: {
        permissions,
        cache: 'no-store',
        waivers: { P2: 'An import has one result.' },
        job: 'result'
      },
      schema: { summary: 'Get what an import has stored so far', params: IdPath, response: { 200: ProductImportResult } }
    },
    async (request, reply) => {
      const { id, input } = await app.jobs.find(job, request.params.id, request)
      const { fileId, dryRun } = input as ImportInput
      const { linesRead: _linesRead, refusals, ...counts } = found(await findImport(database, fileId))
      reply.link('up', `/product-imports/${id}`)
      return {
        dryRun,
        ...counts,
        refusals: refusals.map(({ reason, params, ...refusal }) => ({
          ...refusal,
          reason: request.text(refusalTexts, reason, params as never)
        }))
      }
    }
  )
}
