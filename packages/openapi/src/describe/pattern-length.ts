const atom = /\\(?:u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|p\{[^}]*\}|c[a-z]|[^])|\[(?:\\[^]|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<\w+>))?|[^]/iuy
const quantifier = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y

/**
 * Returns the maximum number of characters of a text that matches a pattern of JSON Schema (ECMA-262), for example 3 for `^[A-Z]{3}$`. Infinity if there
 * is none, and for a pattern with back references.
 */
export function maxLengthOfPattern(pattern: string): number {
  let at = 0
  const whole = alternatives()
  // An alternative without both anchors allows anything before or after it. A parenthesis too many makes the pattern invalid.
  return at === pattern.length && whole.isAnchored ? whole.length : Number.POSITIVE_INFINITY

  function alternatives() {
    let [length, isAnchored] = [0, true]
    do {
      const one = sequence()
      length = Math.max(length, one.length)
      isAnchored &&= one.isAnchored
    } while (next('|'))
    return { length, isAnchored }
  }

  function sequence() {
    const isFromStart = next('^')
    let [length, isToEnd] = [0, false]
    while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') {
      isToEnd = next('$')
      if (!isToEnd) length += repeated(lengthOfAtom())
    }
    return { length, isAnchored: isFromStart && isToEnd }
  }

  function lengthOfAtom() {
    const text = match(atom)?.[0] ?? ''
    if (/^\\(?:[1-9]|k)/.test(text)) return Number.POSITIVE_INFINITY
    if (text === '^' || /^\\b$/i.test(text)) return 0
    if (!text.startsWith('(')) return 1
    const { length } = alternatives()
    next(')')
    return /^\(\?<?[=!]/.test(text) ? 0 : length
  }

  function repeated(length: number) {
    const [sign, min, comma, max] = match(quantifier) ?? []
    if (sign === undefined || sign.startsWith('?') || length === 0) return length
    return min === undefined || (comma === ',' && max === '') ? Number.POSITIVE_INFINITY : length * Number(max || min)
  }

  function next(sign: string) {
    const isNext = pattern[at] === sign
    if (isNext) at += 1
    return isNext
  }

  function match(form: RegExp) {
    form.lastIndex = at
    const found = form.exec(pattern)
    if (found !== null) at = form.lastIndex
    return found
  }
}
