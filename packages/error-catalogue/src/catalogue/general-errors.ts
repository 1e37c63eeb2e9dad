import type { Messages } from '@concordat/plugin-kit/texts'
import { errorCatalogueErrors } from './errors.ts'

/**
 * The most general error code of each status code. Only of the list of this package: the text of a 409 that a service defined is too specific for other
 * 409 errors.
 */
export const generalCodes: ReadonlyMap<number, string> = new Map([
  ...Object.entries(errorCatalogueErrors.definitions)
    .toReversed()
    .map(([code, { statusCode }]): [number, string] => [statusCode, code]),
  [400, 'MALFORMED_REQUEST'],
  [403, 'FORBIDDEN'],
  [501, 'METHOD_NOT_IMPLEMENTED'],
  [503, 'SERVICE_UNAVAILABLE']
])

/** The texts of these codes for an error of which only the status is known, where their own text says more than that. */
export const generalMessages: Readonly<Record<string, Messages>> = {
  MALFORMED_REQUEST: {
    en: 'The request is invalid. Check it against the documentation of the operation.',
    es: 'La petición no es válida. Compárela con la documentación de la operación.'
  },
  AUTHENTICATION_REQUIRED: {
    en: 'Authentication is required. Send valid credentials.',
    es: 'Se requiere autenticación. Envíe credenciales válidas.'
  },
  FORBIDDEN: {
    en: 'The request is not allowed. Check that you have the right to make it.',
    es: 'La petición no está permitida. Compruebe que tiene derecho a hacerla.'
  },
  METHOD_NOT_ALLOWED: {
    en: 'This resource does not support the method. See the documentation of the resource.',
    es: 'Este recurso no admite el método. Consulte la documentación del recurso.'
  },
  NOT_ACCEPTABLE: {
    en: 'The response is not available in a form that the request accepts. Change the Accept headers, or omit them.',
    es: 'La respuesta no está disponible en ninguna forma que acepte la petición. Cambie los encabezados Accept u omítalos.'
  },
  REQUEST_TIMEOUT: {
    en: 'The request timed out. Try again.',
    es: 'La petición superó el tiempo de espera. Inténtelo de nuevo.'
  },
  PRECONDITION_FAILED: {
    en: 'The resource is not in the state that the request requires. Fetch it again, then repeat your change.',
    es: 'El recurso no está en el estado que requiere la petición. Obténgalo de nuevo y repita el cambio.'
  },
  PAYLOAD_TOO_LARGE: {
    en: 'The body, or a part of it, is larger than this resource accepts. Send less.',
    es: 'El cuerpo, o una parte de él, es mayor de lo que admite este recurso. Envíe menos.'
  },
  UNSUPPORTED_MEDIA_TYPE: {
    en: 'The format of the body, or of a part of it, is not supported. Send it in a supported format.',
    es: 'El formato del cuerpo, o de una parte de él, no se admite. Envíelo en un formato admitido.'
  },
  RATE_LIMIT_EXCEEDED: {
    en: 'Too many requests were sent. Wait before you try again.',
    es: 'Se enviaron demasiadas peticiones. Espere antes de intentarlo de nuevo.'
  },
  METHOD_NOT_IMPLEMENTED: {
    en: 'The service does not support what this request requires. See the documentation of the operation.',
    es: 'El servicio no admite lo que requiere esta petición. Consulte la documentación de la operación.'
  }
}

/** Further texts that are not those of one error code. */
export const generalTexts = {
  headerMissing: {
    en: 'A required header is missing. Send the headers listed in `errors`.',
    es: 'Falta un encabezado obligatorio. Envíe los encabezados indicados en `errors`.'
  },
  phrase: {
    en: 'The request failed with "{phrase}". See the documentation of the operation.',
    es: 'La petición falló con "{phrase}". Consulte la documentación de la operación.'
  }
} satisfies Readonly<Record<string, Messages>>
