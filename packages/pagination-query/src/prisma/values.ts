import { type ValueKind, valueText } from '../list/value-text.ts'

/** A field of a Prisma model, from the metadata of the delegate. */
export interface PrismaField {
  readonly name: string
  /** The type: `String`, `Int`, `Decimal` and so on, or the name of an enum. */
  readonly type: string
  readonly isEnum: boolean
  /** The values of a boolean or enum field in order, because Prisma does not compare such values. */
  readonly choices: readonly (string | boolean)[] | undefined
}

/** A value that a Prisma field can have: the exact one, the next smaller one, or the minimum of the type if the exact one is below it. */
export interface Rounded {
  readonly value: unknown
  readonly is: 'exact' | 'smaller' | 'larger'
}

const limits: Readonly<Record<string, readonly [min: bigint, max: bigint]>> = {
  Int: [-(2n ** 31n), 2n ** 31n - 1n],
  BigInt: [-(2n ** 63n), 2n ** 63n - 1n]
}

// Prisma and the database reject integers out of range, and Prisma silently truncates times to milliseconds. The comparison compensates for a value that
// is rounded here.
/** Converts the text of a value to the type of a Prisma field. */
export function readValue({ type }: PrismaField, kind: ValueKind, text: string): Rounded {
  if (type === 'DateTime') return kind === 'date' ? exactly(new Date(`${text}T00:00:00Z`)) : wholeMs(text)
  if (type === 'Boolean') return exactly(text === 'true')
  if (type === 'Float') return exactly(Number(text))
  const [min, max] = limits[type] ?? []
  if (min === undefined || max === undefined) return exactly(text)
  const { value, is } = wholeNumber(text, min, max)
  return { value: type === 'Int' ? Number(value) : value, is }
}

function exactly(value: unknown): Rounded {
  return { value, is: 'exact' }
}

// The digits of a fraction count upward, also before 1970.
function wholeMs(text: string): Rounded {
  const [, whole = '', finer = '', zone = ''] = /^(.{19}(?:\.\d{1,3})?)(\d*)(.+)$/.exec(text.toUpperCase()) ?? []
  return { value: new Date(whole + zone), is: /^0*$/.test(finer) ? 'exact' : 'smaller' }
}

function wholeNumber(text: string, min: bigint, max: bigint): Rounded {
  const [whole = '', fraction = ''] = text.split('.')
  const isWhole = /^0*$/.test(fraction)
  const floor = BigInt(whole) - (isWhole || !text.startsWith('-') ? 0n : 1n)
  if (floor < min) return { value: min, is: 'larger' }
  if (floor > max) return { value: max, is: 'smaller' }
  return { value: floor, is: isWhole ? 'exact' : 'smaller' }
}

/** Converts a value from Prisma to text, with all digits of a `Decimal` or `BigInt`. */
export function textOf(kind: ValueKind, value: unknown): string | null {
  return valueText(kind, plainDecimal(value))
}

/** Converts a value from Prisma to its form in a row: times, dates and decimals become text. */
export function responseOf(kind: ValueKind | undefined, value: unknown): unknown {
  return value instanceof Date && (kind === 'date' || kind === 'date-time') ? valueText(kind, value) : plainDecimal(value)
}

// By default, Prisma's Decimal writes large and small numbers with an exponent.
function plainDecimal(value: unknown) {
  return isDecimal(value) ? value.toFixed() : value
}

function isDecimal(value: unknown): value is { toFixed(): string } {
  return typeof value === 'object' && value !== null && 'toFixed' in value && typeof value.toFixed === 'function'
}
