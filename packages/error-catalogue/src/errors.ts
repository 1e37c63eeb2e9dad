import { defineErrors, type ErrorList } from '@concordat/api-error'
import { fieldMessages } from './field-messages.ts'

/** The HTTP-level codes that every service has, in English and Spanish (rules X1, X3). */
export const httpErrors: ErrorList = defineErrors(
  {
    MALFORMED_REQUEST: {
      statusCode: 400,
      message: {
        en: 'The request is not well-formed HTTP. Check the request line, the headers and the framing of the body.',
        es: 'La petición no es HTTP bien formado. Revise la línea de petición, las cabeceras y la delimitación del cuerpo.'
      },
      remedy: 'Send the request with a standard HTTP client, and send each required header once and in its form.'
    },
    MALFORMED_URI: {
      statusCode: 400,
      message: {
        en: 'The URI has a broken percent-encoding. Encode it as UTF-8 with %XX escapes.',
        es: 'El URI tiene una codificación porcentual incorrecta. Codifíquelo en UTF-8 con secuencias %XX.'
      },
      remedy: 'Encode path segments and query values with a URL library.'
    },
    MALFORMED_JSON: {
      statusCode: 400,
      message: {
        en: 'The body is not valid JSON. Send one JSON value as RFC 8259 has it.',
        es: 'El cuerpo no es JSON válido. Envíe un único valor JSON según RFC 8259.'
      },
      remedy: 'Serialize the body with a JSON library; "__proto__" and "constructor.prototype" are refused as keys.'
    },
    EMPTY_BODY: {
      statusCode: 400,
      message: {
        en: 'The request announces a JSON body and has none. Send the body or leave out Content-Type.',
        es: 'La petición anuncia un cuerpo JSON y no lo trae. Envíe el cuerpo u omita Content-Type.'
      },
      remedy: 'Send a body with the request.'
    },
    INVALID_UTF8: {
      statusCode: 400,
      message: {
        en: 'The body has bytes that are not UTF-8. Encode it as UTF-8.',
        es: 'El cuerpo contiene bytes que no son UTF-8. Codifíquelo en UTF-8.'
      },
      remedy: 'Encode the body as UTF-8.'
    },
    INVALID_CHARACTER: {
      statusCode: 400,
      message: {
        en: 'The body has a NUL character or half of a surrogate pair. Remove it.',
        es: 'El cuerpo contiene un carácter NUL o medio par suplente. Elimínelo.'
      },
      remedy: 'Remove U+0000 and unpaired surrogates from all strings and keys.'
    },
    JSON_TOO_DEEP: {
      statusCode: 400,
      message: {
        en: 'The body is nested deeper than {limit} levels. Flatten it.',
        es: 'El cuerpo tiene más de {limit} niveles de anidamiento. Aplánelo.'
      },
      remedy: 'Nest objects and arrays less deeply.'
    },
    CONTENT_LENGTH_MISMATCH: {
      statusCode: 400,
      message: {
        en: 'The body is not as long as Content-Length says. Send the right length.',
        es: 'El cuerpo no tiene la longitud que indica Content-Length. Envíe la longitud correcta.'
      },
      remedy: 'Let the HTTP client compute Content-Length.'
    },
    MISSING_HOST: {
      statusCode: 400,
      message: {
        en: 'The Host header is missing. HTTP/1.1 requires it.',
        es: 'Falta la cabecera Host. HTTP/1.1 la exige.'
      },
      remedy: 'Send the Host header.'
    },
    DUPLICATE_HEADER: {
      statusCode: 400,
      message: {
        en: 'The header {header} stands in the request more than once. Send it once.',
        es: 'La cabecera {header} aparece más de una vez en la petición. Envíela una sola vez.'
      },
      remedy: 'Send Host, Authorization and Content-Type at most once.'
    },
    AUTHENTICATION_REQUIRED: {
      statusCode: 401,
      message: {
        en: 'Who you are is not known here. Send valid credentials in the Authorization header.',
        es: 'No se sabe quién es usted. Envíe credenciales válidas en la cabecera Authorization.'
      },
      remedy: 'Authenticate as the WWW-Authenticate header says.'
    },
    HTTPS_REQUIRED: {
      statusCode: 403,
      message: {
        en: 'This service is reached by https only. Use https, and replace every credential that was sent in the clear.',
        es: 'Este servicio solo admite https. Use https y sustituya toda credencial enviada sin cifrar.'
      },
      remedy: 'Use https, and replace credentials that were sent without it.'
    },
    FORBIDDEN: {
      statusCode: 403,
      message: {
        en: 'You may not do this. Authenticating again does not change that.',
        es: 'No tiene permiso para hacer esto. Autenticarse de nuevo no lo cambia.'
      },
      remedy: 'Ask for the permission that the operation needs.'
    },
    RESOURCE_NOT_FOUND: {
      statusCode: 404,
      message: {
        en: 'Nothing exists at this URI. Check the path and the identifiers in it.',
        es: 'No existe nada en este URI. Revise la ruta y los identificadores que contiene.'
      },
      remedy: 'Check the URI; follow the links of other answers instead of building URIs.'
    },
    METHOD_NOT_ALLOWED: {
      statusCode: 405,
      message: {
        en: 'This resource does not allow the method. The Allow header lists those it does.',
        es: 'Este recurso no admite el método. La cabecera Allow enumera los admitidos.'
      },
      remedy: 'Use one of the methods in the Allow header.'
    },
    NOT_ACCEPTABLE: {
      statusCode: 406,
      message: {
        en: 'None of the media types in Accept can be sent. Ask for application/json.',
        es: 'No se puede enviar ninguno de los tipos de medio de Accept. Pida application/json.'
      },
      remedy: 'Accept application/json or one of the types that the answer lists.'
    },
    REQUEST_TIMEOUT: {
      statusCode: 408,
      message: {
        en: 'The request did not arrive in time. Send it again, faster.',
        es: 'La petición no llegó a tiempo. Envíela de nuevo, más deprisa.'
      },
      remedy: 'Send headers and body without long pauses.'
    },
    CONFLICT: {
      statusCode: 409,
      message: {
        en: 'The request contradicts the present state. Read the resource again and decide anew.',
        es: 'La petición contradice el estado actual. Lea de nuevo el recurso y decida otra vez.'
      },
      remedy: 'Read the present state, then repeat the request if it still makes sense.'
    },
    GONE: {
      statusCode: 410,
      message: {
        en: 'What was here is gone for good. Remove references to it.',
        es: 'Lo que había aquí ha desaparecido definitivamente. Elimine las referencias.'
      },
      remedy: 'Stop using the URI.'
    },
    PRECONDITION_FAILED: {
      statusCode: 412,
      message: {
        en: 'The resource is no longer in the state that the request names. Read it again and decide anew.',
        es: 'El recurso ya no está en el estado que indica la petición. Léalo de nuevo y decida otra vez.'
      },
      remedy: 'Read the resource again and repeat the request with its present tag.'
    },
    PAYLOAD_TOO_LARGE: {
      statusCode: 413,
      message: {
        en: 'The body is larger than this resource takes. Send less at once.',
        es: 'El cuerpo es mayor de lo que admite este recurso. Envíe menos de una vez.'
      },
      remedy: 'Stay under the published body limit.'
    },
    URI_TOO_LONG: {
      statusCode: 414,
      message: {
        en: 'The URI, or an identifier in it, is longer than allowed. Shorten it.',
        es: 'El URI, o un identificador que contiene, es más largo de lo permitido. Acórtelo.'
      },
      remedy: 'Stay under the published URI limit.'
    },
    UNSUPPORTED_MEDIA_TYPE: {
      statusCode: 415,
      message: {
        en: 'The Content-Type is missing or not supported here. Send application/json.',
        es: 'Falta Content-Type o no se admite aquí. Envíe application/json.'
      },
      remedy: 'Name a supported type in Content-Type.'
    },
    EXPECTATION_FAILED: {
      statusCode: 417,
      message: {
        en: 'The expectation in the Expect header can not be met. Leave the header out.',
        es: 'No se puede cumplir la expectativa de la cabecera Expect. Omita la cabecera.'
      },
      remedy: 'Send no Expect header, or 100-continue.'
    },
    VALIDATION_FAILED: {
      statusCode: 422,
      message: {
        en: 'The request is well-formed and some of its values are not valid. Mend the fields listed in errors.',
        es: 'La petición está bien formada y algunos valores no son válidos. Corrija los campos indicados en errors.'
      },
      remedy: 'Mend each field that errors lists.'
    },
    RATE_LIMIT_EXCEEDED: {
      statusCode: 429,
      message: {
        en: 'You have sent too many requests. Wait for the time in Retry-After.',
        es: 'Ha enviado demasiadas peticiones. Espere el tiempo indicado en Retry-After.'
      },
      remedy: 'Wait for the seconds in Retry-After, then send fewer.'
    },
    HEADERS_TOO_LARGE: {
      statusCode: 431,
      message: {
        en: 'The headers are larger than allowed. Send fewer or shorter ones.',
        es: 'Las cabeceras superan el tamaño permitido. Envíe menos o más cortas.'
      },
      remedy: 'Stay under the published header limit; check for oversized cookies.'
    },
    INTERNAL_ERROR: {
      statusCode: 500,
      message: {
        en: 'Something went wrong on our side. Report the Request-Id if it happens again.',
        es: 'Algo ha fallado por nuestra parte. Comunique el Request-Id si vuelve a ocurrir.'
      },
      remedy: 'Retry later; report the Request-Id.'
    },
    METHOD_NOT_IMPLEMENTED: {
      statusCode: 501,
      message: {
        en: 'This server does not know the method. Method names are upper case.',
        es: 'Este servidor no conoce el método. Los nombres de método van en mayúsculas.'
      },
      remedy: 'Use a method of RFC 9110, in upper case.'
    },
    TRANSFER_CODING_NOT_IMPLEMENTED: {
      statusCode: 501,
      message: {
        en: 'This server knows no transfer coding but chunked. Send the body with Content-Length or chunked.',
        es: 'Este servidor no conoce otra codificación de transferencia que chunked. Envíe el cuerpo con Content-Length o chunked.'
      },
      remedy: 'Use Transfer-Encoding: chunked or Content-Length.'
    },
    UPSTREAM_ERROR: {
      statusCode: 502,
      message: {
        en: 'A service behind this one answered wrongly. Try again later.',
        es: 'Un servicio del que depende este respondió mal. Inténtelo más tarde.'
      },
      remedy: 'Retry with growing pauses.'
    },
    SERVICE_UNAVAILABLE: {
      statusCode: 503,
      message: {
        en: 'The service can not answer right now. Try again after the time in Retry-After.',
        es: 'El servicio no puede responder ahora. Inténtelo de nuevo tras el tiempo de Retry-After.'
      },
      remedy: 'Retry after the seconds in Retry-After.'
    },
    HANDLER_TIMEOUT: {
      statusCode: 503,
      message: {
        en: 'The answer took too long and was given up. Try again after the time in Retry-After.',
        es: 'La respuesta tardó demasiado y se abandonó. Inténtelo de nuevo tras el tiempo de Retry-After.'
      },
      remedy: 'Retry after the seconds in Retry-After; ask for less at once.'
    },
    UPSTREAM_TIMEOUT: {
      statusCode: 504,
      message: {
        en: 'A service behind this one did not answer in time. Try again later.',
        es: 'Un servicio del que depende este no respondió a tiempo. Inténtelo más tarde.'
      },
      remedy: 'Retry with growing pauses.'
    },
    HTTP_VERSION_NOT_SUPPORTED: {
      statusCode: 505,
      message: {
        en: 'This HTTP version is not supported. Use HTTP/1.1 or HTTP/2.',
        es: 'Esta versión de HTTP no se admite. Use HTTP/1.1 o HTTP/2.'
      },
      remedy: 'Use HTTP/1.1 or HTTP/2.'
    }
  },
  fieldMessages
)
