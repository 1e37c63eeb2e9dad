import { measureCalls } from '@concordat/plugin-kit/observer'
import { chain, stepHook } from '@concordat/plugin-kit/steps'
import { sweepRegularly } from '@concordat/plugin-kit/sweep'
import { contractLater, contractOf, type RequestTransaction, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { type AuditTrailOptions, auditTrailOptions } from './options.ts'
import { type AuditRecord, recorder } from './record.ts'
import { RecordQueue } from './record-queue.ts'
import { Refusals } from './refusals.ts'

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

/** Records each request that can change something, in the transaction of the change if there is one. Register it before the routes. */
const auditTrail: FastifyPluginAsync<AuditTrailOptions> = async (app, options) => {
  const { store, now } = auditTrailOptions.readPlugin(options)
  const observer = contractOf(app, 'observer')
  const transactions = contractOf(app, 'transactions')
  const idempotency = contractLater(app, 'idempotency')
  const batches = contractLater(app, 'batches')
  const measured = measureCalls(observer, 'auditTrail', store)
  const queue = new RecordQueue(measured, observer, app.log)
  const refusals = new Refusals(
    (record, client) => queue.add(record, client),
    () => queue.lose([{ outcome: 'refused' }], 'queueFull'),
    now
  )
  const { recordOf, outcomeOf, clientKeyOf } = recorder(app, now)

  requireKnownConfig(app, 'audit-trail')
  app.decorateRequest(stateKey, null)
  app.addHook('onRoute', recordRoute)
  app.addHook('onReady', requireOrder)
  app.addHook('onClose', () => {
    refusals.end(true)
    return queue.close()
  })
  const sweep = (maximum: number) => {
    // Those of the minute before, also when there are no requests.
    refusals.end()
    return measured.sweep?.(now(), maximum) ?? 0
  }
  sweepRegularly(app, sweep, { failure: 'audit-trail: records beyond the retention were not deleted' })

  function recordRoute(route: RouteOptions) {
    if ([route.method].flat().every((method) => safeMethods.has(method))) return
    route.handler = recorded(route.handler)
    route.onSend = chain('onSend', route.onSend, stepHook('onSend', noteResponse))
    // For a response that bypasses the hooks above, such as a refusal under overload.
    route.onResponse = [...[route.onResponse ?? []].flat(), noteEnd]
  }

  async function requireOrder() {
    if (contractOf(app, 'transactions') === transactions) return
    throw new Error('audit-trail: the unit of work must be registered before the audit trail. Register it earlier.')
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
      if (await measured.addWithin?.(record, transaction)) progress.record = record
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

const plugin: FastifyPluginAsync<AuditTrailOptions> = fp(auditTrail, { name: '@concordat/audit-trail', fastify: '^5.12.1' })
export default plugin
