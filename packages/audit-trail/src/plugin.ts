import { measureCalls } from '@concordat/observer'
import { contractLater, contractOf, type RequestTransaction, requireKnownConfig } from '@concordat/plugin-wiring'
import { chain, stepHook } from '@concordat/request-steps'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { type AuditTrailOptions, auditTrailOptions } from './options.ts'
import { type AuditRecord, recorder } from './record.ts'
import { RecordQueue } from './record-queue.ts'

const stateKey: unique symbol = Symbol('concordat.auditTrail')
// The record that is a part of the transaction of the request, or that the request needs no further record.
type RecordedRequest = FastifyRequest & { [stateKey]: AuditRecord | 'done' | null }

// RFC 9110 §9.2.1, and RFC 10008 for QUERY.
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'])

/** Records each request that can change something, in the transaction of the change if there is one. Register it before the routes. */
const auditTrail: FastifyPluginAsync<AuditTrailOptions> = async (app, options) => {
  const { store, now } = auditTrailOptions.readPlugin(options)
  const observer = contractOf(app, 'observer')
  const transactions = contractOf(app, 'transactions')
  const isReplay = contractLater(app, 'isReplay')
  const hasParts = contractLater(app, 'hasParts')
  const measured = measureCalls(observer, 'auditTrail', store)
  const queue = new RecordQueue(measured, observer, app.log)
  const { recordOf, outcomeOf, clientKeyOf } = recorder(app, now)

  requireKnownConfig(app, 'audit-trail')
  app.decorateRequest(stateKey, null)
  app.addHook('onRoute', recordRoute)
  app.addHook('onReady', requireOrder)
  app.addHook('onClose', () => queue.close())

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
      const transaction = isRecorded(request) && store.addWithin ? transactions?.transactionOf(request) : undefined
      transaction?.beforeCommit(() => recordIn(transaction, request, reply))
      const result: unknown = handler.call(this, request, reply)
      if (transaction === undefined && result instanceof Promise) void noteDisconnected(result, request, reply)
      return result
    }
  }

  async function recordIn(transaction: RequestTransaction, request: FastifyRequest, reply: FastifyReply) {
    if (reply.statusCode >= 400 || hasParts()?.(request) === true) return
    const record = recordOf(request, reply)
    if (await measured.addWithin?.(record, transaction)) (request as RecordedRequest)[stateKey] = record
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
    const isSuccess = reply.statusCode < 400
    if (isReplay()?.(request) === true || (isSuccess && (state !== null || hasParts()?.(request) === true))) return
    // The same record again, if it is not known whether its transaction was committed: only one of both is stored.
    queue.add(state === null ? recordOf(request, reply) : { ...state, ...outcomeOf(reply) }, clientKeyOf(request))
  }
}

function isRecorded({ method }: FastifyRequest) {
  return !safeMethods.has(method)
}

const plugin: FastifyPluginAsync<AuditTrailOptions> = fp(auditTrail, { name: '@concordat/audit-trail', fastify: '^5.12.1' })
export default plugin
