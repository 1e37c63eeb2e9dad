import { type ApiError, defineErrors } from '@concordat/api-error'

/** The error about the database that clients may see: it asks them to try again later. */
export const databaseErrors = defineErrors({
  SERVICE_UNAVAILABLE: {
    statusCode: 503,
    message: {
      en: 'The service is temporarily unavailable. Try again later.',
      es: 'El servicio no está disponible temporalmente. Inténtelo más tarde.'
    },
    remedy: 'Send the same request again after the number of seconds in Retry-After.'
  }
})

export function unavailable(cause: unknown): ApiError {
  return databaseErrors.create('SERVICE_UNAVAILABLE', { headers: { 'retry-after': '2' }, cause })
}

interface Failure extends Error {
  readonly severity: string
  readonly code: string
  readonly constraint?: string
}

/** Whether the server refused a statement. Both engines report this with the same properties. */
export function isFailure(thrown: unknown): thrown is Failure {
  return thrown instanceof Error && 'severity' in thrown && 'code' in thrown && typeof thrown.code === 'string'
}

/** Awaits the work, and replaces the violation of a constraint in `errors` with the error of that constraint. */
export async function onViolation<Result>(work: Promise<Result>, errors: Readonly<Record<string, () => ApiError>>): Promise<Result> {
  try {
    return await work
  } catch (thrown) {
    const constraint = isFailure(thrown) && thrown.code.startsWith('23') ? thrown.constraint : undefined
    throw (constraint !== undefined && Object.hasOwn(errors, constraint) && errors[constraint]?.()) || thrown
  }
}
