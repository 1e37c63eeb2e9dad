import { type ApiError, defineErrors, type ErrorList, sharedDefinitions } from '@concordat/plugin-kit/api-error'

const fieldMessages = { available: { en: '{mediaType} is available', es: '{mediaType} está disponible' } } as const

const errors = defineErrors(
  {
    NOT_ACCEPTABLE: sharedDefinitions.NOT_ACCEPTABLE,
    UNSUPPORTED_MEDIA_TYPE: sharedDefinitions.UNSUPPORTED_MEDIA_TYPE,
    UNSUPPORTED_CHARSET: {
      statusCode: 415,
      message: {
        en: 'Only UTF-8 bodies are supported. Encode the body as UTF-8, and omit charset from Content-Type.',
        es: 'Solo se admiten cuerpos en UTF-8. Codifique el cuerpo en UTF-8 y omita charset en Content-Type.'
      },
      remedy: 'Encode the body as UTF-8, and set the charset in Content-Type to utf-8 or omit it.'
    },
    UNSUPPORTED_CONTENT_ENCODING: {
      statusCode: 415,
      message: {
        en: 'The content coding of the body is not supported. Use one of these in Content-Encoding: {codings}.',
        es: 'La codificación de contenido del cuerpo no se admite. Use una de estas en Content-Encoding: {codings}.'
      },
      remedy: 'Use one of the content codings in the Accept-Encoding header of the response; `identity` means no coding.'
    }
  },
  fieldMessages
)

const { NOT_ACCEPTABLE } = sharedDefinitions
const { en, es } = NOT_ACCEPTABLE.message as Readonly<Record<'en' | 'es', string>>
// No header of a 406 lists the available types, so its message does (RFC 9110 §15.5.7).
const withTypes = defineErrors(
  { NOT_ACCEPTABLE: { ...NOT_ACCEPTABLE, message: { en: `${en} Available: {available}.`, es: `${es} Disponibles: {available}.` } } },
  fieldMessages
)

const withCodings = defineErrors(
  {
    NOT_ACCEPTABLE: {
      ...NOT_ACCEPTABLE,
      message: {
        en: 'The response is not available in any content coding that Accept-Encoding allows. Allow identity in Accept-Encoding, or omit the header.',
        es: 'La respuesta no está disponible en ninguna codificación de contenido que Accept-Encoding permite. Permita identity en Accept-Encoding u omita el encabezado.'
      }
    }
  },
  fieldMessages
)

/** Every error that this package raises. */
export const contentNegotiationErrors: ErrorList = errors

/**
 * 406, with each available media type as an entry of `errors` (RFC 9110 §15.5.7, rule N2). For handlers whose object has fewer types than its route
 * declares: `if (chooseMediaType(request.headers.accept, available) === undefined) throw notAcceptable(available)`.
 */
export function notAcceptable(available: readonly string[]): ApiError {
  return withTypes.create('NOT_ACCEPTABLE', {
    params: { available: available.join(', ') },
    errors: available.map((mediaType) => ({ field: 'header.accept', key: 'available', params: { mediaType } }))
  })
}

/** 406 for an `Accept-Encoding` that excludes every coding, also `identity` (RFC 9110 §12.5.3). */
export function noCodingAcceptable(): ApiError {
  return withCodings.create('NOT_ACCEPTABLE', {
    errors: [{ field: 'header.accept-encoding', key: 'available', params: { mediaType: 'identity' } }]
  })
}

/** 415 for a missing, malformed, repeated or unknown `Content-Type` (RFC 9110 §15.5.16, rule N3). */
export function unsupportedMediaType(method: string, consumed: readonly string[]): ApiError {
  return errors.create('UNSUPPORTED_MEDIA_TYPE', { headers: acceptHeaders(method, consumed) })
}

/** 415 for a `charset` other than UTF-8. */
export function unsupportedCharset(method: string, consumed: readonly string[]): ApiError {
  return errors.create('UNSUPPORTED_CHARSET', { headers: acceptHeaders(method, consumed) })
}

/** 415 for an unsupported `Content-Encoding`; `Accept-Encoding` lists the supported codings (RFC 9110 §12.5.3). */
export function unsupportedContentEncoding(codings: readonly string[]): ApiError {
  const list = [...codings, 'identity'].join(', ')
  return errors.create('UNSUPPORTED_CONTENT_ENCODING', { params: { codings: list }, headers: { 'accept-encoding': list } })
}

// Also Accept-Patch (RFC 5789 §3.1) and Accept-Post (W3C LDP §7.1).
function acceptHeaders(method: string, consumed: readonly string[]): Record<string, string> {
  const accept = consumed.join(', ')
  if (method === 'PATCH') return { accept, 'accept-patch': accept }
  if (method === 'POST') return { accept, 'accept-post': accept }
  return { accept }
}
