import { type ApiError, defineErrors, type ErrorList } from '@concordat/api-error'

const list = defineErrors({
  HTTPS_REQUIRED: {
    statusCode: 403,
    message: {
      en: 'This service is reached by https only. Use https, and replace every credential that was sent in the clear.',
      es: 'Este servicio solo admite https. Use https y sustituya toda credencial enviada sin cifrar.'
    },
    remedy: 'Use https, and replace credentials that were sent without it.'
  },
  MISDIRECTED_REQUEST: {
    statusCode: 421,
    message: {
      en: 'The host that the request names is not served here. Use the published address of the service.',
      es: 'El host que nombra la petición no se atiende aquí. Use la dirección publicada del servicio.'
    },
    remedy: 'Send the request to the published address, with its host in the Host header.'
  },
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

/** 403: the request came over plain HTTP (rule S4). */
export function httpsRequired(): ApiError {
  return list.create('HTTPS_REQUIRED')
}

/** 421: the request names a host that is not on the list. */
export function misdirected(): ApiError {
  return list.create('MISDIRECTED_REQUEST')
}

/** 503: the handler has not answered in time. */
export function handlerTimedOut(): ApiError {
  return list.create('HANDLER_TIMEOUT', { headers: { 'retry-after': '5' } })
}
