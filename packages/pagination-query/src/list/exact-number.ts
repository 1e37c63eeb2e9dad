import { orderText, valueText, wholeDigits } from './value-text.ts'

// A number with up to 15 digits is the same after a conversion to a number of JavaScript and back.
const fewDigits = /^-?(?=[\d.]{1,15}(?:e|$))\d+(?:\.\d+)?(?:e[+-]?\d{1,2})?$/
const plainDecimal = /^-?\d+(?:\.\d+)?$/

// Returns undefined for a value that the serializer would round, or that JSON does not have: an integer beyond ±(2⁵³−1) that the driver has already
// rounded, a fraction in an integer, a decimal with more digits than a number of JavaScript, and `NaN`.
/** Returns a number as the serializer writes it, or undefined if that would round it. */
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
