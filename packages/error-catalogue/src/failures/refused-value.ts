import { refusedParameter } from '@concordat/plugin-kit/api-error'
import type { FastifyRequest } from 'fastify'
import { invalidPart, type RequestPart, valuesIn } from '../bodies/storable-values.ts'
import type { SchemaError } from '../schemas/schema-error.ts'

interface DatabaseError {
  readonly code?: unknown
  readonly severity?: unknown
  readonly message?: unknown
  readonly detail?: unknown
  readonly cause?: unknown
  readonly [refusedParameter]?: unknown
}

type Check = (value: unknown) => SchemaError | undefined

// A query builder may have wrapped the error of the driver. A circular chain of causes has no end.
const deepestCause = 5

/**
 * Returns the error for the values of a request that PostgreSQL refused, such as the year 0 for a date: the schema allows more than the type of the
 * column. Returns undefined for any other error, and for a value that is not in the request, which is a mistake of the service.
 */
export function refusedValue(thrown: unknown, request: FastifyRequest): Error | undefined {
  try {
    return findRefused(thrown, request)
  } catch {
    // Reading a property of a thrown value can throw.
    return undefined
  }
}

function findRefused(thrown: unknown, request: FastifyRequest): Error | undefined {
  const error = dataException(thrown)
  const refuses = error && checkOf(error)
  if (refuses === undefined) return undefined
  const parts: readonly (readonly [RequestPart, unknown])[] = [
    ['body', request.body],
    ['querystring', request.query],
    ['params', request.params]
  ]
  for (const [part, values] of parts) {
    const errors = [...valuesIn(values)].flatMap(([value, instancePath]) => {
      const found = refuses(value)
      return found === undefined ? [] : [{ ...found, instancePath }]
    })
    // Of several values that it could be, none is named.
    if (errors.length > 0) return invalidPart(part, errors.length === 1 ? errors : [invalid])
  }
  return undefined
}

// Only PostgreSQL errors have a severity. Class 22 are data exceptions; a domain refuses a value with another.
function dataException(thrown: unknown): DatabaseError | undefined {
  let error = thrown as DatabaseError | null | undefined
  for (let depth = 0; depth < deepestCause && typeof error === 'object' && error !== null; depth += 1) {
    if (typeof error.severity === 'string' && (String(error.code).startsWith('22') || refusedParameter in error)) return error
    error = error.cause as DatabaseError | null | undefined
  }
  return undefined
}

// What is too long or has too many digits is refused when the row is written, without the value. Otherwise PostgreSQL names the parameter, which only
// some clients note, or quotes the value.
function checkOf({ code, message, detail, [refusedParameter]: parameter }: DatabaseError): Check {
  const said = String(message)
  const limit = /\((\d+)\)/.exec(said)?.[1]
  if (code === '22001' && limit !== undefined)
    return (value) =>
      typeof value === 'string' && Array.from(value).length > Number(limit) ? { keyword: 'maxLength', params: { limit } } : undefined
  const digits = /10\^(\d+)/.exec(String(detail))?.[1]
  // A value is rounded first.
  if (code === '22003' && digits !== undefined)
    return (value) => (Math.abs(Number(textOf(value))) >= 10 ** Number(digits) - 0.5 ? invalid : undefined)
  const refused = textOf(parameter)
  return (value) => {
    const text = textOf(value)
    return text !== undefined && (refused === undefined ? isQuoted(said, text) : text === refused) ? invalid : undefined
  }
}

const invalid = { keyword: 'invalid' }

function textOf(value: unknown): string | undefined {
  if (value instanceof Date) return value.toISOString()
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
  return isText ? String(value) : undefined
}

// In the quotation marks of the language of the server.
function isQuoted(message: string, text: string) {
  return [`"${text}"`, `«${text}»`, `»${text}«`, `„${text}“`, `“${text}”`].some((quoted) => message.includes(quoted))
}
