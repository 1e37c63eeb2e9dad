import { type ApiError, defineErrors, type ErrorList, sharedDefinitions } from '@concordat/plugin-kit/api-error'
import type { Params } from '@concordat/plugin-kit/texts'

const fieldMessages = {
  unknownParameter: { en: 'is not a known parameter', es: 'no es un parámetro conocido' },
  unknownParameterNear: {
    en: 'is not a known parameter; did you mean {nearest}?',
    es: 'no es un parámetro conocido; ¿quería decir {nearest}?'
  },
  unknownOperator: { en: 'must use one of these operators: {allowed}', es: 'debe usar uno de estos operadores: {allowed}' },
  malformed: {
    en: 'must have the form name=value or name[operator]=value',
    es: 'debe tener la forma nombre=valor o nombre[operador]=valor'
  },
  duplicate: { en: 'must be sent only once', es: 'debe enviarse una sola vez' },
  wrongStyle: {
    en: 'is not supported by this collection, which is paginated with {allowed}',
    es: 'no se admite en esta colección, que se pagina con {allowed}'
  },
  pageTooDeep: {
    en: 'must not go beyond item {max}; filter the collection instead',
    es: 'no debe pasar del elemento {max}; filtre la colección'
  },
  notBetween: {
    en: 'must be an integer between {min} and {max}, written in digits',
    es: 'debe ser un número entero entre {min} y {max}, escrito con dígitos'
  },
  notInteger: {
    en: 'must be an integer of at most 64 bits, written in digits without leading zeros',
    es: 'debe ser un número entero de 64 bits como máximo, escrito con dígitos y sin ceros a la izquierda'
  },
  notDecimal: {
    en: 'must be a decimal number such as -12.50, without an exponent and with at most 30 digits on each side of the decimal point',
    es: 'debe ser un número decimal como -12.50, sin exponente y con un máximo de 30 dígitos a cada lado del punto decimal'
  },
  notDate: { en: 'must be a date such as 2026-01-31', es: 'debe ser una fecha como 2026-01-31' },
  notDateTime: {
    en: 'must be a date and time with an offset, such as 2026-01-31T12:00:00Z, with at most 6 decimal places of a second; write + as %2B',
    es: 'debe ser una fecha y hora con su desfase, como 2026-01-31T12:00:00Z, con 6 decimales de segundo como máximo; el + se escribe %2B'
  },
  notUuid: {
    en: 'must be a UUID such as 018f4e2a-7c1b-7d3e-9a5f-0123456789ab',
    es: 'debe ser un UUID como 018f4e2a-7c1b-7d3e-9a5f-0123456789ab'
  },
  notOfType: { en: 'must be a value that this field can have', es: 'debe ser un valor que este campo pueda tener' },
  notSearchable: {
    en: 'must contain three letters or digits in a row',
    es: 'debe contener tres letras o cifras seguidas'
  },
  notOneOf: { en: 'must be one of: {allowed}', es: 'debe ser uno de: {allowed}' },
  hasNul: { en: 'must not contain the character NUL', es: 'no debe contener el carácter NUL' },
  tooLong: {
    en: { plural: 'max', one: 'must have at most {max, number} character', other: 'must have at most {max, number} characters' },
    es: {
      plural: 'max',
      one: 'debe tener como máximo {max, number} carácter',
      many: 'debe tener como máximo {max, number} de caracteres',
      other: 'debe tener como máximo {max, number} caracteres'
    }
  },
  emptyItem: { en: 'must not have an empty item', es: 'no debe tener ningún elemento vacío' },
  tooManyItems: {
    en: { plural: 'max', one: 'must have at most {max, number} item', other: 'must have at most {max, number} items' },
    es: {
      plural: 'max',
      one: 'debe tener como máximo {max, number} elemento',
      many: 'debe tener como máximo {max, number} de elementos',
      other: 'debe tener como máximo {max, number} elementos'
    }
  },
  unsupportedSort: { en: 'must be one of these sort orders: {allowed}', es: 'debe ser uno de estos órdenes: {allowed}' },
  unknownField: { en: 'must list only these fields: {allowed}', es: 'debe enumerar solo estos campos: {allowed}' },
  unknownRelation: { en: 'must list only these relations: {allowed}', es: 'debe enumerar solo estas relaciones: {allowed}' },
  repeatedRelation: { en: 'must not list a relation more than once', es: 'no debe enumerar una relación más de una vez' },
  notIncluded: {
    en: 'must not select fields of {relation} unless include has {relation}',
    es: 'no debe elegir campos de {relation} si include no tiene {relation}'
  },
  repeatedField: { en: 'must not list a field more than once', es: 'no debe enumerar un campo más de una vez' },
  tooManyConditions: {
    en: { plural: 'max', one: 'must have at most {max, number} condition', other: 'must have at most {max, number} conditions' },
    es: {
      plural: 'max',
      one: 'debe tener como máximo {max, number} condición',
      many: 'debe tener como máximo {max, number} de condiciones',
      other: 'debe tener como máximo {max, number} condiciones'
    }
  },
  queryTooLong: {
    en: { plural: 'max', one: 'must have at most {max, number} character', other: 'must have at most {max, number} characters' },
    es: {
      plural: 'max',
      one: 'debe tener como máximo {max, number} carácter',
      many: 'debe tener como máximo {max, number} de caracteres',
      other: 'debe tener como máximo {max, number} caracteres'
    }
  },
  cursorInvalid: { en: 'must be a cursor from a link of this collection', es: 'debe ser un cursor de un enlace de esta colección' },
  cursorMismatch: {
    en: 'must be used with the same sort order and filters as the page that returned it',
    es: 'debe usarse con el mismo orden y los mismos filtros que la página que lo devolvió'
  },
  cursorExpired: {
    en: {
      plural: 'seconds',
      one: 'must not be older than {seconds, number} second',
      other: 'must not be older than {seconds, number} seconds'
    },
    es: {
      plural: 'seconds',
      one: 'no debe tener más de {seconds, number} segundo',
      many: 'no debe tener más de {seconds, number} de segundos',
      other: 'no debe tener más de {seconds, number} segundos'
    }
  }
} as const

/** The key of a message about a parameter. */
export type FieldMessage = keyof typeof fieldMessages

const list = defineErrors(
  {
    MALFORMED_URI: sharedDefinitions.MALFORMED_URI,
    INVALID_QUERY_PARAMETERS: {
      statusCode: 422,
      validation: true,
      message: {
        en: 'These query parameters are invalid: {parameters}. Fix the parameters listed in `errors`.',
        es: 'Estos parámetros de consulta no son válidos: {parameters}. Corrija los parámetros indicados en `errors`.'
      },
      remedy: 'Fix each parameter listed in `errors`. The API description lists the parameters of each operation.'
    },
    CURSOR_INVALID: {
      statusCode: 422,
      validation: true,
      message: {
        en: 'The cursor is invalid. Start again from the first page, without the `after` parameter.',
        es: 'El cursor no es válido. Empiece de nuevo desde la primera página, sin el parámetro `after`.'
      },
      remedy: 'Follow the links unchanged, or start again from the first page.'
    },
    CURSOR_MISMATCH: {
      statusCode: 422,
      validation: true,
      message: {
        en: 'The cursor belongs to another sort order, filter or collection. Repeat the original query, or start again without the `after` parameter.',
        es: 'El cursor pertenece a otro orden, filtro o colección. Repita la consulta original o empiece de nuevo sin el parámetro `after`.'
      },
      remedy: 'Change the sort order and filters only on the first page; `perPage` and `fields` can change at any time.'
    },
    CURSOR_EXPIRED: {
      statusCode: 422,
      validation: true,
      message: {
        en: {
          plural: 'seconds',
          one: 'The cursor has expired: it is older than {seconds, number} second. Start again without the `after` parameter.',
          other: 'The cursor has expired: it is older than {seconds, number} seconds. Start again without the `after` parameter.'
        },
        es: {
          plural: 'seconds',
          one: 'El cursor ha caducado: tiene más de {seconds, number} segundo. Empiece de nuevo sin el parámetro `after`.',
          many: 'El cursor ha caducado: tiene más de {seconds, number} de segundos. Empiece de nuevo sin el parámetro `after`.',
          other: 'El cursor ha caducado: tiene más de {seconds, number} segundos. Empiece de nuevo sin el parámetro `after`.'
        }
      },
      remedy: 'Start again from the first page.'
    }
  },
  fieldMessages
)

/** Every error that this package throws, for the option `include` of the error catalogue. */
export const paginationQueryErrors: ErrorList = list

/** An error in a query parameter. */
export interface QueryProblem {
  /** The name of the parameter as the client sent it, truncated if it is too long to repeat. */
  readonly field: string
  readonly key: FieldMessage
  readonly params?: Params | undefined
}

/** Returns the 400 error for a query whose percent-encoding is not valid UTF-8. */
export function malformedUri(): ApiError {
  return list.create('MALFORMED_URI')
}

/** The maximum number of problems in a response. */
export const maxProblems = 100
const maxNames = 10
const cursorCodes: Partial<Record<FieldMessage, 'CURSOR_INVALID' | 'CURSOR_MISMATCH' | 'CURSOR_EXPIRED'>> = {
  cursorInvalid: 'CURSOR_INVALID',
  cursorMismatch: 'CURSOR_MISMATCH',
  cursorExpired: 'CURSOR_EXPIRED'
}

/**
 * Returns the 422 error that lists the invalid parameters, sorted by name and limited to 100. If only the cursor is invalid, it has its own codes.
 */
export function invalidQuery(problems: readonly QueryProblem[]): ApiError {
  const found = problems.toSorted((a, b) => (a.field < b.field ? -1 : a.field > b.field ? 1 : 0)).slice(0, maxProblems)
  const [first] = found as [QueryProblem]
  const errors = found.map((problem) => ({ ...problem, field: problem.key === 'queryTooLong' ? 'query' : `query.${problem.field}` }))
  const code = errors.length === 1 ? cursorCodes[first.key] : undefined
  // The type of each code and of each message has its own params; here they can be any of them.
  if (code !== undefined) return list.create(code, { errors, params: first.params } as never)
  const names = [...new Set(found.map(({ field }) => field))]
  const parameters = names.slice(0, maxNames).join(', ') + (names.length > maxNames ? ', …' : '')
  return list.create('INVALID_QUERY_PARAMETERS', { errors, params: { parameters } } as never)
}
