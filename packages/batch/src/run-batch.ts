import { setImmediate } from 'node:timers/promises'
import type { ApiError } from '@concordat/api-error'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CarryOut } from './carry-out.ts'
import { batchStopped, operationUndone } from './errors.ts'
import type { BatchFacts, OperationInput } from './operation-request.ts'
import type { OperationResult } from './operation-response.ts'
import { OperationSocket } from './operation-socket.ts'
import type { RouteSettings, Settings } from './options.ts'
import { Outcomes } from './outcomes.ts'
import type { Batch, Operation } from './read-batch.ts'

// The batch yields to other requests even if its handlers and the database never do.
const turnMs = 10

/** Context of a batch that is being executed. */
interface BatchRun {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly settings: Settings
  readonly route: RouteSettings
  readonly carryOut: CarryOut
}

/** Failure of an operation that rolls back an atomic batch. */
class Undone extends Error {
  readonly index: number
  readonly result: OperationResult

  constructor(index: number, result: OperationResult) {
    super('undone')
    this.index = index
    this.result = result
  }
}

/** Executes the operations of a batch, one after another. Rejects only if an atomic batch cannot be committed. */
export async function runBatch({ operations, isAtomic }: Batch, run: BatchRun): Promise<Outcomes> {
  const { request, reply, settings, route, carryOut } = run
  const { transactions } = settings
  const facts: BatchFacts = { requestId: request.id, socket: new OperationSocket(request.raw.socket), isAtomic }
  const forwarded = forwardedOf(request, settings.forwardedHeaders)
  const begunAt = performance.now()
  let turnBegunAt = begunAt
  let isStopped = false

  reply.raw.once('close', () => void (reply.raw.writableFinished || facts.running?.disconnect()))
  if (!isAtomic || transactions === undefined) {
    return runAll(() => {})
  }
  try {
    return await transactions.run(request, () =>
      runAll((result, index) => {
        if (result.status >= 400) throw new Undone(index, result)
      })
    )
  } catch (error) {
    if (!(error instanceof Undone)) throw error
    return undoneBy(error)
  }

  async function runAll(check: (result: OperationResult, index: number) => void) {
    const outcomes = newOutcomes()
    for (const [index, operation] of operations.entries()) {
      if (performance.now() - turnBegunAt > turnMs) {
        await setImmediate()
        turnBegunAt = performance.now()
      }
      const result = await resultOf(operation, outcomes, hasToStop() ? batchStopped() : undefined)
      check(result, index)
      outcomes.add(operation.id, result)
    }
    return outcomes
  }

  // Runs outside the transaction, which has ended.
  async function undoneBy({ index: failed, result }: Undone) {
    const outcomes = newOutcomes()
    for (const [index, operation] of operations.entries()) {
      outcomes.add(operation.id, index === failed ? result : await resultOf(operation, outcomes, operationUndone()))
    }
    return outcomes
  }

  function newOutcomes() {
    return new Outcomes(settings.outcomeHeaders, route.maxResponseBytes)
  }

  function resultOf(operation: Operation, outcomes: Outcomes, refusal: ApiError | undefined) {
    return carryOut(inputOf(operation), facts, outcomes.bytesLeft, refusal)
  }

  // Logs once, because the operations that are not executed log nothing.
  function hasToStop() {
    if (isStopped) return true
    isStopped = reply.raw.destroyed || performance.now() - begunAt > route.maxMs
    if (isStopped && reply.raw.destroyed && !reply.raw.writableFinished)
      request.log.info('batch: the client disconnected, so the remaining operations are not executed')
    else if (isStopped) request.log.warn('batch: the time limit was exceeded, so the remaining operations are not executed')
    return isStopped
  }

  function inputOf({ id, method, path, headers, body }: Operation): OperationInput {
    const key = headers['idempotency-key'] ?? (method === 'POST' || method === 'PATCH' ? settings.operationKey(request, id) : undefined)
    return {
      method,
      url: path,
      body,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...headers,
        ...forwarded
      }
    }
  }
}

function forwardedOf({ raw: { headers } }: FastifyRequest, names: ReadonlySet<string>): Record<string, string> {
  const forwarded: Record<string, string> = {}
  for (const name of names) {
    // HTTP/2 sends the host in `:authority`.
    const value = headers[name] ?? (name === 'host' ? headers[':authority'] : undefined)
    if (value !== undefined) forwarded[name] = String(value)
  }
  return forwarded
}
