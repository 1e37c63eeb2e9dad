import type { DescribedRoute, OperationParts } from '@concordat/plugin-kit/wiring'
import { idempotencyErrors } from '../errors.ts'

const codes = Object.keys(idempotencyErrors.definitions)
// Of IDEMPOTENCY_IN_PROGRESS. openapi describes the header.
const headers = { 'Retry-After': { statuses: ['409'] } }

/** Returns the errors that a key can cause on a route, and their header, for its description. */
export function operationParts({ config = {} }: DescribedRoute): OperationParts {
  const { idempotency, permissions } = config as { readonly permissions?: unknown } & typeof config
  const key = typeof idempotency === 'object' ? idempotency.key : idempotency
  if (key !== 'required' && key !== 'accepted') return {}
  // A route that requires permissions knows its client.
  const impossible = new Set([key === 'accepted' && 'IDEMPOTENCY_KEY_REQUIRED', permissions !== undefined && 'CLIENT_NOT_IDENTIFIED'])
  return { errors: codes.filter((code) => !impossible.has(code)), headers }
}
