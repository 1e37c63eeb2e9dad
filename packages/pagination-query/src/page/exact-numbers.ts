import { orderText, valueText } from '../order/value-order.ts'

/** Returns the digits of a whole number that a database wrote, also as 5.00 or 1.6e+07; undefined if the text is not a whole number. */
export function wholeDigits(text: string): string | undefined {
  const [, digits] = /^(-?\d+)(?:\.0+)?$/.exec(text) ?? []
  if (digits !== undefined) return digits
  return /^-?\d(?:\.\d+)?e\+?\d+$/.test(text) && Number.isInteger(Number(text)) ? BigInt(Number(text)).toString() : undefined
}

// A number with up to 15 digits is the same after a conversion to a number of JavaScript and back.
const fewDigits = /^-?(?=[\d.]{1,15}(?:e|$))\d+(?:\.\d+)?(?:e[+-]?\d{1,2})?$/
const plainDecimal = /^-?\d+(?:\.\d+)?$/

/**
 * Returns the value of a row for a field that is a number in JSON, so that the serializer writes all its digits. Returns undefined for a value that
 * it would round, or that JSON does not have: an integer beyond ±(2⁵³−1) that the driver has already rounded, a fraction in an integer, a decimal
 * with more digits than a number of JavaScript, and `NaN`.
 */
export function exactNumber(type: 'integer' | 'number', value: unknown): number | bigint | undefined {
  if (typeof value === 'number') return (type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value)) ? value : undefined
  const text = String(value)
  if (type === 'integer') return wholeValue(text)
  return fewDigits.test(text) || isExact(text) ? Number(text) : undefined
}

// The serializer writes a bigint with all its digits.
function wholeValue(text: string) {
  const digits = wholeDigits(text)
  if (digits === undefined) return undefined
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits)
}

function isExact(text: string) {
  return plainDecimal.test(text) && orderText('decimal', text) === orderText('decimal', valueText('decimal', Number(text)) as string)
}
