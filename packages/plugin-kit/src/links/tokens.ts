// The tokens of this project, except `whpk_`, which is public. A UUID with a prefix is an id.
const own =
  /(?<![\w-])(?:(?:ak|pr|rt)_(?![\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}(?![\w-]))[\w-]{32,}|whs(?:ec|k)_[\w+/-]{16,}={0,2})/g
// The member "alg", which every JOSE header has (RFC 7515 §4.1.1), in base64url: it can begin at any of the three bytes of a group.
const header = /ImFsZy|JhbGci|iYWxnI/
const dotted = /[\w.-]+/g
const candidate = /ImFsZy|JhbGci|iYWxnI|\b(?:ak|pr|rt|whsec|whsk)_/

// A character can be encoded any number of times.
const escaped = /%(?:25)*([\da-f]{2})/gi
const character = /%(?:25)*[\da-f]{2}|[^]/gi
const mark = '\u{E000}'

/**
 * Returns a text with `(hidden)` in place of the tokens that can be recognized by their form: JWTs, which are at least three parts of base64url, the
 * first of them a JOSE header, and the refresh tokens (`rt_`), password resets (`pr_`), API keys (`ak_`) and webhook secrets (`whsec_`, `whsk_`) of
 * this project, also when they are percent-encoded. Takes linear time and never throws.
 */
export function textWithoutTokens(text: string): string {
  const plain = text.includes('%') ? text.replace(escaped, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))) : text
  if (!candidate.test(plain)) return text
  // The marks are as long as the tokens, so that they have the positions of the characters to hide.
  const marked = plain.replace(own, ({ length }) => mark.repeat(length)).replace(dotted, withoutJwt)
  if (marked === plain) return text
  let position = 0
  return text.replace(character, (written) => (marked[position++] === mark ? mark : written)).replace(/\u{E000}+/gu, '(hidden)')
}

function withoutJwt(text: string) {
  const parts = text.split('.')
  const first = parts.slice(0, -2).findIndex((part) => header.test(part))
  return first === -1 ? text : [...parts.slice(0, first), ''].join('.').padEnd(text.length, mark)
}
