import type { IncomingMessage } from 'node:http'
import type { ApiError } from '@concordat/api-error'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { operationFailed } from './errors.ts'
import { isFinal, mayRepeat } from './finality.ts'
import { type BatchFacts, type OperationInput, OperationRequest } from './operation-request.ts'
import { OperationResponse, type OperationResult } from './operation-response.ts'
import type { Settings } from './options.ts'

/** The result of an operation, and what a retry of its batch may do. */
export interface CarriedOut extends OperationResult {
  /** The request that Fastify has made of the operation. */
  readonly request: FastifyRequest | undefined
  /** Whether the result is stored for retries. */
  readonly isFinal: boolean
  /** Returns whether the operation can be executed again without a second effect. It may change when the transaction of the batch ends. */
  readonly mayRepeat: () => boolean
}

/** Executes an operation on the route for its method and path. */
export type CarryOut = (input: OperationInput, facts: BatchFacts, maxBytes: number, refusal?: ApiError) => Promise<CarriedOut>

/**
 * Creates the function that executes operations with `app.routing` of Fastify: an operation passes through every hook, check and handler
 * that an external request passes through, but has no socket. Never rejects: an operation that ends without a response results in a 500.
 */
export function carryingOut(app: FastifyInstance, settings: Settings): CarryOut {
  return carryOut

  async function carryOut(...[input, facts, maxBytes, refusal]: Parameters<CarryOut>): Promise<CarriedOut> {
    const request = new OperationRequest(input, facts, refusal)
    const judged = (result: OperationResult): CarriedOut => ({
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
      if (refusal === undefined) return judged(await carryOut(input, facts, maxBytes, operationFailed(error)))
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
