import type { DescribedRoute, OperationParts } from '@concordat/plugin-kit/wiring'

// openapi describes the header.
const headers = { 'Cache-Control': {} }

/**
 * Returns the errors that preconditions can cause on a route, for its description. A condition that a client sends is never ignored: without versions to
 * compare, it fails.
 */
export function operationParts({ method, config = {} }: DescribedRoute): OperationParts {
  const isRequired = method !== 'GET' && config.requireIfMatch === true
  return { errors: ['PRECONDITION_FAILED', ...(isRequired ? ['PRECONDITION_REQUIRED'] : [])], headers }
}
