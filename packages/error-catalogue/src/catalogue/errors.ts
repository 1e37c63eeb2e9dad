import { defineErrors, type ErrorList, sharedDefinitions } from '@concordat/plugin-kit/api-error'
import { hostDefinitions } from '@concordat/plugin-kit/links'
import { fieldMessages } from './field-messages.ts'

/** The HTTP errors that every service can return, with messages in English and Spanish (rules X1, X3). */
export const errorCatalogueErrors: ErrorList = defineErrors(
  {
    ...sharedDefinitions,
    ...hostDefinitions,
    MALFORMED_REQUEST: {
      statusCode: 400,
      message: {
        en: 'The request is not well-formed HTTP. Check the request line, the headers and the length of the body.',
        es: 'La petición HTTP está mal formada. Revise la línea de petición, los encabezados y la longitud del cuerpo.'
      },
      remedy: 'Use a standard HTTP client, and send each required header once, in the correct format.'
    },
    MALFORMED_JSON: {
      statusCode: 400,
      message: {
        en: 'The body is not valid JSON. Send a single JSON value (RFC 8259).',
        es: 'El cuerpo no es JSON válido. Envíe un único valor JSON (RFC 8259).'
      },
      remedy: 'Serialize the body with a JSON library. The keys `__proto__` and `constructor.prototype` are rejected.'
    },
    EMPTY_BODY: {
      statusCode: 400,
      message: {
        en: 'The request has a JSON Content-Type but no body. Send the body, or omit Content-Type.',
        es: 'La petición tiene un Content-Type JSON pero no tiene cuerpo. Envíe el cuerpo u omita Content-Type.'
      },
      remedy: 'Send a body, or omit Content-Type.'
    },
    INVALID_UTF8: {
      statusCode: 400,
      message: {
        en: 'The body contains bytes that are not valid UTF-8. Encode it as UTF-8.',
        es: 'El cuerpo contiene bytes que no son UTF-8 válido. Codifíquelo en UTF-8.'
      },
      remedy: 'Encode the body as UTF-8.'
    },
    CONTENT_LENGTH_MISMATCH: {
      statusCode: 400,
      message: {
        en: 'The length of the body does not match Content-Length. Send the correct length.',
        es: 'La longitud del cuerpo no coincide con Content-Length. Envíe la longitud correcta.'
      },
      remedy: 'Let the HTTP client compute Content-Length.'
    },
    DUPLICATE_HEADER: {
      statusCode: 400,
      message: {
        en: 'The {header} header was sent more than once. Send it once.',
        es: 'El encabezado {header} se envió más de una vez. Envíelo una sola vez.'
      },
      remedy: 'Send Host, Authorization and Content-Type at most once.'
    },
    FORBIDDEN: {
      statusCode: 403,
      message: {
        en: 'You do not have permission to do this. Authenticating again does not help.',
        es: 'No tiene permiso para realizar esta operación. Volver a autenticarse no lo resuelve.'
      },
      remedy: 'Request the permission that the operation requires.'
    },
    REQUEST_TIMEOUT: {
      statusCode: 408,
      message: {
        en: 'The request did not arrive in time. Try again.',
        es: 'La petición no llegó a tiempo. Inténtelo de nuevo.'
      },
      remedy: 'Send the headers and the body without long pauses.'
    },
    CONFLICT: {
      statusCode: 409,
      message: {
        en: 'The request conflicts with the current state of the resource. Fetch it again, then retry.',
        es: 'La petición entra en conflicto con el estado actual del recurso. Obténgalo de nuevo y reinténtelo.'
      },
      remedy: 'Fetch the current state, then repeat the request if it is still needed.'
    },
    GONE: {
      statusCode: 410,
      message: {
        en: 'The resource was removed permanently. Remove references to it.',
        es: 'El recurso se eliminó de forma permanente. Elimine las referencias a él.'
      },
      remedy: 'Stop using this URI.'
    },
    URI_TOO_LONG: {
      statusCode: 414,
      message: {
        en: 'The URI or an identifier in it is longer than allowed. Shorten it.',
        es: 'El URI, o un identificador que contiene, es más largo de lo permitido. Acórtelo.'
      },
      remedy: 'Keep the URI below the documented limit.'
    },
    EXPECTATION_FAILED: {
      statusCode: 417,
      message: {
        en: 'The expectation in the Expect header cannot be met. Omit the header.',
        es: 'No se puede cumplir la expectativa del encabezado Expect. Omita el encabezado.'
      },
      remedy: 'Omit the Expect header, or send Expect: 100-continue.'
    },
    VALIDATION_FAILED: {
      statusCode: 422,
      message: {
        en: 'Some values in the request are invalid. Fix the fields listed in `errors`.',
        es: 'Algunos valores de la petición no son válidos. Corrija los campos indicados en `errors`.'
      },
      remedy: 'Fix each field listed in `errors`.'
    },
    HEADERS_TOO_LARGE: {
      statusCode: 431,
      message: {
        en: 'The headers are larger than allowed. Send fewer or shorter headers.',
        es: 'Los encabezados superan el tamaño permitido. Envíe menos encabezados o más cortos.'
      },
      remedy: 'Keep the headers below the documented limit. Check the size of cookies.'
    },
    TRANSFER_CODING_NOT_IMPLEMENTED: {
      statusCode: 501,
      retry: 'never',
      message: {
        en: 'Only the chunked transfer coding is supported. Send the body with Content-Length or Transfer-Encoding: chunked.',
        es: 'Solo se admite la codificación de transferencia chunked. Envíe el cuerpo con Content-Length o Transfer-Encoding: chunked.'
      },
      remedy: 'Use Content-Length or Transfer-Encoding: chunked.'
    },
    UPSTREAM_ERROR: {
      statusCode: 502,
      retry: 'later',
      message: {
        en: 'An upstream service returned an invalid response. Try again later.',
        es: 'Un servicio externo devolvió una respuesta no válida. Inténtelo más tarde.'
      },
      remedy: 'Retry with exponential backoff.'
    },
    SERVICE_UNAVAILABLE: {
      statusCode: 503,
      retry: 'later',
      message: {
        en: 'The service is temporarily unavailable. Try again after the number of seconds in Retry-After.',
        es: 'El servicio no está disponible temporalmente. Inténtelo de nuevo tras los segundos que indica Retry-After.'
      },
      remedy: 'Retry after the number of seconds in Retry-After.'
    },
    UPSTREAM_TIMEOUT: {
      statusCode: 504,
      retry: 'later',
      message: {
        en: 'An upstream service did not respond in time. Try again later.',
        es: 'Un servicio externo no respondió a tiempo. Inténtelo más tarde.'
      },
      remedy: 'Retry with exponential backoff.'
    },
    HTTP_VERSION_NOT_SUPPORTED: {
      statusCode: 505,
      retry: 'never',
      message: {
        en: 'The HTTP version is not supported. Use HTTP/1.1 or HTTP/2.',
        es: 'La versión de HTTP no se admite. Use HTTP/1.1 o HTTP/2.'
      },
      remedy: 'Use HTTP/1.1 or HTTP/2.'
    }
  },
  fieldMessages
)
