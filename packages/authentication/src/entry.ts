import type { FastifyRequest } from 'fastify'
import { insufficientPermission } from './errors.ts'
import type { Principal } from './principal.ts'
import type { CheckedAccess } from './route-access.ts'

/** Notes who makes a request. Returns the error for a client without the permissions of the route. */
export function enter(request: { principal: Principal | null }, principal: Principal, access: Exclude<CheckedAccess, 'public'>) {
  if (access === 'anonymous') return undefined
  request.principal = principal
  return access.every((permission) => principal.permissions.includes(permission)) ? undefined : insufficientPermission(access)
}

/** Does the same when the credential is verified. */
export async function enterLater(request: FastifyRequest, verifying: Promise<Principal>, access: Exclude<CheckedAccess, 'public'>) {
  try {
    return enter(request, await verifying, access)
  } catch (thrown) {
    return refusal(request, thrown as Error, access)
  }
}

/** Returns the error for a credential that was rejected. The log tells operators why; the response does not contain the reason. */
export function refusal(request: FastifyRequest, error: Error, access: CheckedAccess) {
  if (error.cause instanceof Error) request.log.info({ reason: error.cause.message }, 'authentication: credentials rejected')
  // A public route needs no credentials, so it still responds when they cannot be verified.
  const isUnavailable = (error as { readonly statusCode?: unknown }).statusCode === 503
  return access === 'anonymous' && isUnavailable ? undefined : error
}
