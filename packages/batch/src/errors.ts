import { defineErrors, type ErrorList, sharedDefinitions } from '@concordat/plugin-kit/api-error'

const problems = {
  object: { en: 'must be an object', es: 'debe ser un objeto' },
  unknown: { en: 'is not a known field', es: 'no es un campo conocido' },
  operations: {
    en: {
      plural: 'limit',
      one: 'must be an array of {limit, number} operation',
      other: 'must be an array of 1 to {limit, number} operations'
    },
    es: {
      plural: 'limit',
      one: 'debe ser una lista de {limit, number} operación',
      many: 'debe ser una lista de 1 a {limit, number} de operaciones',
      other: 'debe ser una lista de 1 a {limit, number} operaciones'
    }
  },
  atomic: { en: 'must be true or false', es: 'debe ser true o false' },
  neverAtomic: { en: 'must be false: this batch is never atomic', es: 'debe ser false: este lote nunca es atómico' },
  alwaysAtomic: { en: 'must be true: this batch is always atomic', es: 'debe ser true: este lote siempre es atómico' },
  id: {
    en: 'must be 1 to 64 characters: letters, digits and . _ ~ -',
    es: 'debe tener de 1 a 64 caracteres: letras, dígitos y . _ ~ -'
  },
  idRepeated: { en: 'is already the id of an earlier operation', es: 'ya es el identificador de una operación anterior' },
  method: { en: 'must be one of {methods}', es: 'debe ser uno de {methods}' },
  path: {
    en: 'must be a URI path that starts with a slash',
    es: 'debe ser una ruta de URI que empiece por una barra'
  },
  pathForeign: {
    en: 'must be one of these paths or a path below one of them: {paths}',
    es: 'debe ser una de estas rutas o una ruta por debajo de una de ellas: {paths}'
  },
  pathNested: { en: 'is a batch: batches cannot be nested', es: 'es un lote: los lotes no se pueden anidar' },
  headerForbidden: { en: 'is not allowed as a header of an operation', es: 'no se admite como encabezado de una operación' },
  headerOfBatch: {
    en: 'applies to the whole batch: send it as a header of the request',
    es: 'se aplica a todo el lote: envíelo como encabezado de la petición'
  },
  headerRepeated: { en: 'was sent more than once', es: 'se envió más de una vez' },
  headerValue: {
    en: {
      plural: 'limit',
      one: 'must have at most {limit, number} character, which is allowed in an HTTP header',
      other: 'must have at most {limit, number} characters, all of them allowed in an HTTP header'
    },
    es: {
      plural: 'limit',
      one: 'debe tener como máximo {limit, number} carácter, permitido en un encabezado HTTP',
      many: 'debe tener como máximo {limit, number} de caracteres, todos ellos permitidos en un encabezado HTTP',
      other: 'debe tener como máximo {limit, number} caracteres, todos ellos permitidos en un encabezado HTTP'
    }
  },
  bodyForbidden: { en: 'must be omitted: {method} has no body', es: 'debe omitirse: {method} no tiene cuerpo' },
  contentType: {
    en: 'must be a JSON media type: the body of an operation is JSON',
    es: 'debe ser un tipo de medio JSON: el cuerpo de una operación es JSON'
  }
} as const

/** The errors of this package. */
export const errors = defineErrors(
  {
    BATCH_INVALID: {
      statusCode: 422,
      message: {
        en: 'The batch is invalid and no operation was executed. Fix the fields listed in `errors`.',
        es: 'El lote no es válido y no se ejecutó ninguna operación. Corrija los campos indicados en `errors`.'
      },
      remedy: 'Fix the fields listed in `errors`, then send the batch again. No operation was executed.',
      validation: true
    },
    BATCH_NESTED: {
      statusCode: 409,
      message: { en: 'A batch cannot be an operation of another batch.', es: 'Un lote no puede ser una operación de otro lote.' },
      remedy: 'Add the operations of the inner batch to the outer batch.'
    },
    BATCH_OPERATION_UNDONE: {
      statusCode: 424,
      effect: 'none',
      message: {
        en: 'The batch was rolled back because another operation failed. See the error of that operation, then send the batch again.',
        es: 'El lote se revirtió porque otra operación falló. Consulte el error de esa operación y envíe el lote de nuevo.'
      },
      remedy:
        'Find the operation that failed with a status other than 424. If its status is 429 or 5xx, send the batch again with the same Idempotency-Key. Otherwise fix it and send the batch with a new key.'
    },
    BATCH_OPERATION_NOT_ATOMIC: {
      statusCode: 409,
      message: {
        en: 'This operation cannot be part of an atomic batch. Send it separately.',
        es: 'Esta operación no puede formar parte de un lote atómico. Envíela por separado.'
      },
      remedy: 'Send the operation separately, or in a batch that is not atomic. It cannot be rolled back together with other operations.'
    },
    BATCH_STOPPED: {
      statusCode: 503,
      retry: 'later',
      effect: 'none',
      message: {
        en: 'The batch timed out or the client disconnected before this operation started. With an Idempotency-Key, send the batch again with the same key; otherwise send this operation again.',
        es: 'El lote superó el tiempo de espera o el cliente se desconectó antes de que empezara esta operación. Con una clave de idempotencia, envíe el lote de nuevo con la misma clave; si no, envíe de nuevo esta operación.'
      },
      remedy:
        'The operation was not executed. Send the batch again with the same Idempotency-Key: only operations without a final outcome are executed. Without a key, send the operation in another batch.'
    },
    BATCH_OPERATION_FAILED: {
      statusCode: 500,
      retry: 'never',
      effect: 'unknown',
      message: sharedDefinitions.INTERNAL_ERROR.message,
      remedy: 'Check whether the operation took effect before you send it again. If it keeps failing, report the Request-Id.'
    }
  },
  problems
)

/** All errors of this package, for the catalogue's `include`. */
export const batchErrors: ErrorList = errors

/** Problem with a field of a batch. */
export interface Problem {
  /** The path of the field, for example `body.operations.3.path`. */
  readonly field: string
  readonly key: keyof typeof problems
  readonly params?: Readonly<Record<string, string | number>> | undefined
}

// A client can fix these first, and reading the rest of a hostile body would only cost time.
const maxProblems = 100

/** Adds a problem with a batch to the list. Throws 422 `BATCH_INVALID` as soon as the list is full. */
export function report(problems: Problem[], problem: Problem): void {
  if (problems.push(problem) >= maxProblems) throw batchErrors.create('BATCH_INVALID', { errors: problems })
}
