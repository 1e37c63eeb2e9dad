import type { Observer } from '@concordat/plugin-kit/observer'
import { chain, stepHook } from '@concordat/plugin-kit/steps'
import { type Contracts, contractLater, type RequestTransaction } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteOptions } from 'fastify'
import { type AuditRecord, recorder } from './record.ts'
import type { RecordQueue } from './record-queue.ts'
import type { Refusals } from './refusals.ts'
import type { AuditTrailStore } from './store.ts'

const stateKey: unique symbol = Symbol('concordat.auditTrail')
type RecordedRequest = FastifyRequest & { [stateKey]: Progress | 'done' | null }

/** The state of a request whose handler has started. */
interface Progress {
  readonly transaction: RequestTransaction | undefined
  /** The record that is a part of the transaction. */
  record: AuditRecord | undefined
}

const notRecorded = {
  name: 'concordat.audit_trail.not_recorded',
  unit: '{request}',
  description: 'Requests without an audit record, because they were over a limit, or because the service could not serve them.'
}

// RFC 9110 §9.2.1, and RFC 10008 for QUERY.
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'])

interface RecordingTools {
  readonly store: AuditTrailStore
  readonly transactions: Contracts['transactions'] | undefined
  readonly observer: Observer | undefined
  readonly queue: RecordQueue
  readonly refusals: Refusals
}

/** Records the requests to each route that can change something. */
export function recordRoutes(app: FastifyInstance, { store, transactions, observer, queue, refusals }: RecordingTools): void {
  const idempotency = contractLater(app, 'idempotency')
  const batches = contractLater(app, 'batches')
  const { recordOf, outcomeOf, clientKeyOf } = recorder(app)

  app.decorateRequest(stateKey, null)
  app.addHook('onRoute', recordRoute)

  function recordRoute(route: RouteOptions) {
    if ([route.method].flat().every((method) => safeMethods.has(method))) return
    route.handler = recorded(route.handler)
    route.onSend = chain('onSend', route.onSend, stepHook('onSend', noteResponse))
    // For a response that bypasses the hooks above, such as a refusal under overload.
    route.onResponse = [...[route.onResponse ?? []].flat(), noteEnd]
  }

  function recorded(handler: RouteHandlerMethod): RouteHandlerMethod {
    return function runRecorded(request, reply) {
      if (!isRecorded(request)) return handler.call(this, request, reply)
      const transaction = transactions?.transactionOf(request)
      join(transaction, request as RecordedRequest, reply)
      const result: unknown = handler.call(this, request, reply)
      if ((transaction === undefined || !store.addWithin) && result instanceof Promise) void noteDisconnected(result, request, reply)
      return result
    }
  }

  function join(transaction: RequestTransaction | undefined, request: RecordedRequest, reply: FastifyReply) {
    const progress: Progress = { transaction, record: undefined }
    request[stateKey] = progress
    if (transaction === undefined || !store.addWithin) return
    transaction.beforeCommit(async () => {
      if (reply.statusCode >= 400 || batches()?.hasParts(request) === true) return
      const record = recordOf(request, reply)
      if (await store.addWithin?.(record, transaction)) progress.record = record
    })
  }

  function noteResponse(request: FastifyRequest, reply: FastifyReply) {
    if (isRecorded(request)) conclude(request as RecordedRequest, reply)
  }

  function noteEnd(request: FastifyRequest, reply: FastifyReply, done: () => void) {
    noteResponse(request, reply)
    done()
  }

  // Fastify sends no empty response to a client that has disconnected, so that no hook runs.
  async function noteDisconnected(result: Promise<unknown>, request: FastifyRequest, reply: FastifyReply) {
    const payload = await result.catch(() => null)
    if (payload === undefined && reply.raw.destroyed) noteResponse(request, reply)
  }

  function conclude(request: RecordedRequest, reply: FastifyReply) {
    const { [stateKey]: state } = request
    if (state === 'done') return
    request[stateKey] = 'done'
    const { transaction, record: stored } = state ?? {}
    const { statusCode } = reply
    if (idempotency()?.isReplay(request) === true || (statusCode < 400 && (stored !== undefined || batches()?.hasParts(request) === true)))
      return
    // Nobody was admitted, and anybody can send any number of them.
    if (statusCode === 429) return observer?.count(notRecorded, { reason: 'limit' })
    if (statusCode >= 500 && state === null) return observer?.count(notRecorded, { reason: 'notServed' })
    // The same record again, if it is not known whether its transaction was committed: only one of both is stored.
    const record = stored === undefined ? recordOf(request, reply) : { ...stored, ...outcomeOf(reply) }
    const client = clientKeyOf(request)
    const add = () => (record.outcome === 'refused' ? refusals.note(record, client) : queue.add(record, client))
    // An operation that fails in a batch that runs again has the outcome of the last run.
    if (transaction?.whenFinal) transaction.whenFinal(add)
    else add()
  }
}

function isRecorded({ method }: FastifyRequest) {
  return !safeMethods.has(method)
}
