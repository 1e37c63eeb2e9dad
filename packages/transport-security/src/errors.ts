import { type ApiError, defineErrors, type ErrorList } from '@concordat/api-error'

const list = defineErrors({
  HANDLER_TIMEOUT: {
    statusCode: 503,
    message: {
      en: 'The answer took too long and was given up. Try again after the time in Retry-After.',
      es: 'La respuesta tardó demasiado y se abandonó. Inténtelo de nuevo tras el tiempo de Retry-After.'
    },
    remedy: 'Retry after the seconds in Retry-After; ask for less at once.'
  }
})

/** Every error that this package raises, for the catalogue's `include`. */
export const transportErrors: ErrorList = list

/** 503: the handler has not answered in time. */
export function handlerTimedOut(): ApiError {
  return list.create('HANDLER_TIMEOUT', { headers: { 'retry-after': '5' } })
}
