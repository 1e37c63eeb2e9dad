import type { FastifyRequest, RouteOptions } from 'fastify'
import { handlerTransactions } from '../open-transaction.ts'
import type { Postgres } from '../postgres.ts'
import type { UnitSettings } from './options.ts'
import type { EnclosingTransaction, Transaction } from './transaction.ts'
import { Unit } from './unit.ts'

const planKey: unique symbol = Symbol('concordat.postgres.transaction-plan')
/** Where a request has its unit; decorate requests with it, `null`. */
export const unitKey: unique symbol = Symbol('concordat.postgres.unit')

interface Plan {
  readonly database: Postgres
  readonly settings: UnitSettings
}
type Planned = FastifyRequest['routeOptions']['config'] & { [planKey]?: Plan }
type Carrier = FastifyRequest & { [unitKey]: Unit | null }

/** Gives the requests of a route a unit each. */
export function planRoute(route: RouteOptions, plan: Plan): void {
  route.config = { ...route.config, [planKey]: plan } as Planned
}

/** The unit of a request, made when it is first asked for; of a route without a transaction none. */
export function unitOf(request: FastifyRequest): Unit | undefined {
  const plan = (request.routeOptions.config as Planned)[planKey]
  if (plan === undefined) return undefined
  const carrier = request as Carrier
  carrier[unitKey] ??= new Unit(
    { database: plan.database, outer: outerOf(plan), onFault: (error) => request.log.error(error) },
    plan.settings
  )
  return carrier[unitKey]
}

/** The unit of a request, if anybody has asked for it. */
export function begunUnitOf(request: FastifyRequest): Unit | null {
  return (request as Carrier)[unitKey]
}

/** The transaction of the handler that this is called in, or in what it calls; `undefined` elsewhere, hooks included. */
export function currentTransaction(): Transaction | undefined {
  return currentUnit()?.domain
}

/**
 * The transaction of a request for what stands around its handler, as the idempotency gate; `undefined` on a route without one. It can be
 * asked for in any hook from `preHandler` on.
 */
export function enclosingTransaction(request: FastifyRequest): EnclosingTransaction | undefined {
  return unitOf(request)?.enclosing
}

// Who injects a request from a handler does it as a part of its own transaction.
function outerOf({ database }: Plan) {
  const current = currentUnit()
  return current?.database === database ? current : undefined
}

function currentUnit() {
  const current = handlerTransactions.getStore()
  return current instanceof Unit && current.phase === 'running' ? current : undefined
}
