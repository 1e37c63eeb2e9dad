import { secretKeyword } from '@concordat/plugin-kit/json-schema'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { type RoutePolicy, routeName } from '../run/route-policy.ts'
import { type RouteSecrets, secretsOf } from '../stored/secret-members.ts'

/**
 * Sets the secrets in the policy of a route, when the shared schemas of `app` are complete. Throws a `TypeError` for a response that would be invalid
 * without its secrets, because its schema requires them.
 */
export function findSecrets(app: FastifyInstance, route: RouteOptions, policy: RoutePolicy): void {
  policy.secrets = secretsOf(route, app)
  requireOptional(routeName(route), policy.secrets)
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
