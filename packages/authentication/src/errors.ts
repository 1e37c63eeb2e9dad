import { type ApiError, defineErrors, type ErrorList } from '@concordat/api-error'

const list = defineErrors({
  AUTHENTICATION_REQUIRED: {
    statusCode: 401,
    message: {
      en: 'This address asks who you are. Send "Authorization: Bearer" with an access token.',
      es: 'Esta dirección pide saber quién es usted. Envíe "Authorization: Bearer" con un token de acceso.'
    },
    remedy: 'Get an access token and send it in the Authorization header. Basic authentication is not accepted.'
  },
  INVALID_TOKEN: {
    statusCode: 401,
    message: {
      en: 'The access token is not valid here. Get a new one.',
      es: 'El token de acceso no es válido aquí. Obtenga uno nuevo.'
    },
    remedy: 'Get a new access token from an issuer that this service trusts, for this service.'
  },
  TOKEN_EXPIRED: {
    statusCode: 401,
    message: {
      en: 'The access token has expired. Get a new one with your refresh token.',
      es: 'El token de acceso ha caducado. Obtenga uno nuevo con su token de actualización.'
    },
    remedy: 'Get a new access token with the refresh token, and send the request again.'
  },
  TOKEN_REVOKED: {
    statusCode: 401,
    message: {
      en: 'The access token was revoked. Sign in again.',
      es: 'El token de acceso fue revocado. Inicie sesión de nuevo.'
    },
    remedy: 'Sign in again: the session was ended.'
  },
  INVALID_API_KEY: {
    statusCode: 401,
    message: {
      en: 'The API key is not known, or its time is over. Check it, or ask for a new one.',
      es: 'La clave de API no se conoce o ya no es válida. Revísela o pida una nueva.'
    },
    remedy: 'Check that the whole key was copied, or ask the operator of the service for a new one.'
  },
  INVALID_AUTHORIZATION: {
    statusCode: 400,
    message: {
      en: 'The credentials can not be read. Send exactly one, as "Authorization: Bearer <token>".',
      es: 'Las credenciales no se pueden leer. Envíe exactamente una, como "Authorization: Bearer <token>".'
    },
    remedy: 'Send one credential in one header.'
  },
  CREDENTIALS_IN_URI: {
    statusCode: 400,
    message: {
      en: 'The address contains credentials. They are compromised now: revoke them, and send new ones in a header.',
      es: 'La dirección contiene credenciales. Ya no son secretas: revóquelas y envíe otras nuevas en una cabecera.'
    },
    remedy: 'Treat what was sent as known to others, replace it, and send credentials in the Authorization header only.'
  },
  INSUFFICIENT_PERMISSION: {
    statusCode: 403,
    message: {
      en: 'You are not permitted to do this. It takes: {permissions}.',
      es: 'No tiene permiso para hacer esto. Se necesita: {permissions}.'
    },
    remedy: 'Ask for the permission that is named. Signing in again changes nothing.'
  },
  CROSS_SITE_REQUEST: {
    statusCode: 403,
    message: {
      en: 'A cookie is accepted for changes only from pages of this service. Send the request from one, or use a Bearer token.',
      es: 'Solo se acepta una cookie para cambios desde páginas de este servicio. Envíe la petición desde una, o use un token Bearer.'
    },
    remedy: 'Send the request from a page whose origin the service names, or with a Bearer token instead of the cookie.'
  },
  RESOURCE_NOT_FOUND: {
    statusCode: 404,
    message: {
      en: 'There is nothing at this address. Check the path and the identifiers in it.',
      es: 'No hay nada en esta dirección. Revise la ruta y los identificadores que contiene.'
    },
    remedy: 'Take addresses from the links of other answers, or from the description of the service.'
  },
  AUTHENTICATION_UNAVAILABLE: {
    statusCode: 503,
    message: {
      en: 'Credentials can not be checked at the moment. Try again in a few seconds.',
      es: 'Las credenciales no se pueden comprobar en este momento. Inténtelo de nuevo en unos segundos.'
    },
    remedy: 'Send the request again after the time in Retry-After.'
  }
})

/** Every error that a request can meet here, for the catalogue's `include`. */
export const authenticationErrors: ErrorList = list

// RFC 6750 §3: without credentials, a challenge names no error.
const challenge = 'Bearer realm="api"'
const plain = { 'www-authenticate': challenge }
const invalid = { 'www-authenticate': `${challenge}, error="invalid_token"` }

/** 401: no credentials, or of a kind that is not accepted. */
export function authenticationRequired(): ApiError {
  return list.create('AUTHENTICATION_REQUIRED', { headers: plain })
}

/** 401: the token is not believed. The reason is for the log, says nothing of the token itself, and is never sent. */
export function invalidToken(reason: string): ApiError {
  return list.create('INVALID_TOKEN', { headers: invalid, cause: new Error(reason) })
}

/** 401: everything about the token is right but its time. Never raised before the signature is verified. */
export function tokenExpired(): ApiError {
  return list.create('TOKEN_EXPIRED', { headers: invalid })
}

/** 401: the token, its session or its subject was revoked. */
export function tokenRevoked(): ApiError {
  return list.create('TOKEN_REVOKED', { headers: invalid })
}

/** 401: no such key, or its time is over. Which of the two is not told. */
export function invalidApiKey(): ApiError {
  return list.create('INVALID_API_KEY', { headers: plain })
}

/** 400: more than one credential, or none that can be read. */
export function invalidAuthorization(): ApiError {
  return list.create('INVALID_AUTHORIZATION', { headers: { 'www-authenticate': `${challenge}, error="invalid_request"` } })
}

/** 400: the URL carries credentials. They are not repeated. */
export function credentialsInUri(): ApiError {
  return list.create('CREDENTIALS_IN_URI')
}

/** 403: who asks is known, and may not. Raised for a route before its handler, and for a loaded object. */
export function insufficientPermission(permissions: readonly string[]): ApiError {
  const scope = permissions.join(' ')
  return list.create('INSUFFICIENT_PERMISSION', {
    params: { permissions: permissions.join(', ') },
    headers: { 'www-authenticate': `${challenge}, error="insufficient_scope", scope="${scope}"` }
  })
}

/** 403: a request that changes something was sent with a cookie from elsewhere. */
export function crossSiteRequest(): ApiError {
  return list.create('CROSS_SITE_REQUEST')
}

/** 404: there is no such object, or its existence is secret: the two answers are the same. */
export function resourceNotFound(): ApiError {
  return list.create('RESOURCE_NOT_FOUND')
}

/** 503: what decides about credentials can't be asked, so nobody is let in. */
export function authenticationUnavailable(retryAfterSeconds: number, cause: unknown): ApiError {
  return list.create('AUTHENTICATION_UNAVAILABLE', { headers: { 'retry-after': String(retryAfterSeconds) }, cause })
}
