import type { Contracts, DescribedRoute, OperationParts } from '@concordat/plugin-kit/wiring'
import { type CredentialPlaces, credentialHeaders } from './credentials.ts'
import { authenticationErrors } from './errors.ts'
import { clientOf, identityOf, isPrivate, ownerOf, tenantOf } from './principal.ts'
import { hasTenant } from './tenant-routes.ts'

const headers = { 'WWW-Authenticate': { statuses: ['400'] } }
const codes = Object.keys(authenticationErrors.definitions)
// A public route accepts requests without credentials, and refuses credentials that are invalid.
const onlyWithPermissions = new Set(['RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSION', 'CROSS_SITE_REQUEST', 'TENANT_REQUIRED'])

/** Returns the function that returns the errors that authentication can cause on a route, for its description. */
export function operationParts(tenantClaim: string | undefined) {
  return ({ url, config = {} }: DescribedRoute): OperationParts => {
    if (config.permissions === undefined)
      return { errors: config.public === true ? codes.filter((code) => !onlyWithPermissions.has(code)) : ['CREDENTIALS_IN_URI'], headers }
    const absent = new Set([
      // A resource whose existence is hidden from the caller returns 404, which only an item can do.
      ...(url.includes(':') ? [] : ['RESOURCE_NOT_FOUND']),
      ...(tenantClaim !== undefined && hasTenant(config) ? [] : ['TENANT_REQUIRED'])
    ])
    return { errors: codes.filter((code) => !absent.has(code)), headers }
  }
}

const bearer = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'An access token (JWT), validated according to RFC8725.'
}

/** Returns the contract by which other plugins find the client of a request. */
export function clientsContract(
  places: CredentialPlaces,
  tenantClaim: string | undefined,
  checks: Pick<Contracts['clients'], 'requirePermissions' | 'hasPolicy'>
): Contracts['clients'] {
  const known = { clientOf, ownerOf, identityOf, isPrivate, credentialHeaders: credentialHeaders(places) }
  return { ...known, ...(tenantClaim !== undefined && { tenantOf }), securitySchemes: { bearer }, ...checks }
}
