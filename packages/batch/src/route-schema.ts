import { maxLinkLengths } from '@concordat/plugin-kit/links'
import { formsOf } from '@concordat/plugin-kit/texts'
import { errors } from './errors.ts'
import { maxHeaderLength, operationHeaders } from './operation-headers.ts'
import { maxPathLength } from './operation-path.ts'
import type { RouteSettings } from './options.ts'
import { maxOperations, methods } from './read-batch.ts'

type Schema = Readonly<Record<string, unknown>>

const id: Schema = {
  type: 'string',
  pattern: '^[\\w.~-]{1,64}$',
  maxLength: 64,
  description: 'Unique in the batch. The outcome of the operation has the same id.',
  examples: ['first']
}
const atomicity = {
  never: 'The effects of an operation remain, even if other operations fail.',
  byRequest: 'The effects of an operation remain, even if other operations fail, unless the batch is `atomic`.',
  always: 'All operations take effect, or none.'
}
const ofEachBatch = ['BATCH_NESTED', 'BATCH_STOPPED', 'BATCH_OPERATION_FAILED'] as const
const ofAtomicBatch = ['BATCH_OPERATION_UNDONE', 'BATCH_OPERATION_NOT_ATOMIC'] as const

/** Returns the schema of a batch route, for the API description and for serializing the response. `readBatch` parses the request body. */
export function routeSchema(route: RouteSettings): Schema {
  const codes = [...ofEachBatch, ...(route.atomic === 'never' ? [] : ofAtomicBatch)]
  const byStatus = Object.groupBy(codes, (code) => errors.definitions[code].statusCode)
  const lines = codes.map(
    (code) => `- ${errors.definitions[code].statusCode} \`${code}\`: ${formsOf(errors.definitions[code].message.en)['other']}`
  )
  return {
    summary: 'Execute a batch of operations',
    description: `Operations run one after another, each like a separate request and with its own outcome. ${atomicity[route.atomic]}\n\nBesides the responses of a separate request, an outcome can be:\n\n${lines.join('\n')}`,
    'x-batch': { paths: route.paths, atomic: route.atomic, outcomes: byStatus },
    body: bodySchema(route),
    response: { 200: outcomesSchema() }
  }
}

function bodySchema({ paths, atomic }: RouteSettings): Schema {
  const operation = {
    type: 'object',
    additionalProperties: false,
    required: ['id', 'method', 'path'],
    properties: {
      id,
      method: { type: 'string', enum: methods },
      path: {
        type: 'string',
        maxLength: maxPathLength,
        description: `The path and query. The path must be one of these or below one of them: ${paths.join(', ')}.`,
        examples: paths
      },
      headers: {
        type: 'object',
        additionalProperties: { type: 'string', maxLength: maxHeaderLength },
        description: `Any of: ${[...operationHeaders].join(', ')}. All other headers come from this request.`
      },
      body: { description: 'Any JSON value that the route accepts. Not allowed with GET and DELETE.' }
    }
  }
  return {
    type: 'object',
    additionalProperties: false,
    required: ['operations'],
    properties: {
      operations: { type: 'array', minItems: 1, maxItems: maxOperations, items: operation },
      ...(atomic !== 'never' && {
        atomic: {
          type: 'boolean',
          default: atomic === 'always',
          description: 'All operations take effect, or none: if one fails, the others have status 424 and nothing is stored.'
        }
      })
    }
  }
}

function outcomesSchema(): Schema {
  return {
    type: 'array',
    maxItems: maxOperations,
    description: 'One outcome for each operation, in the same order.',
    items: {
      type: 'object',
      required: ['id', 'status'],
      properties: {
        id,
        status: {
          type: 'integer',
          minimum: 100,
          maximum: 599,
          description: 'Status code that the operation would have as a separate request.',
          examples: [200]
        },
        // The URL in `Location` is the longest.
        headers: { type: 'object', additionalProperties: { type: 'string', maxLength: maxLinkLengths.href } },
        body: {
          description:
            'Body that the response to a separate request would have, or an error of the batch. Omitted if it is not JSON or too large.'
        }
      }
    }
  }
}
