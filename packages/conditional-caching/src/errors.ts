import { type ApiError, defineErrors, type ErrorList, sharedDefinitions } from '@concordat/plugin-kit/api-error'

const list = defineErrors({
  PRECONDITION_FAILED: sharedDefinitions.PRECONDITION_FAILED,
  PRECONDITION_REQUIRED: {
    statusCode: 428,
    message: {
      en: 'If-Match is required for this change. Fetch the resource, then send its ETag in If-Match.',
      es: 'If-Match es obligatorio para este cambio. Obtenga el recurso y envíe su ETag en If-Match.'
    },
    remedy: 'Fetch the resource, then send its ETag in If-Match.'
  },
  RESOURCE_NOT_FOUND: sharedDefinitions.RESOURCE_NOT_FOUND
})

/** The reason why a precondition failed. */
export type FailureReason = 'changed' | 'weak' | 'malformed' | 'exists' | 'unversioned'

// The same code with a more specific message.
const failures: Readonly<Record<FailureReason, ErrorList>> = {
  changed: list,
  weak: failure(
    'If-Match contains a weak entity tag, which cannot protect a change. A proxy that compresses responses may have weakened it: fetch the resource with Accept-Encoding: identity, then send the new ETag.',
    'If-Match contiene una etiqueta de entidad débil, que no puede proteger un cambio. Puede que la haya debilitado un proxy que comprime las respuestas: obtenga el recurso con Accept-Encoding: identity y envíe el nuevo ETag.'
  ),
  malformed: failure(
    'If-Match or If-None-Match is not a valid list of entity tags, or is longer than 4,096 characters. Send the ETag exactly as you received it, with its quotes, or send *.',
    'If-Match o If-None-Match no es una lista válida de etiquetas de entidad o tiene más de 4.096 caracteres. Envíe el ETag tal como lo recibió, con sus comillas, o envíe *.'
  ),
  exists: failure(
    'The resource already exists in a version that If-None-Match excludes. Fetch it, then decide whether to change it.',
    'El recurso ya existe en una versión que If-None-Match excluye. Obténgalo y decida si desea modificarlo.'
  ),
  unversioned: failure(
    'This resource does not support conditional changes. Omit If-Match and If-None-Match.',
    'Este recurso no admite cambios condicionales. Omita If-Match e If-None-Match.'
  )
}

/** All errors that this package raises, for the catalogue's `include`. */
export const conditionalCachingErrors: ErrorList = list

/**
 * Creates 428, where a route requires a precondition (RFC 6585 §3), or 404, because a resource that does not exist has no state to compare (RFC
 * 9110 §13.2.1).
 */
export function createError(code: 'PRECONDITION_REQUIRED' | 'RESOURCE_NOT_FOUND'): ApiError {
  return list.create(code)
}

/** 412, with the current tag if the caller is allowed to see it (RFC 9110 §15.5.13, rule O1). */
export function preconditionFailed(reason: FailureReason, tag?: string): ApiError {
  return failures[reason].create('PRECONDITION_FAILED', tag === undefined ? {} : { headers: { etag: tag } })
}

function failure(en: string, es: string) {
  return defineErrors({ PRECONDITION_FAILED: { ...sharedDefinitions.PRECONDITION_FAILED, message: { en, es } } })
}
