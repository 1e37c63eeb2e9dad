import { type ApiError, defineErrors, type ErrorList, type Params } from '@concordat/api-error'

const fieldMessages = {
  unknownParameter: { en: 'is not a known parameter', es: 'no es un parámetro conocido' },
  unknownParameterNear: {
    en: 'is not a known parameter; did you mean {nearest}?',
    es: 'no es un parámetro conocido; ¿quería decir {nearest}?'
  },
  unknownOperator: { en: 'must use one of these operators: {allowed}', es: 'debe usar uno de estos operadores: {allowed}' },
  malformed: {
    en: 'must be written as name=value or name[operator]=value, percent-encoded in UTF-8',
    es: 'debe escribirse como nombre=valor o nombre[operador]=valor, codificado en UTF-8 con porcentajes'
  },
  duplicate: { en: 'must be given only once', es: 'debe indicarse una sola vez' },
  wrongStyle: {
    en: 'must not be used here; this collection is paged by {allowed}',
    es: 'no debe usarse aquí; esta colección se pagina con {allowed}'
  },
  mixedStyles: { en: 'must not be combined with offset and limit', es: 'no debe combinarse con offset y limit' },
  pageTooDeep: {
    en: 'must not reach beyond item {max}; filter the list instead',
    es: 'no debe pasar del elemento {max}; filtre la lista'
  },
  notBetween: {
    en: 'must be a whole number from {min} to {max}, in plain digits',
    es: 'debe ser un número entero de {min} a {max}, solo con dígitos'
  },
  notInteger: {
    en: 'must be a whole number of at most 64 bits, in plain digits',
    es: 'debe ser un número entero de 64 bits como máximo, solo con dígitos'
  },
  notDecimal: {
    en: 'must be a decimal number such as -12.50, without an exponent, of at most 30 digits on each side of the point',
    es: 'debe ser un número decimal como -12.50, sin exponente y con un máximo de 30 dígitos a cada lado del punto'
  },
  notDate: { en: 'must be a date such as 2026-01-31', es: 'debe ser una fecha como 2026-01-31' },
  notDateTime: {
    en: 'must be a time with its offset, such as 2026-01-31T12:00:00Z, with at most 6 digits of a second; a + is written %2B',
    es: 'debe ser una fecha y hora con su desfase, como 2026-01-31T12:00:00Z, con 6 decimales de segundo como máximo; el + se escribe %2B'
  },
  notUuid: {
    en: 'must be a UUID such as 018f4e2a-7c1b-7d3e-9a5f-0123456789ab',
    es: 'debe ser un UUID como 018f4e2a-7c1b-7d3e-9a5f-0123456789ab'
  },
  notOneOf: { en: 'must be one of: {allowed}', es: 'debe ser uno de: {allowed}' },
  hasNul: { en: 'must not contain the character NUL', es: 'no debe contener el carácter NUL' },
  tooLong: { en: 'must have at most {max} characters', es: 'debe tener como máximo {max} caracteres' },
  emptyItem: { en: 'must not have an empty item', es: 'no debe tener ningún elemento vacío' },
  tooManyItems: { en: 'must have at most {max} items', es: 'debe tener como máximo {max} elementos' },
  unsupportedSort: { en: 'must be one of these orders: {allowed}', es: 'debe ser uno de estos órdenes: {allowed}' },
  unknownField: { en: 'must list fields among: {allowed}', es: 'debe enumerar campos de entre: {allowed}' },
  tooManyConditions: { en: 'must have at most {max} conditions', es: 'debe tener como máximo {max} condiciones' },
  queryTooLong: { en: 'must have at most {max} characters', es: 'debe tener como máximo {max} caracteres' },
  cursorInvalid: { en: 'must be a cursor from a link of this collection', es: 'debe ser un cursor de un enlace de esta colección' },
  cursorMismatch: {
    en: 'must be used with the sort and filters that it was made for',
    es: 'debe usarse con el orden y los filtros para los que se creó'
  },
  cursorExpired: { en: 'must not be older than {seconds} seconds', es: 'no debe tener más de {seconds} segundos' }
} as const

/** The key of a text about one parameter. */
export type FieldMessage = keyof typeof fieldMessages

const list = defineErrors(
  {
    INVALID_QUERY_PARAMETERS: {
      statusCode: 422,
      validation: true,
      message: {
        en: 'The query cannot be used because of these parameters: {parameters}. Each entry of errors says what is allowed.',
        es: 'La consulta no se puede usar por estos parámetros: {parameters}. Cada entrada de errors dice qué se permite.'
      },
      remedy: 'Mend each parameter that errors names; the description of the operation lists what it takes.'
    },
    CURSOR_INVALID: {
      statusCode: 422,
      validation: true,
      message: {
        en: 'The cursor was not made by this service or has been changed. Start again without after.',
        es: 'El cursor no lo creó este servicio o se ha modificado. Empiece de nuevo sin after.'
      },
      remedy: 'Follow the links as they are; start again at the first page.'
    },
    CURSOR_MISMATCH: {
      statusCode: 422,
      validation: true,
      message: {
        en: 'The cursor belongs to another list: other sort, other filters or another collection. Repeat those, or start again without after.',
        es: 'El cursor pertenece a otra lista: otro orden, otros filtros u otra colección. Repítalos, o empiece de nuevo sin after.'
      },
      remedy: 'Change sort and filters only at the beginning of a list; perPage and fields may change at any time.'
    },
    CURSOR_EXPIRED: {
      statusCode: 422,
      validation: true,
      message: {
        en: 'The cursor is older than {seconds} seconds. Start again without after.',
        es: 'El cursor tiene más de {seconds} segundos. Empiece de nuevo sin after.'
      },
      remedy: 'Start again at the first page.'
    }
  },
  fieldMessages
)

/** Every error that this package raises, for the catalogue's `include`. */
export const paginationErrors: ErrorList = list

/** One parameter that can't be used. */
export interface QueryProblem {
  /** The name of the parameter as it was sent, shortened when it is too long to repeat. */
  readonly field: string
  readonly key: FieldMessage
  readonly params?: Params
}

const maxProblems = 100
const maxNames = 10
const cursorCodes: Partial<Record<FieldMessage, 'CURSOR_INVALID' | 'CURSOR_MISMATCH'>> = {
  cursorInvalid: 'CURSOR_INVALID',
  cursorMismatch: 'CURSOR_MISMATCH'
}

/** 422 with every parameter that can't be used, sorted, at most 100; a cursor that is the only thing wrong has codes of its own. */
export function invalidQuery(problems: readonly QueryProblem[]): ApiError {
  const errors = problems.toSorted((a, b) => (a.field < b.field ? -1 : a.field > b.field ? 1 : 0)).slice(0, maxProblems)
  const [first] = errors as [QueryProblem]
  // The texts are typed one by one; here the key is any of them.
  const options = { errors } as never
  if (errors.length === 1 && first.key === 'cursorExpired') {
    return list.create('CURSOR_EXPIRED', { params: first.params as { seconds: number }, ...(options as object) })
  }
  const code = errors.length === 1 ? cursorCodes[first.key] : undefined
  if (code !== undefined) return list.create(code, options)
  const names = [...new Set(errors.map(({ field }) => field))]
  const parameters = names.slice(0, maxNames).join(', ') + (names.length > maxNames ? ', …' : '')
  return list.create('INVALID_QUERY_PARAMETERS', { params: { parameters }, ...(options as object) })
}
