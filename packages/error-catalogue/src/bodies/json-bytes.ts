/** What the bytes of a JSON text show before it is parsed. */
export interface ReadBytes {
  /** The limit that the text exceeds; reading ends there. */
  readonly exceeded: 'depth' | 'members' | undefined
  /** Whether a string or a number may have a value that cannot be stored: NUL, an unpaired surrogate, lost digits, infinity. */
  readonly isSuspect: boolean
  /** Where the integers start and end that may lose digits. */
  readonly longIntegers: readonly (readonly [start: number, end: number])[]
}

const space = 0x20
const quote = 0x22
const comma = 0x2c
const minus = 0x2d
const point = 0x2e
const zero = 0x30
const nine = 0x39
const backslash = 0x5c
const letterD = 0x64
const letterE = 0x65
const letterU = 0x75
// `[` and `]` are these with one bit less.
const openingBrace = 0x7b
const closingBrace = 0x7d
const lowerCase = 0x20
// Integers of up to 15 digits are exact, and with an exponent of two digits they are finite.
const exactDigits = 15
const finiteExponentDigits = 2

/**
 * Counts the members of objects and arrays in a JSON text and its depth, in about a millisecond per megabyte, so that what exceeds a limit is never
 * parsed. Of a text that is not JSON it counts what looks like members; the parser refuses it afterwards.
 */
export function readJsonBytes(bytes: Uint8Array, limits: { readonly depth: number; readonly members: number }): ReadBytes {
  const values = new ValueReader(bytes)
  let members = 0
  let depth = 0
  let isOpened = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number
    if (byte <= space) continue
    // An empty container has no member, and another as many as commas and one more.
    if (isOpened && (byte | lowerCase) !== closingBrace) members += 1
    isOpened = false
    if (byte === quote) {
      at = values.readString(at + 1)
    } else if (byte === comma) {
      members += 1
    } else if ((byte | lowerCase) === openingBrace) {
      depth += 1
      if (depth > limits.depth) return values.result('depth')
      isOpened = true
    } else if ((byte | lowerCase) === closingBrace) {
      depth -= 1
    } else if (isDigit(byte)) {
      at = values.readNumber(at)
    }
    if (members > limits.members) return values.result('members')
  }
  return values.result(undefined)
}

/** Reads the strings and numbers of a JSON text, and notes what cannot be stored. Each method returns the place of the last byte that it has read. */
class ValueReader {
  readonly #bytes: Uint8Array
  readonly #longIntegers: (readonly [start: number, end: number])[] = []
  #isSuspect = false

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  result(exceeded: ReadBytes['exceeded']): ReadBytes {
    return { exceeded, isSuspect: this.#isSuspect, longIntegers: this.#longIntegers }
  }

  /** From the place after the opening quote to that of the closing one. */
  readString(from: number): number {
    let at = from
    for (; at < this.#bytes.length; at += 1) {
      const byte = this.#bytes[at]
      if (byte === quote) break
      if (byte === backslash) at = this.#readEscape(at + 1)
    }
    return at
  }

  // A pair of surrogates is one character.
  #readEscape(at: number): number {
    const bytes = this.#bytes
    if (bytes[at] !== letterU) return at
    const half = surrogateHalf(bytes, at)
    const isPair = half === 'high' && bytes[at + 5] === backslash && bytes[at + 6] === letterU && surrogateHalf(bytes, at + 6) === 'low'
    if (isPair) return at + 10
    if (half !== undefined || isNul(bytes, at)) this.#isSuspect = true
    return at
  }

  readNumber(from: number): number {
    const bytes = this.#bytes
    const end = afterDigits(bytes, from)
    const at = bytes[end] === point ? afterDigits(bytes, end + 1) : end
    const hasExponent = ((bytes[at] ?? 0) | lowerCase) === letterE
    if (hasExponent) return this.#readExponent(at + 1, end - from)
    // An integer that starts with zero is not JSON.
    if (at === end && end - from > exactDigits && bytes[from] !== zero) this.#longIntegers.push([from, end])
    if (end - from > exactDigits) this.#isSuspect = true
    return at - 1
  }

  #readExponent(from: number, digits: number): number {
    const start = isDigit(this.#bytes[from] ?? 0) ? from : from + 1
    const end = afterDigits(this.#bytes, start)
    if (digits > exactDigits || (this.#bytes[from] !== minus && end - start > finiteExponentDigits)) this.#isSuspect = true
    return end - 1
  }
}

/** Of the escape whose `u` is at this place. */
function surrogateHalf(bytes: Uint8Array, at: number): 'high' | 'low' | undefined {
  if (((bytes[at + 1] ?? 0) | lowerCase) !== letterD) return undefined
  const digit = bytes[at + 2] ?? 0
  if (digit >= zero && digit < zero + 8) return undefined
  return digit === zero + 8 || digit === nine || (digit | lowerCase) < letterD - 1 ? 'high' : 'low'
}

function isNul(bytes: Uint8Array, at: number) {
  return bytes[at + 1] === zero && bytes[at + 2] === zero && bytes[at + 3] === zero && bytes[at + 4] === zero
}

function afterDigits(bytes: Uint8Array, from: number) {
  let at = from
  while (isDigit(bytes[at] ?? 0)) at += 1
  return at
}

function isDigit(byte: number) {
  return byte >= zero && byte <= nine
}
