import type { RouteSettings } from './options.ts'

type Schema = Readonly<Record<string, unknown>>

const id: Schema = {
  type: 'string',
  pattern: '^[\\w.~-]{1,64}$',
  description: 'Unique in the batch; its outcome has the same one.',
  examples: ['first']
}
const atomicity = {
  never: 'What one does stays, whatever becomes of the others.',
  byRequest: 'What one does stays, whatever becomes of the others, unless the batch is `atomic`.',
  always: 'All take effect, or none does.'
}
const headers: Schema = { type: 'object', additionalProperties: { type: 'string' } }

/** The schema of the route of a batch, for the description and for the answer; what is sent is read by `readBatch`. */
export function routeSchema(route: RouteSettings): Schema {
  return {
    summary: 'Carry out many operations',
    description: `One after another, each as a request of its own would be, and each with an outcome. ${atomicity[route.atomic]}`,
    body: bodySchema(route),
    response: { [route.status]: outcomesSchema }
  }
}

function bodySchema({ methods, paths, operationHeaders, maximumOperations, atomic }: RouteSettings): Schema {
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

const outcomesSchema: Schema = {
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
