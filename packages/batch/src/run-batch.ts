import { setImmediate } from 'node:timers/promises'
import type { ApiError } from '@concordat/plugin-kit/api-error'
import { isForwarded } from '@concordat/plugin-kit/links'
import type { Transactions } from '@concordat/plugin-kit/wiring'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errors } from './errors.ts'
import type { ExecutedOperation, ExecuteOperation } from './execute-operation.ts'
import type { BatchFacts, OperationInput } from './operation-request.ts'
import { operationSocket } from './operation-socket.ts'
import type { Settings } from './options.ts'
import { Outcomes, storedIn } from './outcomes.ts'
import { rateLimitAfter } from './rate-limit-field.ts'
import type { Batch, Operation } from './read-batch.ts'

// The batch yields to other requests even if its handlers and the database never do.
const turnMs = 10

// Less than the time limit of handlers, so that a batch that is too long has a response. After it, no further operation starts.
const maxMs = 20_000

// Of the bodies of all outcomes. A body that does not fit is omitted.
const maxResponseBytes = 786_432

interface BatchRun {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly settings: Settings
  readonly executeOperation: ExecuteOperation
}

// The failure of an operation, which rolls back an atomic batch.
class Undone extends Error {
  readonly failed: { readonly index: number; readonly result: ExecutedOperation }

  constructor(index: number, result: ExecutedOperation) {
    super('undone')
    this.failed = { index, result }
  }
}

/**
 * Executes the operations of a batch, one after another. Rejects only if an atomic batch cannot be committed. With a key, only the operations
 * that have no final outcome from an earlier attempt are executed.
 */
export async function runBatch({ operations, isAtomic }: Batch, run: BatchRun): Promise<Outcomes> {
  const { request, reply, settings, executeOperation } = run
  const facts: BatchFacts = {
    requestId: request.id,
    socket: operationSocket(request.raw.socket),
    isAtomic,
    isForwarded: isForwarded(request.raw)
  }
  const forwarded = forwardedOf(request, settings.forwardedHeaders())
  const begunAt = performance.now()
  let turnBegunAt = begunAt
  let isStopped = false
  const rateLimits: string[] = []
  const key = settings.batchKey(request)
  const stored = storedIn(key?.progress)

  reply.raw.once('close', () => void (reply.raw.writableFinished || facts.running?.disconnect()))
  // A response that is sent before the end, after a timeout, does not tell what the operations did.
  if (key) key.progress ??= '[]'
  const runAsOne = isAtomic && stored.size === 0 ? settings.transactions()?.runAsOne : undefined
  const outcomes = await (runAsOne ? runAtomic(runAsOne) : runAll(() => {})).finally(updateRateLimit)
  if (key) key.progress = outcomes.areFinal && !reply.sent ? undefined : outcomes.progress
  return outcomes

  async function runAtomic(runAsOne: NonNullable<Transactions['runAsOne']>) {
    let executed: ExecutedOperation[] = []
    try {
      return await runAsOne(request, () => {
        executed = []
        return runAll((result, index) => {
          executed.push(result)
          if (result.status >= 400) throw new Undone(index, result)
        })
      })
    } catch (error) {
      // After a timeout of the transaction, an operation would run in one of its own.
      isStopped = true
      if (error instanceof Undone) {
        if (!error.failed.result.isFinal) key?.release()
        return undoneBy(error.failed)
      }
      if (executed.every(({ mayRepeat }) => mayRepeat())) key?.release()
      else if (key) key.progress = undefined
      throw error
    }
  }

  async function runAll(check: (result: ExecutedOperation, index: number) => void) {
    const outcomes = newOutcomes()
    for (const [index, operation] of operations.entries()) {
      if (performance.now() - turnBegunAt > turnMs) {
        await setImmediate()
        turnBegunAt = performance.now()
      }
      const earlier = stored.get(operation.id)
      if (earlier !== undefined) {
        outcomes.addStored(earlier)
        continue
      }
      const result = await resultOf(
        operation,
        outcomes,
        hasToStop() ? errors.create('BATCH_STOPPED', { headers: { 'retry-after': '1' } }) : undefined
      )
      check(result, index)
      outcomes.add(operation.id, result)
    }
    return outcomes
  }

  // Runs outside the transaction, which has ended.
  async function undoneBy({ index: failed, result }: Undone['failed']) {
    const outcomes = newOutcomes()
    for (const [index, operation] of operations.entries()) {
      outcomes.add(operation.id, index === failed ? result : await resultOf(operation, outcomes, errors.create('BATCH_OPERATION_UNDONE')))
    }
    return outcomes
  }

  function newOutcomes() {
    return new Outcomes(maxResponseBytes, key, stored.values())
  }

  async function resultOf(operation: Operation, outcomes: Outcomes, refusal: ApiError | undefined) {
    const result = await executeOperation(inputOf(operation), facts, outcomes.bytesLeft, refusal)
    const { ratelimit } = result.headers
    if (ratelimit !== undefined) rateLimits.push(String(ratelimit))
    return result
  }

  function updateRateLimit() {
    const before = reply.getHeader('ratelimit')
    if (before !== undefined && !reply.sent) reply.header('ratelimit', rateLimitAfter(String(before), rateLimits))
  }

  // Logs once, because the operations that are not executed log nothing.
  function hasToStop() {
    if (isStopped) return true
    isStopped = reply.raw.destroyed || performance.now() - begunAt > maxMs
    if (isStopped && reply.raw.destroyed && !reply.raw.writableFinished)
      request.log.info('batch: the client disconnected, so the remaining operations are not executed')
    else if (isStopped) request.log.warn('batch: the time limit was exceeded, so the remaining operations are not executed')
    return isStopped
  }

  function inputOf({ id, method, path, headers, body }: Operation): OperationInput {
    const ownKey = headers['idempotency-key'] ?? (method === 'POST' || method === 'PATCH' ? key?.derivedKey(id) : undefined)
    return {
      method,
      url: path,
      body,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(ownKey !== undefined && { 'idempotency-key': ownKey }),
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
