import type { Contracts, DescribedRoute, OperationParts } from '@concordat/plugin-kit/wiring'
import { type CredentialPlaces, credentialHeaders } from './credentials.ts'
import { authenticationErrors } from './errors.ts'
import { clientOf, identityOf, isPrivate, ownerOf } from './principal.ts'

const headers = { 'WWW-Authenticate': { statuses: ['400'] } }
const codes = Object.keys(authenticationErrors.definitions)
// A public route accepts requests without credentials, and refuses credentials that are invalid.
const onlyWithPermissions = new Set(['RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSION', 'CROSS_SITE_REQUEST'])

/** Returns the errors that authentication can cause on a route, for its description. */
export function operationParts({ url, config = {} }: DescribedRoute): OperationParts {
  if (config.permissions === undefined)
    return { errors: config.public === true ? codes.filter((code) => !onlyWithPermissions.has(code)) : ['CREDENTIALS_IN_URI'], headers }
  // A resource whose existence is hidden from the caller returns 404, which only an item can do.
  return { errors: codes.filter((code) => code !== 'RESOURCE_NOT_FOUND' || url.includes(':')), headers }
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
  requirePermissions: Contracts['clients']['requirePermissions']
): Contracts['clients'] {
  const known = { clientOf, ownerOf, identityOf, isPrivate, credentialHeaders: credentialHeaders(places) }
  return { ...known, securitySchemes: { bearer }, requirePermissions }
}
