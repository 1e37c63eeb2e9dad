import type { DescribedRoute, OperationParts } from '@concordat/plugin-wiring'

// openapi describes the header.
const headers = { 'Cache-Control': {} }

/** Returns the errors that preconditions can cause on a route, for its description. */
export function operationParts({ method, config = {} }: DescribedRoute): OperationParts {
  const { validator, requireIfMatch } = config
  const isChecked = method !== 'GET' && (validator !== undefined || requireIfMatch === true)
  return {
    errors: [...(isChecked ? ['PRECONDITION_FAILED'] : []), ...(isChecked && requireIfMatch ? ['PRECONDITION_REQUIRED'] : [])],
    headers
  }
}
