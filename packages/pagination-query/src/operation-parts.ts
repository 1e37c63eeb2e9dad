import type { DescribedRoute, OperationParts } from '@concordat/plugin-kit/wiring'
import { paginationQueryErrors } from './errors.ts'

const codes = Object.keys(paginationQueryErrors.definitions)

/** Returns the errors that a query can cause on a route, for its description. */
export function operationParts({ config = {} }: DescribedRoute): OperationParts {
  const { collection } = config
  if (collection === undefined) return { errors: ['INVALID_QUERY_PARAMETERS'] }
  return { errors: codes.filter((code) => collection.style === 'cursor' || !code.startsWith('CURSOR_')) }
}
