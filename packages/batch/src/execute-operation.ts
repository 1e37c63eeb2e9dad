import type { IncomingMessage } from 'node:http'
import type { ApiError } from '@concordat/plugin-kit/api-error'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { errors } from './errors.ts'
import { type BatchFacts, type OperationInput, OperationRequest } from './operation-request.ts'
import { OperationResponse, type OperationResult } from './operation-response.ts'
import type { Settings } from './options.ts'

/** The result of an operation, and what a retry of its batch may do. */
export interface ExecutedOperation extends OperationResult {
  /** The request that Fastify has made of the operation. */
  readonly request: FastifyRequest | undefined
  /** Whether the result is stored for retries. */
  readonly isFinal: boolean
  /** Returns whether the operation can be executed again without a second effect. It may change when the transaction of the batch ends. */
  readonly mayRepeat: () => boolean
}

/** Executes an operation on the route for its method and path. */
export type ExecuteOperation = (
  input: OperationInput,
  facts: BatchFacts,
  maxBytes: number,
  refusal?: ApiError
) => Promise<ExecutedOperation>

/**
 * Creates the function that executes operations with `app.routing` of Fastify, which runs every hook, check and handler that an external request passes
 * through. Never rejects: an operation that ends without a response results in a 500.
 */
export function operationExecutor(app: FastifyInstance, settings: Settings): ExecuteOperation {
  return async function executeOperation(input, facts, maxBytes, refusal): Promise<ExecutedOperation> {
    const request = new OperationRequest(input, facts, refusal)
    const judged = (result: OperationResult): ExecutedOperation => ({
      ...result,
      request: request.received,
      isFinal: isFinal(request, result, settings),
      mayRepeat: () => mayRepeat(request, settings)
    })
    try {
      facts.running = request
      const result = await route(request, maxBytes)
      if (result !== undefined) return judged(result)
      throw new Error(`The response to ${input.method} ${input.url} was cut off.`)
    } catch (error) {
      app.log.error({ err: error }, 'batch: an operation failed')
      if (refusal === undefined)
        return judged(await executeOperation(input, facts, maxBytes, errors.create('BATCH_OPERATION_FAILED', { cause: error })))
      return judged({ status: refusal.statusCode, headers: {}, body: undefined, bodyBytes: 0 })
    }
  }

  function route(request: OperationRequest, maxBytes: number): Promise<OperationResult | undefined> {
    return new Promise((resolve) => {
      const response = new OperationResponse(request, maxBytes, resolve)
      app.routing(request as unknown as IncomingMessage, response)
    })
  }
}

// These say that the request was not carried out, and may be later. A failure with Retry-After says the same.
const notExecuted = new Set([401, 408, 425, 429])
const temporary = new Set([503, 504])
const repeatable = new Set(['PUT', 'DELETE'])

type Knowledge = Pick<Settings, 'batchKey' | 'transactions'>

/** Returns whether the outcome of an operation is stored for retries of its batch. Otherwise a retry executes the operation again. */
function isFinal(operation: OperationRequest, { status, headers }: OperationResult, knowledge: Knowledge): boolean {
  if (status < 500) return status < 400 || !(notExecuted.has(status) || headers['retry-after'] !== undefined)
  if (!operation.hasStarted || mayRepeat(operation, knowledge)) return false
  return !(temporary.has(status) && repeatable.has(operation.method))
}

/** Returns whether a second execution of a failed operation cannot have a second effect: nothing remains of the first, or its own key decides. */
function mayRepeat({ method, received }: OperationRequest, { batchKey, transactions }: Knowledge): boolean {
  if (method === 'GET' || received === undefined) return true
  if (batchKey(received)) return true
  return transactions()?.transactionOf(received)?.isRolledBack === true
}
