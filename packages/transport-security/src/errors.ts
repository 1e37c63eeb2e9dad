import { type ApiError, defineErrors, type ErrorList, sharedDefinitions } from '@concordat/plugin-kit/api-error'
import { hostDefinitions } from '@concordat/plugin-kit/links'

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

/** Creates an error of this package. */
export function createError(code: keyof typeof list.definitions, headers?: Readonly<Record<string, string>>): ApiError {
  return list.create(code, { headers })
}
