import { secretKeyword } from '@concordat/json-schema'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { type RoutePolicy, routeName } from './route-policy.ts'
import { type RouteSecrets, secretsOf } from './secret-members.ts'

/** A route that accepts keys, and the instance with its shared schemas. */
export interface MarkedRoute {
  readonly app: FastifyInstance
  readonly route: RouteOptions
  readonly policy: RoutePolicy
}

/**
 * Sets the secrets in the policies of routes. Throws a `TypeError` for a response that would be invalid without its secrets, because its schema
 * requires them.
 */
export function findSecrets(routes: readonly MarkedRoute[]): void {
  for (const { app, route, policy } of routes) {
    policy.secrets = secretsOf(route, app)
    requireOptional(routeName(route), policy.secrets)
  }
}

function requireOptional(name: string, secrets: RouteSecrets) {
  for (const [status, response] of secrets) {
    const member = response.requiredMember()
    if (member === undefined) continue
    const place = `idempotency: ${name}: schema.response.${status}`
    throw new TypeError(
      member === ''
        ? `${place} is marked ${secretKeyword} as a whole. Mark an optional member of an object.`
        : `${place} requires "${member}", which is marked ${secretKeyword} and absent in a replay. Make it optional.`
    )
  }
}
