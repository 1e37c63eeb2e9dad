import type { FastifyBaseLogger, FastifyContextConfig, FastifyReply } from 'fastify'
import { tenantRequired } from './errors.ts'
import type { Principal } from './principal.ts'
import { type CheckedAccess, type DeclaringRoute, nameOf } from './route-access.ts'

type Config = Pick<FastifyContextConfig, 'operational' | 'tenant'>

/** Returns whether requests to a route have a tenant. An operational route is not part of the API, and has none. */
export function hasTenant({ tenant, operational }: Config): boolean {
  return tenant !== 'none' && operational !== true
}

/**
 * Returns whether a route must say that it has no tenant, which a public route with a config must, so that its handler does not expect one. Throws a
 * `TypeError` of one line for another value of `config.tenant`, and for one that has no effect.
 */
export function mustSayNone(route: DeclaringRoute, access: CheckedAccess | undefined, claim: string | undefined): boolean {
  const { config = {} } = route
  const where = `authentication: ${nameOf(route)}: config.tenant`
  if (config.tenant !== undefined && claim === undefined)
    throw new TypeError(`${where} has no effect without options.tenant. Set it, for example to { claim: 'org' }, or remove the key.`)
  if (config.tenant !== undefined && config.tenant !== 'none')
    throw new TypeError(`${where} must be 'none', for a route without a tenant. Remove it from a route that has one.`)
  return claim !== undefined && typeof access === 'string' && config.public !== undefined && hasTenant(config)
}

/** Returns the error message for public routes that do not say that they have no tenant. */
export function unsaid(routes: Iterable<string>): string {
  const urls = [...routes]
  const [have, them] = urls.length === 1 ? ['is public and has', 'it'] : ['are public and have', 'them']
  return `authentication: ${urls.join(', ')} ${have} no tenant, which the config must say. Add tenant: 'none' to the config, or replace public with permissions, which gives ${them} a tenant.`
}

interface Entered {
  readonly principal?: Principal | null
  tenant: string | undefined
  log: FastifyBaseLogger
}

/**
 * Sets the tenant of an authenticated request, also in its log lines. Returns the error that refuses the request: the given one, which the records of
 * refusals show with the tenant, or that for a credential without a tenant.
 */
export function enterTenant(request: Entered, reply: Pick<FastifyReply, 'log'>, refused: Error | undefined): Error | undefined {
  if (!request.principal) return refused
  const { tenant } = request.principal
  if (tenant === undefined) return refused ?? tenantRequired()
  request.tenant = tenant
  request.log = reply.log = request.log.child({ tenant })
  return refused
}
