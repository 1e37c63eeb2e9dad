import type { OperationParts } from '@concordat/openapi'
import type { ConventionsOptions } from './options.ts'

const text = { type: 'string' }

/** Makes the function that tells which headers the plugins take and send on every route. */
export function operationHeaders({ transportSecurity, contentNegotiation }: ConventionsOptions): () => OperationParts {
  const language = {
    name: 'Accept-Language',
    in: 'header' as const,
    required: false,
    description: 'The languages that messages should have, the preferred one first.',
    schema: text
  }
  const requestId = { description: 'The unique id of the request; name it when something is wrong.', schema: text }
  const vary = { description: 'The request headers that the answer depends on.', schema: { ...text, examples: ['accept'] } }
  const parts: OperationParts = {
    ...(contentNegotiation !== false && { parameters: [language] }),
    headers: {
      ...(transportSecurity !== false && { 'Request-Id': requestId }),
      ...(contentNegotiation !== false && { Vary: vary })
    }
  }
  return () => parts
}
