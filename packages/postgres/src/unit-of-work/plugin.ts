import { observeErrorHandlers } from '@concordat/plugin-kit/api-error'
import { onEachRoute } from '@concordat/plugin-kit/findings'
import type { Observer } from '@concordat/plugin-kit/observer'
import { contractOf, contribute, publish, requireKnownConfig, type Transactions } from '@concordat/plugin-kit/wiring'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { postgresErrors, transactionEnded } from '../connections/errors.ts'
import { type HandlerContext, handlerContexts } from '../connections/handler-context.ts'
import type { Postgres, SqlClient } from '../connections/postgres.ts'
import { requireBoundRole } from '../connections/tenant.ts'
import { runHandler } from './handler-run.ts'
import { observeUnit, poolGauges } from './observation.ts'
import { type RouteTransaction, resolveRoute, type UnitOfWorkOptions, unitOfWorkOptions } from './options.ts'
import { requireOrder } from './order.ts'
import { begunUnitOf, currentTransaction, enclosingTransaction, isCongested, planRoute, tenantOf, unitKey, unitOf } from './request-unit.ts'
import { runAsOne } from './run-as-one.ts'
import type { Transaction } from './transaction.ts'
import type { Unit } from './unit.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Runs the handler in one transaction, which is committed with its response or not at all. */
    transaction?: true | RouteTransaction | false | undefined
  }
  interface FastifyRequest {
    /** The transaction of a route with `config.transaction`. Throws a `TypeError` on other routes. */
    readonly transaction: Transaction
    /**
     * Runs statements that only read, outside the transaction of the route. In a request with a tenant, each is a read-only transaction of its own
     * that sees the rows of the tenant, without a further round trip. Throws `TRANSACTION_REQUIRED` while the transaction of the handler is open.
     */
    readonly reads: SqlClient
  }
}

// Used for atomic batches when no plugin limits the time of handlers.
const defaultTimeoutSeconds = 30
// Only the errors that ask the client to retry: the others mean only that something failed.
const retryErrors = Object.entries(postgresErrors.definitions).flatMap(([code, { statusCode }]) => (statusCode === 503 ? [code] : []))

type Next = (error: Error | null, payload?: unknown) => void

/** Commits the writes of a handler before the first byte of its response is sent. On any error, none of them remain. */
const unitOfWork: FastifyPluginAsync<UnitOfWorkOptions> = async (app, options) => {
  const { database } = unitOfWorkOptions.readPlugin(options)
  const handlerTimeoutSeconds = contractOf(app, 'handlerTimeout')?.seconds
  const { handlerTimeout = 0 } = app.initialConfig as { readonly handlerTimeout?: number }
  const observer = contractOf(app, 'observer')
  const requireOrderKept = requireOrder((name) => app.hasPlugin(name))

  requireKnownConfig(app, 'postgres')
  contribute(app, 'errors', postgresErrors)
  observeErrorHandlers(app)
  contribute(app, 'gauges', poolGauges(database))
  contribute(app, 'operations', ({ config }) => ({ errors: config?.transaction ? retryErrors : [] }))
  publish(app, { transactions: { ...transactionsOf(database, handlerTimeoutSeconds || defaultTimeoutSeconds), isCongested } })
  app.decorateRequest(unitKey, null)
  app.decorateRequest('transaction', { getter: transactionOfRequest })
  app.decorateRequest('reads', {
    getter() {
      return database.reads(tenantOf(this))
    }
  })
  onEachRoute(app, prepareRoute)
  app.addHook('onReady', async () => {
    requireOrderKept()
    await requireBoundRole(database)
  })

  function prepareRoute(route: RouteOptions) {
    const setting = route.config?.transaction
    const own = {}
    if (setting === undefined || setting === false) {
      planRoute(route, { database, settings: undefined, route: own })
      route.handler = inContext(route.handler, { database, isOpen: false, route: own })
      return
    }
    const timeoutMs = route.handlerTimeout ?? ((handlerTimeoutSeconds ?? 0) * 1000 || handlerTimeout)
    const settings = resolveRoute(`${String(route.method)} ${route.url}`, setting, timeoutMs)
    planRoute(route, { database, settings, route: own })
    route.handler = inTransaction(route.handler, settings.maxRetries, observer)
    route.onSend = [...[route.onSend ?? []].flat(), commit]
  }
}

function transactionOfRequest(this: FastifyRequest): Transaction {
  const unit = unitOf(this)
  if (unit === undefined) {
    throw new TypeError(
      `unit-of-work: ${this.method} ${this.routeOptions.url} has no transaction. Register this plugin first and set config.transaction.`
    )
  }
  return unit.domain
}

function transactionsOf(database: Postgres, timeoutSeconds: number): Transactions<Transaction> {
  return {
    transactionOf: enclosingTransaction,
    currentTransaction,
    runAsOne: (request, work) =>
      runAsOne({ database, tenant: tenantOf(request), timeoutSeconds, onFault: (error) => request.log.error(error) }, work)
  }
}

// A request that a handler injects belongs to that handler, whose transaction may be open, but not to its tenant.
function inContext(handler: RouteHandlerMethod, context: HandlerContext): RouteHandlerMethod {
  return function runInContext(request, reply) {
    const run = () => handler.call(this, request, reply)
    const tenant = tenantOf(request)
    const around = handlerContexts.getStore()
    if (around === undefined) return handlerContexts.run(tenant === undefined ? context : { ...context, tenant }, run)
    return around.tenant === tenant ? run() : handlerContexts.run(withTenant(around, tenant), run)
  }
}

function withTenant(around: HandlerContext, tenant: string | undefined): HandlerContext {
  return {
    database: around.database,
    route: around.route,
    tenant,
    get isOpen() {
      return around.isOpen
    }
  }
}

function inTransaction(handler: RouteHandlerMethod, maxRetries: number, observer: Observer | undefined): RouteHandlerMethod {
  return function runInTransaction(request, reply) {
    const unit = unitOf(request) as Unit
    if (observer !== undefined) observeUnit(unit, observer, request.routeOptions.url as string)
    // A response that no hook saw, for example after two failures of the error handler, does not end the transaction.
    reply.raw.once('close', () => void (reply.sent && unit.phase === 'running' && unit.abort()))
    return runHandler(unit, reply, maxRetries, () => handler.call(this, request, reply))
  }
}

// The last hook of the route, in callback style: a response that another has overtaken must not be sent.
function commit(request: FastifyRequest, reply: FastifyReply, payload: unknown, next: Next) {
  const unit = begunUnitOf(request)
  const isFailure = reply.statusCode >= 500
  if (unit === null || unit.phase === 'ended' || unit.endUnused(payload)) return next(null, payload)
  if (unit.phase === 'aborted') return isFailure ? next(null, payload) : next(transactionEnded())
  if (unit.phase === 'ending') {
    // For example, the handler timed out during COMMIT: whether the transaction took effect is then unknown.
    if (isFailure) void overtake(unit, () => next(null, payload))
    return
  }
  const respond = (error: Error | null) => {
    if (!unit.isOvertaken) next(error, payload)
  }
  unit.settle(reply, payload).then(() => respond(null), respond)
}

async function overtake(unit: Unit, respond: () => void) {
  await unit.overtake()
  respond()
}

const plugin: FastifyPluginAsync<UnitOfWorkOptions> = fp(unitOfWork, { name: '@concordat/postgres/unit-of-work', fastify: '^5.12.1' })
export default plugin

/** Returns the plugin for the `transactions` option of the preset: the unit of work on this database. */
export function postgresTransactions(database: Postgres): FastifyPluginAsync {
  return fp(async (app) => {
    await app.register(plugin, { database })
  })
}
