import { defineErrors, type ErrorList } from '@concordat/plugin-kit/api-error'
import { fieldMessages } from './field-messages.ts'

const list = defineErrors(
  {
    INVALID_CREDENTIALS: {
      statusCode: 401,
      message: {
        en: 'The username or password is incorrect. Check both, then try again.',
        es: 'El nombre de usuario o la contraseña son incorrectos. Revise ambos e inténtelo de nuevo.'
      },
      remedy: 'Send the correct username and password. The response does not state which of the two was incorrect.'
    },
    REFRESH_TOKEN_INVALID: {
      statusCode: 401,
      message: {
        en: 'The refresh token is invalid. Sign in again.',
        es: 'El token de actualización no es válido. Inicie sesión de nuevo.'
      },
      remedy: 'Sign in again with your username and password.'
    },
    REFRESH_TOKEN_EXPIRED: {
      statusCode: 401,
      message: {
        en: 'The session has expired. Sign in again.',
        es: 'La sesión ha caducado. Inicie sesión de nuevo.'
      },
      remedy: 'Sign in again. Use a refresh token before its session expires.'
    },
    REFRESH_TOKEN_REVOKED: {
      statusCode: 401,
      message: {
        en: 'The session was ended. Sign in again.',
        es: 'La sesión fue cerrada. Inicie sesión de nuevo.'
      },
      remedy: 'Sign in again.'
    },
    REFRESH_TOKEN_REUSED: {
      statusCode: 401,
      message: {
        en: 'The refresh token was already used, so its session was ended for security. Sign in again.',
        es: 'El token de actualización ya se había usado, por lo que la sesión se cerró por seguridad. Inicie sesión de nuevo.'
      },
      remedy: 'Sign in again. Use each refresh token once: every response contains the next one.'
    },
    LOGIN_ATTEMPTS_EXCEEDED: {
      statusCode: 429,
      message: {
        en: {
          plural: 'seconds',
          one: 'There were too many failed sign-in attempts. Try again in {seconds, number} second.',
          other: 'There were too many failed sign-in attempts. Try again in {seconds, number} seconds.'
        },
        es: {
          plural: 'seconds',
          one: 'Hubo demasiados intentos fallidos de iniciar sesión. Inténtelo de nuevo en {seconds, number} segundo.',
          many: 'Hubo demasiados intentos fallidos de iniciar sesión. Inténtelo de nuevo en {seconds, number} de segundos.',
          other: 'Hubo demasiados intentos fallidos de iniciar sesión. Inténtelo de nuevo en {seconds, number} segundos.'
        }
      },
      remedy: 'Wait for the number of seconds in Retry-After before the next attempt.'
    },
    PASSWORD_RESETS_EXCEEDED: {
      statusCode: 429,
      message: {
        en: {
          plural: 'seconds',
          one: 'Too many messages were requested for this user. Use the newest one, or try again in {seconds, number} second.',
          other: 'Too many messages were requested for this user. Use the newest one, or try again in {seconds, number} seconds.'
        },
        es: {
          plural: 'seconds',
          one: 'Se solicitaron demasiados mensajes para este usuario. Use el más reciente o inténtelo de nuevo en {seconds, number} segundo.',
          many: 'Se solicitaron demasiados mensajes para este usuario. Use el más reciente o inténtelo de nuevo en {seconds, number} de segundos.',
          other:
            'Se solicitaron demasiados mensajes para este usuario. Use el más reciente o inténtelo de nuevo en {seconds, number} segundos.'
        }
      },
      remedy: 'Use the link of the newest message, or wait for the number of seconds in Retry-After.'
    },
    LOGINS_OVERLOADED: {
      statusCode: 503,
      retry: 'later',
      message: {
        en: 'Too many sign-ins are in progress. Try again in a few seconds.',
        es: 'Hay demasiados inicios de sesión en curso. Inténtelo de nuevo en unos segundos.'
      },
      remedy: 'Retry after the number of seconds in Retry-After.'
    },
    INVALID_TOKEN_REQUEST: {
      statusCode: 422,
      message: {
        en: 'The token request is invalid. Send either `username` and `password`, or `refreshToken`.',
        es: 'La petición de token no es válida. Envíe `username` y `password`, o bien `refreshToken`.'
      },
      remedy: 'Send `username` and `password`, or `refreshToken`, each a string of 1 to 1024 characters.'
    },
    PASSWORD_RESET_INVALID: {
      statusCode: 422,
      message: {
        en: 'The link to choose a password is invalid, has expired or was used. Request a new one.',
        es: 'El enlace para elegir una contraseña no es válido, ha caducado o ya se usó. Solicite uno nuevo.'
      },
      remedy: 'Request another password reset, and use the token of the newest message.'
    },
    PASSWORD_UNACCEPTABLE: {
      statusCode: 422,
      message: {
        en: 'The password is not allowed. Choose another password.',
        es: 'La contraseña no está permitida. Elija otra contraseña.'
      },
      remedy: 'Choose a password whose length is within the limits stated in `errors`.'
    }
  },
  fieldMessages
)

/** Every error that issuing tokens can throw, for the catalogue's `include`. */
export const tokenIssuingErrors: ErrorList = list

// The same code for a request that asks for no token, such as a change of the password.
const withoutToken = defineErrors(
  {
    INVALID_TOKEN_REQUEST: {
      ...list.definitions.INVALID_TOKEN_REQUEST,
      message: {
        en: 'The username or the password is missing or invalid. Fix the fields listed in `errors`.',
        es: 'El nombre de usuario o la contraseña faltan o no son válidos. Corrija los campos indicados en `errors`.'
      }
    }
  },
  list.fieldMessages
)

const unsaved = { 'cache-control': 'no-store' }
const refused = { ...unsaved, 'www-authenticate': 'Bearer realm="api"' }

/** The response does not say whether the username or the password is incorrect. */
export const invalidCredentials = () => list.create('INVALID_CREDENTIALS', { headers: refused })

/** The token was never issued, or so long ago that the store has removed it (RFC 6749 §5.2 `invalid_grant`). */
export const refreshTokenInvalid = () => list.create('REFRESH_TOKEN_INVALID', { headers: refused })

export const refreshTokenExpired = () => list.create('REFRESH_TOKEN_EXPIRED', { headers: refused })

export const refreshTokenRevoked = () => list.create('REFRESH_TOKEN_REVOKED', { headers: refused })

/** The token was already used, or another client sent it; this ended its session (RFC 9700 §4.14.2). */
export const refreshTokenReused = () => list.create('REFRESH_TOKEN_REUSED', { headers: refused })

/** The response does not say whether the account or the address had too many failed attempts. */
export const loginAttemptsExceeded = (retryAfterMs: number) => list.create('LOGIN_ATTEMPTS_EXCEEDED', later(retryAfterMs))

/** The response does not say whether the user exists. */
export const passwordResetsExceeded = (retryAfterMs: number) => list.create('PASSWORD_RESETS_EXCEEDED', later(retryAfterMs))

function later(retryAfterMs: number) {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000))
  return { params: { seconds }, headers: { ...unsaved, 'retry-after': String(seconds) } }
}

export const loginsOverloaded = () => list.create('LOGINS_OVERLOADED', { headers: { ...unsaved, 'retry-after': '2' } })

/** The body does not match either grant, or is not a request for a token; `fields` are those that are missing or invalid. */
export function invalidTokenRequest(fields: readonly string[], maximum: number, isForToken: boolean) {
  const errors = fields.map((name) => ({ field: `body.${name}`, key: 'text', params: { maximum } }) as const)
  const options = { headers: unsaved, errors }
  return isForToken ? list.create('INVALID_TOKEN_REQUEST', options) : withoutToken.create('INVALID_TOKEN_REQUEST', options)
}

/** The body has the fields of both grants. */
export const bothGrants = () =>
  list.create('INVALID_TOKEN_REQUEST', { headers: unsaved, errors: [{ field: 'body.refreshToken', key: 'notBoth' }] })

/** The response does not say whether the user exists. */
export const passwordResetInvalid = () =>
  list.create('PASSWORD_RESET_INVALID', { headers: unsaved, errors: [{ field: 'body.token', key: 'resetToken' }] })

/** The reason why a new password is rejected: the key and the parameters of the message. */
export type PasswordFault =
  | { readonly key: 'passwordTooShort'; readonly params: { readonly minimum: number } }
  | { readonly key: 'passwordTooLong'; readonly params: { readonly maximum: number } }
  | { readonly key: 'passwordIllFormed' }

export const passwordUnacceptable = (field: string, fault: PasswordFault) =>
  list.create('PASSWORD_UNACCEPTABLE', { headers: unsaved, errors: [{ field, ...fault }] })
