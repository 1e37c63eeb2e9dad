import { defineErrors, type ErrorList, sharedDefinitions } from '@concordat/plugin-kit/api-error'

const list = defineErrors({
  AUTHENTICATION_REQUIRED: sharedDefinitions.AUTHENTICATION_REQUIRED,
  INVALID_TOKEN: {
    statusCode: 401,
    message: {
      en: 'The access token is invalid. Request a new one.',
      es: 'El token de acceso no es válido. Solicite uno nuevo.'
    },
    remedy: 'Request an access token for this service from an issuer that it trusts.'
  },
  TOKEN_EXPIRED: {
    statusCode: 401,
    message: {
      en: 'The access token has expired. Request a new one.',
      es: 'El token de acceso ha caducado. Solicite uno nuevo.'
    },
    remedy: 'Request a new access token, for example with the refresh token, then send the request again.'
  },
  TOKEN_REVOKED: {
    statusCode: 401,
    message: {
      en: 'The access token was revoked. Sign in again.',
      es: 'El token de acceso fue revocado. Inicie sesión de nuevo.'
    },
    remedy: 'Sign in again to start a new session.'
  },
  INVALID_API_KEY: {
    statusCode: 401,
    message: {
      en: 'The API key is unknown or has expired. Check it, or request a new one.',
      es: 'La clave de API es desconocida o ha caducado. Revísela o solicite una nueva.'
    },
    remedy: 'Check that you copied the whole key, or ask the operator of the service for a new one.'
  },
  INVALID_AUTHORIZATION: {
    statusCode: 400,
    message: {
      en: 'The credentials are malformed or were sent more than once. Send exactly one credential, for example "Authorization: Bearer <token>".',
      es: 'Las credenciales están mal formadas o se enviaron más de una vez. Envíe una sola credencial, por ejemplo "Authorization: Bearer <token>".'
    },
    remedy: 'Send exactly one credential, in one header.'
  },
  CREDENTIALS_IN_URI: {
    statusCode: 400,
    message: {
      en: 'The URL contains credentials, which must be considered compromised. Revoke them, then send new ones in a header.',
      es: 'La URL contiene credenciales, que deben considerarse comprometidas. Revóquelas y envíe otras nuevas en un encabezado.'
    },
    remedy: 'Create new credentials, and send them only in the Authorization header.'
  },
  INSUFFICIENT_PERMISSION: {
    statusCode: 403,
    message: {
      en: 'You do not have permission to do this. Required: {permissions}.',
      es: 'No tiene permiso para realizar esta operación. Se requiere: {permissions}.'
    },
    remedy: 'Request the permission that the message names. Signing in again does not help.'
  },
  TENANT_REQUIRED: {
    statusCode: 403,
    message: {
      en: 'The credential names no tenant, which this resource requires. Use a credential of a tenant.',
      es: 'La credencial no indica un tenant, que este recurso requiere. Use una credencial de un tenant.'
    },
    remedy: 'Request a token or an API key for the tenant whose data you need. Signing in again without a tenant does not help.'
  },
  CROSS_SITE_REQUEST: {
    statusCode: 403,
    message: {
      en: 'Requests that change data and authenticate by cookie are accepted only from pages of this service. Send the request from such a page, or use a Bearer token.',
      es: 'Las peticiones que modifican datos y se autentican con una cookie solo se aceptan desde páginas de este servicio. Envíe la petición desde una de ellas o use un token Bearer.'
    },
    remedy: 'Send the request from a page of an allowed origin, or use a Bearer token instead of the cookie.'
  },
  RESOURCE_NOT_FOUND: sharedDefinitions.RESOURCE_NOT_FOUND,
  AUTHENTICATION_UNAVAILABLE: {
    statusCode: 503,
    retry: 'later',
    message: {
      en: 'Credentials cannot be verified at the moment. Try again in a few seconds.',
      es: 'Las credenciales no se pueden verificar en este momento. Inténtelo de nuevo en unos segundos.'
    },
    remedy: 'Send the request again after the number of seconds in Retry-After.'
  }
})

/** Every error that this package raises, for the catalogue's `include`. */
export const authenticationErrors: ErrorList = list

// RFC 6750 §3: without credentials, a challenge names no error.
const challenge = 'Bearer realm="api"'
const plain = { 'www-authenticate': challenge }
const invalid = { 'www-authenticate': `${challenge}, error="invalid_token"` }

export const authenticationRequired = () => list.create('AUTHENTICATION_REQUIRED', { headers: plain })

/** The reason is logged, reveals nothing of the token itself, and is never sent. */
export const invalidToken = (reason: string) => list.create('INVALID_TOKEN', { headers: invalid, cause: new Error(reason) })

/** Never thrown before the signature is verified, and only when the expiry is the only fault. */
export const tokenExpired = () => list.create('TOKEN_EXPIRED', { headers: invalid })

export const tokenRevoked = () => list.create('TOKEN_REVOKED', { headers: invalid })

/** The response does not say whether the key is unknown or has expired. */
export const invalidApiKey = () => list.create('INVALID_API_KEY', { headers: plain })

export const invalidAuthorization = () =>
  list.create('INVALID_AUTHORIZATION', { headers: { 'www-authenticate': `${challenge}, error="invalid_request"` } })

/** The response does not repeat the credentials. */
export const credentialsInUri = () => list.create('CREDENTIALS_IN_URI')

export const insufficientPermission = (permissions: readonly string[]) =>
  list.create('INSUFFICIENT_PERMISSION', {
    params: { permissions: permissions.join(', ') },
    headers: { 'www-authenticate': `${challenge}, error="insufficient_scope", scope="${permissions.join(' ')}"` }
  })

export const tenantRequired = () => list.create('TENANT_REQUIRED')

export const crossSiteRequest = () => list.create('CROSS_SITE_REQUEST')

/** The same for an object that does not exist and one whose existence is secret. */
export const resourceNotFound = () => list.create('RESOURCE_NOT_FOUND')

/** Credentials cannot be verified, so no client is admitted. */
export const authenticationUnavailable = (retryAfterSeconds: number, cause: unknown) =>
  list.create('AUTHENTICATION_UNAVAILABLE', { headers: { 'retry-after': String(retryAfterSeconds) }, cause })
