/** The kind of the values of a field. It determines the operators of the field, and how its values are parsed and compared. */
export type ValueKind = 'string' | 'enum' | 'uuid' | 'integer' | 'decimal' | 'boolean' | 'date' | 'date-time'

/** Converts a value of a row to text, or returns null for null and undefined. Numbers are written without an exponent. */
export function valueText(kind: ValueKind, value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return kind === 'date' ? value.toISOString().slice(0, 10) : value.toISOString()
  const text = (value as { toString(): string }).toString()
  if (typeof value !== 'number' || !text.includes('e')) return text
  return value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 100 })
}

/**
 * Returns a sortable form of a value's text: comparing two such forms with `===` and `<` gives the equality and the order of the values, with
 * strings by code point, numbers to the last digit, and times to the microsecond in any time zone.
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

/** Returns the digits of a whole number that a database wrote, also as 5.00 or 1.6e+07; undefined if the text is not a whole number. */
export function wholeDigits(text: string): string | undefined {
  const [, digits] = /^(-?\d+)(?:\.0+)?$/.exec(text) ?? []
  if (digits !== undefined) return digits
  return /^-?\d(?:\.\d+)?e\+?\d+$/.test(text) && Number.isInteger(Number(text)) ? BigInt(Number(text)).toString() : undefined
}

// JavaScript compares UTF-16 code units, which puts an emoji before U+FFFD. The bytes of UTF-8 are in the order of code points.
function codePointOrder(text: string) {
  return Buffer.from(text, 'utf8').toString('latin1')
}

// The number of integer digits comes first, so that digits compare from the left. In a negative number, each digit is replaced by
// its complement, and an end mark above all digits follows: of two such numbers with the same start, the longer is smaller.
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
  if (!found) throw new TypeError(`pagination-query: "${text}" is not a valid number or date-time.`)
  return found
}

/** Returns whether a text starts with a valid calendar day, such as 2026-01-31. The year may have more than four digits. */
export function isCalendarDay(text: string): boolean {
  const [year = 0, month = 0, day = 0] = text.split('-', 3).map((part) => Number.parseInt(part, 10))
  // The calendar repeats after 400 years, and a Date has no year above 275,760.
  const date = new Date(Date.UTC(2000 + (year % 400), month - 1, day))
  return year > 0 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}
