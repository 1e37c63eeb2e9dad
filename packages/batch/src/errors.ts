import { type ApiError, defineErrors, type ErrorList } from '@concordat/api-error'

const problems = {
  object: { en: 'must be an object', es: 'debe ser un objeto' },
  unknown: { en: 'is unknown here', es: 'es desconocido aquí' },
  operations: { en: 'must be a list of 1 to {limit} operations', es: 'debe ser una lista de 1 a {limit} operaciones' },
  atomic: { en: 'must be true or false', es: 'debe ser true o false' },
  neverAtomic: { en: 'must be false: this batch is never atomic', es: 'debe ser false: este lote nunca es atómico' },
  alwaysAtomic: { en: 'must be true: this batch is always atomic', es: 'debe ser true: este lote siempre es atómico' },
  id: {
    en: 'must be 1 to 64 letters, digits or any of . _ ~ -',
    es: 'debe tener de 1 a 64 letras, cifras o cualquiera de . _ ~ -'
  },
  idRepeated: { en: 'is the id of an operation before this one', es: 'es el identificador de una operación anterior' },
  method: { en: 'must be one of {methods}', es: 'debe ser uno de {methods}' },
  path: {
    en: 'must be a path with a slash in front, as it would stand in a URI',
    es: 'debe ser una ruta que empieza por una barra, tal como figuraría en una URI'
  },
  pathForeign: { en: 'must be {paths} or below', es: 'debe ser {paths} o estar por debajo' },
  pathNested: { en: 'is a batch: batches can not be nested', es: 'es un lote: los lotes no se pueden anidar' },
  headerForbidden: { en: 'can not be a header of an operation', es: 'no puede ser una cabecera de una operación' },
  headerOfBatch: {
    en: 'is a header of the whole batch: send it with the request',
    es: 'es una cabecera de todo el lote: envíela con la solicitud'
  },
  headerRepeated: { en: 'is there twice', es: 'está dos veces' },
  headerValue: { en: 'must be visible characters, at most {limit}', es: 'debe tener caracteres visibles, como máximo {limit}' },
  bodyForbidden: { en: 'must be absent: {method} has no body', es: 'debe faltar: {method} no tiene cuerpo' },
  contentType: {
    en: 'must be a JSON type, as the body of an operation is JSON',
    es: 'debe ser un tipo JSON, pues el cuerpo de una operación es JSON'
  }
} as const

const list = defineErrors(
  {
    BATCH_INVALID: {
      statusCode: 422,
      message: {
        en: 'The batch can’t be carried out as it is, and nothing of it was. Mend what is listed.',
        es: 'El lote no se puede ejecutar tal como está, y no se ha ejecutado nada. Corrija lo indicado.'
      },
      remedy: 'Mend the fields that the error lists. No operation was carried out.',
      validation: true
    },
    BATCH_NESTED: {
      statusCode: 409,
      message: { en: 'A batch can’t be an operation of another one.', es: 'Un lote no puede ser una operación de otro.' },
      remedy: 'Send the operations of the inner batch in the outer one.'
    },
    BATCH_OPERATION_UNDONE: {
      statusCode: 424,
      message: {
        en: 'Nothing of this batch was kept, because another operation of it failed. Mend that one and send the batch again.',
        es: 'No se ha conservado nada de este lote, porque otra de sus operaciones ha fallado. Corrija esa y envíe el lote de nuevo.'
      },
      remedy: 'Look for the operation whose status is not 424, mend it, and send the batch again with a new Idempotency-Key.'
    },
    BATCH_OPERATION_NOT_ATOMIC: {
      statusCode: 409,
      message: {
        en: 'This operation can’t be part of an atomic batch. Send it by itself.',
        es: 'Esta operación no puede formar parte de un lote atómico. Envíela por separado.'
      },
      remedy: 'Send the operation by itself or in a batch that is not atomic: what it does can’t be undone together with others.'
    },
    BATCH_STOPPED: {
      statusCode: 503,
      message: {
        en: 'The batch took too long, or its client left, before this operation began. Send it again in another batch.',
        es: 'El lote ha tardado demasiado, o su cliente se ha ido, antes de empezar esta operación. Envíela de nuevo en otro lote.'
      },
      remedy: 'This operation was not carried out. Send it again in a new, smaller batch with a new Idempotency-Key.'
    },
    BATCH_OPERATION_FAILED: {
      statusCode: 500,
      message: {
        en: 'Something went wrong on our side. Report the Request-Id if it happens again.',
        es: 'Algo ha fallado por nuestra parte. Comunique el Request-Id si vuelve a ocurrir.'
      },
      remedy: 'Look whether the operation took effect before it is sent again; report the Request-Id.'
    }
  },
  problems
)

/** Every error that this package raises, for the catalogue's `include`. */
export const batchErrors: ErrorList = list

/** What is wrong at a place of a batch. */
export interface Problem {
  /** As `body.operations.3.path`. */
  readonly field: string
  readonly key: keyof typeof problems
  readonly params?: Readonly<Record<string, string | number>>
}

/** 422: what is wrong with a batch, all of it. */
export function invalidBatch(errors: readonly Problem[]): ApiError {
  return (list as ErrorList).create('BATCH_INVALID', { errors })
}

/** 409: a batch was asked for by an operation of another. */
export function nestedBatch(): ApiError {
  return list.create('BATCH_NESTED')
}

/** 424: what the operation did was undone, or it was not begun, because another one failed. */
export function operationUndone(): ApiError {
  return list.create('BATCH_OPERATION_UNDONE')
}

/** 409: what its route does can't be undone with the rest. */
export function operationNotAtomic(): ApiError {
  return list.create('BATCH_OPERATION_NOT_ATOMIC')
}

/** 503: the operation was not begun. */
export function batchStopped(): ApiError {
  return list.create('BATCH_STOPPED', { headers: { 'retry-after': '1' } })
}

/** 500: an operation ended without an answer. */
export function operationFailed(cause: unknown): ApiError {
  return list.create('BATCH_OPERATION_FAILED', { cause })
}
