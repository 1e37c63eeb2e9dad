import type { RequestTransaction } from '@concordat/plugin-kit/wiring'
import type { FastifyRequest, RouteOptions } from 'fastify'
import { tenantDiffers } from '../connections/errors.ts'
import { handlerContexts } from '../connections/handler-context.ts'
import type { Postgres } from '../connections/postgres.ts'
import type { UnitSettings } from './options.ts'
import type { Transaction } from './transaction.ts'
import { Unit } from './unit.ts'

const planKey: unique symbol = Symbol('concordat.postgres.transaction-plan')
/** The key of the request property that contains the unit of work. Decorate requests with it and `null`. */
export const unitKey: unique symbol = Symbol('concordat.postgres.unit')

interface Plan {
  readonly database: Postgres
  /** The settings of a route with a transaction. */
  readonly settings: UnitSettings | undefined
  readonly route: object
}
type Planned = FastifyRequest['routeOptions']['config'] & { [planKey]?: Plan | undefined }
type Carrier = FastifyRequest & { [unitKey]: Unit | null }

/** Stores the plan in the `config` of the route. */
export function planRoute(route: RouteOptions, plan: Plan): void {
  route.config = { ...route.config, [planKey]: plan } as Planned
}

export function isCongested(request: FastifyRequest): boolean {
  const plan = (request.routeOptions.config as Planned)[planKey]
  return plan?.database.isCongested(plan.route) === true
}

/** Returns the unit of a request, created at the first call, or undefined on a route without a transaction. */
export function unitOf(request: FastifyRequest): Unit | undefined {
  const plan = (request.routeOptions.config as Planned)[planKey]
  if (plan?.settings === undefined) return undefined
  const carrier = request as Carrier
  carrier[unitKey] ??= new Unit(
    {
      database: plan.database,
      outer: enclosingUnit(plan, request),
      route: plan.route,
      tenant: tenantOf(request),
      onFault: (error) => request.log.error(error)
    },
    plan.settings
  )
  return carrier[unitKey]
}

/** Returns the tenant that authentication has found in the credential of a request. */
export function tenantOf(request: FastifyRequest): string | undefined {
  return (request as { readonly tenant?: string | undefined }).tenant
}

/** Returns the unit of a request, or null if it has not been created. */
export function begunUnitOf(request: FastifyRequest): Unit | null {
  return (request as Carrier)[unitKey]
}

/** Returns the transaction of the handler that calls this, directly or indirectly. Returns undefined elsewhere, including in hooks. */
export function currentTransaction(): Transaction | undefined {
  return currentUnit()?.domain
}

/** Returns the transaction of a request for code around its handler, in any hook from `preHandler` on; undefined on a route without a transaction. */
export function enclosingTransaction(request: FastifyRequest): RequestTransaction | undefined {
  return unitOf(request)?.enclosing
}

// A request that a handler injects is part of the transaction of that handler, which has the tenant of the handler.
function enclosingUnit({ database }: Plan, request: FastifyRequest) {
  const current = currentUnit()
  if (current?.database !== database) return undefined
  if (current.tenant !== tenantOf(request)) throw tenantDiffers()
  return current
}

function currentUnit() {
  const current = handlerContexts.getStore()
  return current instanceof Unit && current.phase === 'running' ? current : undefined
}
