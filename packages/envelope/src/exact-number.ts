import { hasDateYear, type JsonSchema, losesDigits } from '@concordat/plugin-kit/json-schema'

/** The numbers that a schema allows: integers up to 2^53 - 1, integers with a wider declared range, or any number. */
export type NumberKind = 'integer' | 'wide integer' | 'number'

/** Returns the kind of the numbers that a schema allows, or undefined if it also allows other values than null. */
export function numberKindOf({ type, ...limits }: JsonSchema): NumberKind | undefined {
  const [only, ...others] = [type].flat().filter((name) => name !== 'null')
  if (others.length > 0 || (only !== 'integer' && only !== 'number')) return undefined
  if (only === 'number') return only
  const { exclusiveMinimum = 0, minimum = exclusiveMinimum, exclusiveMaximum = 0, maximum = exclusiveMaximum } = limits
  return Math.max(-Number(minimum), Number(maximum)) > Number.MAX_SAFE_INTEGER ? 'wide integer' : only
}

/** The texts that a schema allows, if it allows nothing else: a date, a time, or any text. */
export type TextKind = 'date' | 'date-time' | 'text'

/** Returns the kind of the texts that a schema allows, or undefined if it also allows other values than null. */
export function textKindOf({ type, format }: JsonSchema): TextKind | undefined {
  const [only, ...others] = [type].flat().filter((name) => name !== 'null')
  if (others.length > 0 || only !== 'string') return undefined
  return format === 'date' || format === 'date-time' ? format : 'text'
}

/**
 * Throws a `TypeError` for a value that a serializer would write as a text that it is not: a time without a year of RFC 3339, bytes, or a number beyond
 * 2^53 - 1, which may be rounded already.
 */
export function requireText(value: unknown, kind: TextKind, place: string): void {
  if (typeof value === 'string') {
    if (kind === 'text' || hasDateYear(value)) return
    throw new TypeError(
      `envelope: ${place} is ${value}, which the format "${kind}" cannot express. Correct the row, or declare the member without the format.`
    )
  }
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) throw inexact(place)
  if (ArrayBuffer.isView(value)) throw new TypeError(`envelope: ${place} is bytes, and its schema a string. Return a text, such as base64.`)
}

/** Throws a `TypeError` for a value that a serializer would write as null or with other digits. An integer beyond 2^53 - 1 may be rounded already. */
export function requireExact(value: unknown, kind: NumberKind | undefined, place: string): void {
  if (typeof value === 'number') {
    if (!Number.isFinite(value))
      throw new TypeError(
        `envelope: ${place} is not a finite number, which JSON does not have. Return a number, or null where the schema allows it.`
      )
    if (kind === 'integer' && Math.abs(value) > Number.MAX_SAFE_INTEGER) throw inexact(place)
  } else if (typeof value === 'string' ? kind !== undefined : typeof value === 'bigint' && kind === 'number') {
    // The serializer writes the digits of a bigint in an integer.
    if (losesDigits(String(value))) throw inexact(place)
  }
}

/** Throws a `TypeError` like {@link requireExact} for a number at any depth of a value whose schema does not describe it. */
export function requireFinite(value: unknown, place: string): void {
  if (typeof value === 'object' && value !== null && !('toJSON' in value))
    for (const member of Object.values(value)) requireFinite(member, place)
  else requireExact(value, undefined, place)
}

function inexact(place: string) {
  return new TypeError(
    `envelope: ${place} is an integer beyond 2^53 - 1, whose digits would be lost. Return a bigint, or declare it as a string.`
  )
}
