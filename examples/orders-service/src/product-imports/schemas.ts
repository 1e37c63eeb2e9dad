import { type JobSummary, jobSummarySchema } from '@concordat/jobs'
import { collection } from '@concordat/pagination-query'
import { type Static, Type } from '@sinclair/typebox'
import { columns } from './csv.ts'

export const maxFileBytes = 5_242_880

export const NewProductImport = Type.Object({
  dryRun: Type.Optional(Type.Boolean({ default: false, description: 'Whether the lines are only checked, and no product is changed.' }))
})

/** An import in the list of imports. Its job has more fields. */
export const ProductImport = Type.Unsafe<JobSummary>({ ...jobSummarySchema, title: 'ProductImportSummary' })

export const importCollection = collection(ProductImport)({
  name: 'product-imports',
  style: 'page',
  id: 'jobId',
  defaultSort: ['-createdAt'],
  sort: { keys: ['createdAt'] }
})

const count = { minimum: 0, examples: [12] }

/** How many refusals a result has. */
export const maxRefusals = 100

export const ProductImportResult = Type.Object(
  {
    dryRun: Type.Boolean({ examples: [false] }),
    created: Type.Integer(count),
    changed: Type.Integer(count),
    unchanged: Type.Integer({ ...count, description: 'The lines that equal their product.' }),
    refused: Type.Integer(count),
    refusals: Type.Array(
      Type.Object({
        line: Type.Integer({ minimum: 1, description: 'The number of the line. The header is line 1.', examples: [3] }),
        field: Type.Optional(
          Type.Union(
            columns.map((name) => Type.Literal(name)),
            { examples: ['unitPrice'] }
          )
        ),
        reason: Type.String({ maxLength: 200, examples: ['must be a price such as 12.50'] })
      }),
      { maxItems: maxRefusals, description: 'The first refusals, in the language of the request.' }
    )
  },
  { description: 'How many lines of a file were stored, and which were refused.' }
)
export type ProductImportResult = Static<typeof ProductImportResult>
