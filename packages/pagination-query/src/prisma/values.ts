import type { ValueKind } from '../operators.ts'
import { valueText } from '../order/value-order.ts'

/** A field of a Prisma model, as the delegate tells of it. */
export interface PrismaField {
  readonly name: string
  /** `String`, `Int`, `Decimal` …, or the name of an enum. */
  readonly type: string
  readonly isEnum: boolean
  /** The values of a discrete type in their order: Prisma compares neither booleans nor enums. */
  readonly choices: readonly (string | boolean)[] | undefined
}

/** A value for Prisma: what was asked for, the next smaller value of the field's type, or the smallest one, which is larger. */
export interface Rounded {
  readonly value: unknown
  readonly is: 'exact' | 'smaller' | 'larger'
}

const limits: Readonly<Record<string, readonly [min: bigint, max: bigint]>> = {
  Int: [-(2n ** 31n), 2n ** 31n - 1n],
  BigInt: [-(2n ** 63n), 2n ** 63n - 1n]
}

/**
 * Reads a value for a field. Prisma and the database refuse what is out of the range of an integer, and Prisma cuts times after
 * the millisecond without a word, so a value that the field can't have is rounded here, where the comparison can make up for it.
 */
export function readValue({ type }: PrismaField, kind: ValueKind, text: string): Rounded {
  if (type === 'DateTime') return kind === 'date' ? exactly(new Date(`${text}T00:00:00Z`)) : wholeMilliseconds(text)
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

// The digits of a fraction count upward before 1970 too.
function wholeMilliseconds(text: string): Rounded {
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

/** The text of a value that Prisma answered; no digit of a `Decimal` or `BigInt` is lost. */
export function textOf(kind: ValueKind, value: unknown): string | null {
  return valueText(kind, plainDecimal(value))
}

/** A value as rows carry it: times, dates and decimals as text. */
export function answerOf(kind: ValueKind | undefined, value: unknown): unknown {
  return value instanceof Date && (kind === 'date' || kind === 'date-time') ? valueText(kind, value) : plainDecimal(value)
}

// Prisma's Decimal writes large and small numbers with an exponent unless it is told not to.
function plainDecimal(value: unknown) {
  return isDecimal(value) ? value.toFixed() : value
}

function isDecimal(value: unknown): value is { toFixed(): string } {
  return typeof value === 'object' && value !== null && 'toFixed' in value && typeof value.toFixed === 'function'
}
