import type { OperationRequest } from './operation-request.ts'
import type { OperationResult } from './operation-response.ts'
import type { Settings } from './options.ts'

// These say that the request was not carried out, and may be later. A failure with Retry-After says the same.
const notExecuted = new Set([401, 408, 425, 429])
const temporary = new Set([503, 504])
const repeatable = new Set(['PUT', 'DELETE'])

type Knowledge = Pick<Settings, 'batchKey' | 'transactions'>

/** Returns whether the outcome of an operation is stored for retries of its batch. Otherwise a retry executes the operation again. */
export function isFinal(operation: OperationRequest, { status, headers }: OperationResult, knowledge: Knowledge): boolean {
  if (status < 500) return status < 400 || !(notExecuted.has(status) || headers['retry-after'] !== undefined)
  if (!operation.hasStarted || mayRepeat(operation, knowledge)) return false
  return !(temporary.has(status) && repeatable.has(operation.method))
}

/** Returns whether a second execution of a failed operation cannot have a second effect: nothing remains of the first, or its own key decides. */
export function mayRepeat({ method, received }: OperationRequest, { batchKey, transactions }: Knowledge): boolean {
  if (method === 'GET' || received === undefined) return true
  if (batchKey(received)) return true
  return transactions()?.transactionOf(received)?.isRolledBack === true
}
