import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { parseItem } from 'structured-headers'

/** `both`: the quoted string of the draft, and the bare key that most services take. `quoted`: the first alone. */
export type KeySyntax = 'both' | 'quoted'

const field = 'idempotency-key'
// Most keys, and nothing in them that has to be unescaped.
const plainString = /^"[ !#-[\]-~]{1,255}"$/
// Visible ASCII but for what would let one bare key be read as another thing: the quote, the backslash and the separators.
const bareKey = /^[!#-+\--:<-[\]-~]{1,255}$/

/**
 * The key of a request: a structured-field String (RFC 9651 §3.3.3, draft-ietf-httpapi-idempotency-key-header-07 §2.1), parameters
 * ignored, or the same key bare. `undefined` when there is none, `null` when it can't be read as one.
 */
export function readKey({ headers, rawHeaders }: IncomingMessage, syntax: KeySyntax): string | undefined | null {
  const value = headers[field]
  if (value === undefined) return undefined
  if (typeof value !== 'string' || (value.includes(',') && isRepeated(rawHeaders))) return null
  if (plainString.test(value)) return value.slice(1, -1)
  if (value.startsWith('"')) return readString(value)
  return syntax === 'both' && bareKey.test(value) ? value : null
}

/** Under what a store keeps a key: of bounded length, without the secrets of either, and no two pairs alike. */
export function recordKey(scope: string, key: string): string {
  return hash('sha256', `${scope.length}:${scope}${key}`, 'base64url')
}

// Node joins two fields with a comma, and two halves of a string would make one.
function isRepeated(rawHeaders: readonly string[]) {
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === field).length > 1
}

function readString(value: string) {
  try {
    const [key] = parseItem(value)
    return typeof key === 'string' && key !== '' && key.length <= 255 ? key : null
  } catch {
    return null
  }
}
