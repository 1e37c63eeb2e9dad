import type { IncomingMessage } from 'node:http'
import type { ApiError } from '@concordat/api-error'
import type { FastifyInstance } from 'fastify'
import { operationFailed } from './errors.ts'
import { type BatchFacts, OperationRequest, type OperationWish } from './operation-request.ts'
import { type OperationAnswer, OperationResponse } from './operation-response.ts'

/** Executes an operation with the route that it names. */
export type CarryOut = (wish: OperationWish, facts: BatchFacts, maximumBytes: number, refusal?: ApiError) => Promise<OperationAnswer>

/**
 * Creates the function that executes operations with the router's own `app.routing`: they run every hook, check and handler that an
 * external request runs, without a socket. Never rejects: an operation that ends without a response results in a 500.
 */
export function carryingOut(app: FastifyInstance): CarryOut {
  return carryOut

  async function carryOut(...[wish, facts, maximumBytes, refusal]: Parameters<CarryOut>): Promise<OperationAnswer> {
    try {
      const request = new OperationRequest(wish, facts, refusal)
      facts.running = request
      const answer = await route(request, maximumBytes)
      if (answer !== undefined) return answer
      throw new Error(`The response to ${wish.method} ${wish.url} was cut off.`)
    } catch (error) {
      app.log.error({ err: error }, 'batch: an operation failed')
      if (refusal === undefined) return carryOut(wish, facts, maximumBytes, operationFailed(error))
      return { status: refusal.statusCode, headers: {}, body: undefined, bodyBytes: 0 }
    }
  }

  function route(request: OperationRequest, maximumBytes: number): Promise<OperationAnswer | undefined> {
    return new Promise((resolve) => {
      const response = new OperationResponse(request, maximumBytes, resolve)
      app.routing(request as unknown as IncomingMessage, response)
    })
  }
}
