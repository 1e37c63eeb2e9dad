import type { IncomingMessage } from 'node:http'
import type { ApiError } from '@concordat/api-error'
import type { FastifyInstance } from 'fastify'
import { operationFailed } from './errors.ts'
import { type BatchFacts, type OperationInput, OperationRequest } from './operation-request.ts'
import { OperationResponse, type OperationResult } from './operation-response.ts'

/** Executes an operation on the route for its method and path. */
export type CarryOut = (input: OperationInput, facts: BatchFacts, maxBytes: number, refusal?: ApiError) => Promise<OperationResult>

/**
 * Creates the function that executes operations with `app.routing` of Fastify: an operation passes through every hook, check and handler
 * that an external request passes through, but has no socket. Never rejects: an operation that ends without a response results in a 500.
 */
export function carryingOut(app: FastifyInstance): CarryOut {
  return carryOut

  async function carryOut(...[input, facts, maxBytes, refusal]: Parameters<CarryOut>): Promise<OperationResult> {
    try {
      const request = new OperationRequest(input, facts, refusal)
      facts.running = request
      const result = await route(request, maxBytes)
      if (result !== undefined) return result
      throw new Error(`The response to ${input.method} ${input.url} was cut off.`)
    } catch (error) {
      app.log.error({ err: error }, 'batch: an operation failed')
      if (refusal === undefined) return carryOut(input, facts, maxBytes, operationFailed(error))
      return { status: refusal.statusCode, headers: {}, body: undefined, bodyBytes: 0 }
    }
  }

  function route(request: OperationRequest, maxBytes: number): Promise<OperationResult | undefined> {
    return new Promise((resolve) => {
      const response = new OperationResponse(request, maxBytes, resolve)
      app.routing(request as unknown as IncomingMessage, response)
    })
  }
}
