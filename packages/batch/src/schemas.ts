import type { RouteSettings } from './options.ts'

type Schema = Readonly<Record<string, unknown>>

const id: Schema = {
  type: 'string',
  pattern: '^[\\w.~-]{1,64}$',
  description: 'Unique in the batch; its outcome has the same one.',
  examples: ['first']
}
const headers: Schema = { type: 'object', additionalProperties: { type: 'string' } }

/** What a batch is sent as, for the description: it is read by `readBatch`. */
export function batchSchema({ methods, paths, operationHeaders, maximumOperations, atomic }: RouteSettings): Schema {
  const operation = {
    type: 'object',
    additionalProperties: false,
    required: ['id', 'method', 'path'],
    properties: {
      id,
      method: { type: 'string', enum: methods },
      path: { type: 'string', description: `With its query. One of these or below: ${paths.join(', ')}.`, examples: paths },
      headers: { ...headers, description: `Any of: ${[...operationHeaders].join(', ')}. All others come from this request.` },
      body: { description: 'Any JSON value, as the route takes it. Not with GET and DELETE.' }
    }
  }
  return {
    type: 'object',
    additionalProperties: false,
    required: ['operations'],
    properties: {
      operations: { type: 'array', minItems: 1, maxItems: maximumOperations, items: operation },
      ...(atomic !== 'never' && {
        atomic: {
          type: 'boolean',
          default: atomic === 'always',
          description: 'All operations take effect, or none: where one fails, the others are answered 424 and nothing is kept.'
        }
      })
    }
  }
}

/** What a batch is answered. */
export const outcomesSchema: Schema = {
  type: 'array',
  description: 'One outcome for each operation, in their order.',
  items: {
    type: 'object',
    required: ['id', 'status'],
    properties: {
      id,
      status: { type: 'integer', description: 'What the operation by itself would have been answered.', examples: [200] },
      headers,
      body: { description: 'What the operation by itself would have been answered. Left out where that is no JSON, or too long.' }
    }
  }
}
