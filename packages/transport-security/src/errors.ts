import { type ApiError, defineErrors, type ErrorList, sharedDefinitions } from '@concordat/api-error'
import { hostDefinitions } from '@concordat/links'

const list = defineErrors({
  MISSING_HOST: hostDefinitions.MISSING_HOST,
  INVALID_HOST: hostDefinitions.INVALID_HOST,
  HTTPS_REQUIRED: sharedDefinitions.HTTPS_REQUIRED,
  MISDIRECTED_REQUEST: {
    statusCode: 421,
    message: {
      en: 'This server does not serve the requested host. Use the documented address of the service.',
      es: 'Este servidor no atiende peticiones para el host solicitado. Use la dirección que indica la documentación del servicio.'
    },
    remedy: 'Send the request to the documented address, with its host in the Host header.'
  },
  REQUEST_TIMEOUT: {
    statusCode: 408,
    message: {
      en: 'The request did not arrive in time. Try again.',
      es: 'La petición no llegó a tiempo. Inténtelo de nuevo.'
    },
    remedy: 'Send the headers and the body without long pauses.'
  },
  HANDLER_TIMEOUT: sharedDefinitions.HANDLER_TIMEOUT
})

/** Every error that this package raises, for the option `include` of error-catalogue. */
export const transportSecurityErrors: ErrorList = list

/** 400: the host of the request is missing, empty or malformed. */
export function badHost(code: 'MISSING_HOST' | 'INVALID_HOST'): ApiError {
  return list.create(code)
}

/** 403: the request came over plain HTTP (rule S4). */
export function httpsRequired(): ApiError {
  return list.create('HTTPS_REQUIRED')
}

/** 421: this server does not serve the host of the request. */
export function misdirected(): ApiError {
  return list.create('MISDIRECTED_REQUEST')
}

/** 408: the body of the request did not arrive in time. Node.js cannot find the next request on the connection, so it is closed. */
export function requestTimedOut(): ApiError {
  return list.create('REQUEST_TIMEOUT', { headers: { connection: 'close' } })
}

/** 503: the handler did not respond in time. */
export function handlerTimedOut(): ApiError {
  return list.create('HANDLER_TIMEOUT', { headers: { 'retry-after': '5' } })
}
