import type { ErrorDefinition } from './define-errors.ts'

// As [status code, English message, Spanish message, remedy, retry].
const texts = {
  JSON_TOO_DEEP: [
    400,
    {
      plural: 'limit',
      one: 'The body is nested more than {limit, number} level deep. Use fewer levels.',
      other: 'The body is nested more than {limit, number} levels deep. Use fewer levels.'
    },
    {
      plural: 'limit',
      one: 'El cuerpo tiene más de {limit, number} nivel de anidamiento. Use menos niveles.',
      many: 'El cuerpo tiene más de {limit, number} de niveles de anidamiento. Use menos niveles.',
      other: 'El cuerpo tiene más de {limit, number} niveles de anidamiento. Use menos niveles.'
    },
    'Use fewer levels of nested objects and arrays.'
  ],
  CLIENT_NOT_IDENTIFIED: [
    400,
    'The service does not know which client sends this request. Send the {header} header, which identifies the client.',
    'El servicio no sabe qué cliente envía esta petición. Envíe el encabezado {header}, que identifica al cliente.',
    'Send the header that the message names.'
  ],
  MALFORMED_MULTIPART: [
    400,
    'The multipart body is incomplete, or Content-Type has no valid boundary. Send every part, and end the body with the boundary.',
    'El cuerpo multipart está incompleto, o Content-Type no tiene un límite (boundary) válido. Envíe todas las partes y termine el cuerpo con el límite.',
    'Let the HTTP client write the multipart body and its Content-Type.'
  ],
  MALFORMED_URI: [
    400,
    'The URI contains an invalid percent-encoding. Encode it as UTF-8 with %XX escapes.',
    'El URI contiene una codificación porcentual no válida. Codifíquelo en UTF-8 con secuencias %XX.',
    'Encode path segments and query values with a URL library.'
  ],
  AUTHENTICATION_REQUIRED: [
    401,
    'Authentication is required. Send valid credentials in the Authorization header.',
    'Se requiere autenticación. Envíe credenciales válidas en el encabezado Authorization.',
    'Authenticate with a scheme that the WWW-Authenticate header lists.'
  ],
  HTTPS_REQUIRED: [
    403,
    'This service accepts only HTTPS. Use https, and replace every credential that was sent unencrypted.',
    'Este servicio solo acepta HTTPS. Use https y sustituya las credenciales enviadas sin cifrar.',
    'Use https, and replace the credentials that were sent without it.'
  ],
  RESOURCE_NOT_FOUND: [
    404,
    'The resource was not found. Check the path and the identifiers in it.',
    'No se encontró el recurso. Revise la ruta y los identificadores que contiene.',
    'Follow the links in other responses, or take the path from the API description.'
  ],
  METHOD_NOT_ALLOWED: [
    405,
    'This resource does not support the method. The Allow header lists the supported methods.',
    'Este recurso no admite el método. El encabezado Allow enumera los métodos admitidos.',
    'Use one of the methods in the Allow header.'
  ],
  NOT_ACCEPTABLE: [
    406,
    'The response is not available in any media type that Accept allows. Send a supported media type in Accept, or omit the header.',
    'La respuesta no está disponible en ningún tipo de medio que admita Accept. Envíe un tipo de medio admitido en Accept u omita el encabezado.',
    'In Accept, send one of the media types listed in `errors`, or omit the header.'
  ],
  PRECONDITION_FAILED: [
    412,
    'The resource is not in the state that the request requires. Fetch it again, then repeat your change with its current ETag.',
    'El recurso no está en el estado que requiere la petición. Obténgalo de nuevo y repita el cambio con su ETag actual.',
    'Fetch the resource again, apply your change to it, then send its new ETag in If-Match.'
  ],
  PAYLOAD_TOO_LARGE: [
    413,
    'The body is larger than this resource accepts. Send a smaller body.',
    'El cuerpo es mayor de lo que admite este recurso. Envíe un cuerpo más pequeño.',
    'Keep the body below the documented limit.'
  ],
  UNSUPPORTED_MEDIA_TYPE: [
    415,
    'Content-Type is missing, repeated or not supported by this resource. Send a supported media type in Content-Type.',
    'Content-Type falta, está repetido o este recurso no lo admite. Envíe un tipo de medio admitido en Content-Type.',
    'Set Content-Type to one of the media types in the Accept header of the response, or to application/json if that header is missing.'
  ],
  RATE_LIMIT_EXCEEDED: [
    429,
    'Too many requests were sent. Wait for the number of seconds in Retry-After.',
    'Se enviaron demasiadas peticiones. Espere los segundos que indica Retry-After.',
    'Wait for the number of seconds in Retry-After. The RateLimit-Policy and RateLimit headers state the limit and the remaining quota.'
  ],
  INTERNAL_ERROR: [
    500,
    'The service failed to process the request. If it happens again, report the Request-Id.',
    'El servicio no pudo procesar la petición. Si vuelve a ocurrir, comunique el Request-Id.',
    'Try again later. If it keeps failing, report the Request-Id.',
    'later'
  ],
  METHOD_NOT_IMPLEMENTED: [
    501,
    'The server does not support this method. Use a standard HTTP method, in uppercase.',
    'El servidor no admite este método. Use un método estándar de HTTP, en mayúsculas.',
    'Use one of the methods that the API description lists, in uppercase.',
    'never'
  ],
  HANDLER_TIMEOUT: [
    503,
    'The request timed out. Try again after the number of seconds in Retry-After.',
    'La petición superó el tiempo de espera. Inténtelo de nuevo tras los segundos que indica Retry-After.',
    'Retry after the number of seconds in Retry-After, with a smaller request if possible.',
    'later'
  ]
} as const

/** The definitions of HTTP errors that several packages raise: `defineErrors({ RESOURCE_NOT_FOUND: sharedDefinitions.RESOURCE_NOT_FOUND })`. */
export const sharedDefinitions = Object.fromEntries<ErrorDefinition>(
  Object.entries(texts).map(([code, [statusCode, en, es, remedy, retry]]) => [code, { statusCode, message: { en, es }, remedy, retry }])
) as Readonly<Record<keyof typeof texts, ErrorDefinition>>
