import { type ApiError, defineErrors, type ErrorList, sharedDefinitions } from '@concordat/api-error'

const list = defineErrors({
  RESOURCE_NOT_FOUND: sharedDefinitions.RESOURCE_NOT_FOUND,
  SERVICE_UNAVAILABLE: {
    statusCode: 503,
    message: {
      en: 'The service is temporarily unavailable. Try again later.',
      es: 'El servicio no está disponible temporalmente. Inténtelo más tarde.'
    },
    remedy: 'Send the same request again after the number of seconds in Retry-After.'
  }
})

/** Every error that `@concordat/postgres/rows` raises, for `include` of the error catalogue. */
export const postgresRowErrors: ErrorList = list

/** Creates the 404 for a row that does not exist. */
export function rowMissing(): ApiError {
  return list.create('RESOURCE_NOT_FOUND')
}

/** Creates the 503 for a database that cannot be reached. The response does not name the cause. */
export function databaseUnavailable(cause: unknown): ApiError {
  return list.create('SERVICE_UNAVAILABLE', { headers: { 'retry-after': '2' }, cause })
}
