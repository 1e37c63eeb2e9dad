import { setImmediate } from 'node:timers/promises'
import type { ApiError, Retry } from '@concordat/plugin-kit/api-error'
import { isForwarded } from '@concordat/plugin-kit/links'
import type { RequestKey, Transactions } from '@concordat/plugin-kit/wiring'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errors } from './errors.ts'
import type { ExecutedOperation, ExecuteOperation } from './execute-operation.ts'
import type { BatchFacts, OperationInput } from './operation-request.ts'
import { operationSocket } from './operation-socket.ts'
import type { Settings } from './options.ts'
import { type Outcome, Outcomes, storedIn } from './outcomes.ts'
import { rateLimitAfter } from './rate-limit-field.ts'
import type { Batch, Operation } from './read-batch.ts'

// The batch yields to other requests even if its handlers and the database never do.
const turnMs = 10

// Less than the time limit of handlers, so that a batch that is too long has a response. After it, no further operation starts.
const maxMs = 20_000

// Of the bodies of all outcomes. A body that does not fit is omitted.
const maxResponseBytes = 786_432

interface BatchContext {
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

/** The execution of a batch: of its operations, one after another. With a key, of those that have no final outcome from an earlier attempt. */
export class BatchRun {
  readonly #batch: Batch
  readonly #context: BatchContext
  readonly #facts: BatchFacts
  readonly #forwarded: Readonly<Record<string, string>>
  readonly #key: RequestKey | null | undefined
  readonly #stored: ReadonlyMap<string, Outcome>
  readonly #rateLimits: string[] = []
  readonly #begunAt = performance.now()
  #turnBegunAt = this.#begunAt
  #isStopped = false

  constructor(batch: Batch, context: BatchContext) {
    const { request, settings } = context
    const { raw } = request
    this.#batch = batch
    this.#context = context
    this.#facts = { requestId: request.id, socket: operationSocket(raw.socket), isAtomic: batch.isAtomic, isForwarded: isForwarded(raw) }
    this.#forwarded = forwardedOf(request, settings.forwardedHeaders())
    this.#key = settings.batchKey(request)
    this.#stored = storedIn(this.#key?.progress)
  }

  /** Executes the operations. Rejects only if an atomic batch cannot be committed. */
  async execute(): Promise<Outcomes> {
    const { reply, settings } = this.#context
    const key = this.#key
    reply.raw.once('close', () => void (reply.raw.writableFinished || this.#facts.running?.disconnect()))
    // A response that is sent before the end, after a timeout, does not tell what the operations did.
    if (key) key.progress ??= '[]'
    const runAsOne = this.#batch.isAtomic && this.#stored.size === 0 ? settings.transactions()?.runAsOne : undefined
    try {
      const outcomes = await (runAsOne ? this.#executeAtomic(runAsOne) : this.#executeAll(() => {}))
      if (key) key.progress = outcomes.areFinal && !reply.sent ? undefined : outcomes.progress
      return outcomes
    } finally {
      this.#updateRateLimit()
    }
  }

  async #executeAtomic(runAsOne: NonNullable<Transactions['runAsOne']>) {
    const key = this.#key
    let executed: ExecutedOperation[] = []
    try {
      return await runAsOne(this.#context.request, () => {
        executed = []
        return this.#executeAll((result, index) => {
          executed.push(result)
          if (result.status >= 400) throw new Undone(index, result)
        })
      })
    } catch (error) {
      // After a timeout of the transaction, an operation would run in one of its own.
      this.#isStopped = true
      if (error instanceof Undone) {
        if (!error.failed.result.isFinal) key?.release()
        return this.#undoneBy(error.failed)
      }
      if (executed.every(({ mayRepeat }) => mayRepeat())) key?.release()
      else if (key) key.progress = undefined
      throw error
    }
  }

  async #executeAll(check: (result: ExecutedOperation, index: number) => void) {
    const outcomes = this.#newOutcomes()
    for (const [index, operation] of this.#batch.operations.entries()) {
      if (performance.now() - this.#turnBegunAt > turnMs) {
        await setImmediate()
        this.#turnBegunAt = performance.now()
      }
      const earlier = this.#stored.get(operation.id)
      if (earlier !== undefined) {
        outcomes.addStored(earlier)
        continue
      }
      const refusal = this.#hasToStop() ? errors.create('BATCH_STOPPED', { headers: { 'retry-after': '1' } }) : undefined
      const result = await this.#resultOf(operation, outcomes, refusal)
      check(result, index)
      outcomes.add(operation.id, result)
    }
    return outcomes
  }

  // Runs outside the transaction, which has ended.
  async #undoneBy({ index: failed, result }: Undone['failed']) {
    const outcomes = this.#newOutcomes()
    const retry = retryOf(result)
    for (const [index, operation] of this.#batch.operations.entries()) {
      const undone = errors.create('BATCH_OPERATION_UNDONE', { retry })
      outcomes.add(operation.id, index === failed ? result : await this.#resultOf(operation, outcomes, undone))
    }
    return outcomes
  }

  #newOutcomes() {
    return new Outcomes(maxResponseBytes, this.#key, this.#stored.values())
  }

  async #resultOf(operation: Operation, outcomes: Outcomes, refusal: ApiError | undefined) {
    const input = inputOf(operation, this.#forwarded, this.#key)
    const result = await this.#context.executeOperation(input, this.#facts, outcomes.bytesLeft, refusal)
    const { ratelimit } = result.headers
    if (ratelimit !== undefined) this.#rateLimits.push(String(ratelimit))
    return result
  }

  #updateRateLimit() {
    const { reply } = this.#context
    const before = reply.getHeader('ratelimit')
    if (before !== undefined && !reply.sent) reply.header('ratelimit', rateLimitAfter(String(before), this.#rateLimits))
  }

  // Logs once, because the operations that are not executed log nothing.
  #hasToStop() {
    if (this.#isStopped) return true
    const { request, reply } = this.#context
    this.#isStopped = reply.raw.destroyed || performance.now() - this.#begunAt > maxMs
    if (this.#isStopped && reply.raw.destroyed && !reply.raw.writableFinished)
      request.log.info('batch: the client disconnected, so the remaining operations are not executed')
    else if (this.#isStopped) request.log.warn('batch: the time limit was exceeded, so the remaining operations are not executed')
    return this.#isStopped
  }
}

// What the operation that failed says of itself holds for the batch.
function retryOf({ body = '' }: ExecutedOperation): Retry | undefined {
  try {
    const { error, retry } = JSON.parse(body) as { readonly error?: { readonly retry?: Retry }; readonly retry?: Retry }
    // A problem document has it itself.
    return error?.retry ?? retry
  } catch {
    return undefined
  }
}

function inputOf(
  { id, method, path, headers, body }: Operation,
  forwarded: Readonly<Record<string, string>>,
  key: RequestKey | null | undefined
): OperationInput {
  const ownKey = headers['idempotency-key'] ?? (method === 'GET' ? undefined : key?.derivedKey(id))
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

function forwardedOf({ raw: { headers } }: FastifyRequest, names: ReadonlySet<string>): Record<string, string> {
  const forwarded: Record<string, string> = {}
  for (const name of names) {
    // HTTP/2 sends the host in `:authority`.
    const value = headers[name] ?? (name === 'host' ? headers[':authority'] : undefined)
    if (value !== undefined) forwarded[name] = String(value)
  }
  return forwarded
}
