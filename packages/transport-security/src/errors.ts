import { type ApiError, defineErrors, type ErrorList } from '@concordat/api-error'

const list = defineErrors({
  HTTPS_REQUIRED: {
    statusCode: 403,
    message: {
      en: 'This service accepts only HTTPS. Use https, and replace every credential that was sent unencrypted.',
      es: 'Este servicio solo acepta HTTPS. Use https y sustituya las credenciales enviadas sin cifrar.'
    },
    remedy: 'Use https, and replace the credentials that were sent without it.'
  },
  MISDIRECTED_REQUEST: {
    statusCode: 421,
    message: {
      en: 'This server does not serve the requested host. Use the documented address of the service.',
      es: 'Este servidor no atiende el host solicitado. Use la dirección documentada del servicio.'
    },
    remedy: 'Send the request to the documented address, with its host in the Host header.'
  },
  HANDLER_TIMEOUT: {
    statusCode: 503,
    message: {
      en: 'The request timed out. Try again after the number of seconds in Retry-After.',
      es: 'La petición superó el tiempo de espera. Inténtelo de nuevo tras los segundos que indica Retry-After.'
    },
    remedy: 'Retry after the number of seconds in Retry-After, with a smaller request if possible.'
  }
})

/** Every error that this package raises, for the option `include` of error-catalogue. */
export const transportErrors: ErrorList = list

/** 403: the request came over plain HTTP (rule S4). */
export function httpsRequired(): ApiError {
  return list.create('HTTPS_REQUIRED')
}

/** 421: the host of the request is not on the list. */
export function misdirected(): ApiError {
  return list.create('MISDIRECTED_REQUEST')
}

/** 503: the handler did not respond in time. */
export function handlerTimedOut(): ApiError {
  return list.create('HANDLER_TIMEOUT', { headers: { 'retry-after': '5' } })
}
