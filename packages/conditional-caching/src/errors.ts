import { type ApiError, defineErrors, type ErrorList } from '@concordat/api-error'

const remedy = 'Read the resource again, apply the change to what it is now, and send its new ETag in If-Match.'

const list = defineErrors({
  PRECONDITION_FAILED: {
    statusCode: 412,
    message: {
      en: 'The resource is not in the state that the request asks for. Read it again and repeat the change on what it is now.',
      es: 'El recurso no está en el estado que pide la petición. Léalo de nuevo y repita el cambio sobre lo que es ahora.'
    },
    remedy
  },
  PRECONDITION_REQUIRED: {
    statusCode: 428,
    message: {
      en: 'This change needs the version that it is meant for. Read the resource and send its ETag in If-Match.',
      es: 'Este cambio necesita la versión a la que se refiere. Lea el recurso y envíe su ETag en If-Match.'
    },
    remedy: 'Read the resource and send its ETag in If-Match.'
  },
  RESOURCE_NOT_FOUND: {
    statusCode: 404,
    message: {
      en: 'There is nothing at this address, so there is nothing to change. Check the path and the identifiers in it.',
      es: 'No hay nada en esta dirección, así que no hay nada que cambiar. Revise la ruta y los identificadores que contiene.'
    },
    remedy: 'Take addresses from the links of other answers, or from the description of the service.'
  }
})

/** Why a precondition failed. */
export type FailureReason = 'changed' | 'weak' | 'malformed' | 'exists' | 'unversioned'

// The same code in more exact words.
const failures: Readonly<Record<FailureReason, ErrorList>> = {
  changed: list,
  weak: failure(
    'If-Match names a weak tag, which can not guard a change. A proxy that compresses may have made it weak: read the resource with Accept-Encoding: identity and send that tag.',
    'If-Match nombra una etiqueta débil, que no puede proteger un cambio. Quizá la debilitó un proxy que comprime: lea el recurso con Accept-Encoding: identity y envíe esa etiqueta.'
  ),
  malformed: failure(
    'If-Match or If-None-Match is no list of entity tags. Send the ETag as it came, with its quotes, or * alone.',
    'If-Match o If-None-Match no es una lista de etiquetas de entidad. Envíe el ETag tal como llegó, con sus comillas, o solo *.'
  ),
  exists: failure(
    'The request asks for a state in which the resource is not: it exists, in a version that If-None-Match excludes.',
    'La petición pide un estado en el que el recurso no está: existe, en una versión que If-None-Match excluye.'
  ),
  unversioned: failure(
    'This resource has no version for changes, so If-Match and If-None-Match can not be checked. Leave them out.',
    'Este recurso no tiene versión para los cambios, así que If-Match e If-None-Match no se pueden comprobar. Omítalos.'
  )
}

/** Every error that this package raises, for the catalogue's `include`. */
export const preconditionErrors: ErrorList = list

/** 412, with the current tag where the caller may know it (RFC 9110 §15.5.13, rule O1). */
export function preconditionFailed(reason: FailureReason, tag?: string): ApiError {
  return failures[reason].create('PRECONDITION_FAILED', tag === undefined ? {} : { headers: { etag: tag } })
}

/** 428: the route takes no change without a precondition (RFC 6585 §3). */
export function preconditionRequired(): ApiError {
  return list.create('PRECONDITION_REQUIRED')
}

/** 404: what does not exist has no state to compare (RFC 9110 §13.2.1). */
export function nothingToChange(): ApiError {
  return list.create('RESOURCE_NOT_FOUND')
}

function failure(en: string, es: string) {
  return defineErrors({ PRECONDITION_FAILED: { statusCode: 412, message: { en, es }, remedy } })
}
