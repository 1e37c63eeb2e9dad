import type { ValueKind } from '../operators.ts'

/** The text of a value as rows carry it; null when there is none. Numbers are written without an exponent. */
export function valueText(kind: ValueKind, value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return kind === 'date' ? value.toISOString().slice(0, 10) : value.toISOString()
  const text = (value as { toString(): string }).toString()
  if (typeof value !== 'number' || !text.includes('e')) return text
  return value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 100 })
}

/**
 * Makes a text from the text of a value, so that `===` and `<` between two such texts say what equality and order of the values
 * are: strings by code point, numbers to the last digit, times to the microsecond whatever their zone.
 */
export function orderText(kind: ValueKind, text: string): string {
  switch (kind) {
    case 'integer':
    case 'decimal':
      return numberOrder(text)
    case 'date-time':
      return timeOrder(text)
    case 'uuid':
      return text.toLowerCase()
    default:
      return codePointOrder(text)
  }
}

// JavaScript compares UTF-16 units, which puts an emoji before U+FFFD. The bytes of UTF-8 are in the order of code points.
function codePointOrder(text: string) {
  return Buffer.from(text, 'utf8').toString('latin1')
}

// The number of whole digits comes first, so that digits compare from the left. A negative number has each digit replaced by
// its complement, and an end mark above all digits: of two such numbers with the same beginning the longer one is smaller.
function numberOrder(text: string) {
  const [, minus, whole = '', fraction = ''] = parts(/^(-?)0*(\d*)(?:\.(\d*?)0*)?$/, text)
  const digits = `${String(whole.length).padStart(6, '0')}${whole}${fraction}`
  if (minus !== '-' || whole + fraction === '') return `1${digits}`
  return `0${digits.replace(/\d/g, (digit) => String(9 - Number(digit)))}~`
}

function timeOrder(text: string) {
  const [, before = '', fraction = '', zone = ''] = parts(/^(.{19})(?:\.(\d+))?(.+)$/, text.toUpperCase())
  return `${new Date(before + zone).toISOString().slice(0, 19)}.${fraction.padEnd(6, '0')}`
}

function parts(form: RegExp, text: string) {
  const found = form.exec(text)
  if (!found) throw new TypeError(`"${text}" is not a value of its kind.`)
  return found
}
