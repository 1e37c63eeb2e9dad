import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { parseItem } from 'structured-headers'

const field = 'idempotency-key'
// Matches most keys: strings in which nothing has to be unescaped.
const plainString = /^"[ !#-[\]-~]{1,255}"$/
// Visible ASCII except the characters that would make a bare key ambiguous: the quote, the backslash and the separators.
const bareKey = /^[!#-+\--:<-[\]-~]{1,255}$/

/**
 * Returns the key of a request: a structured-field String (RFC 9651 §3.3.3, draft-ietf-httpapi-idempotency-key-header §2.1), or the key without quotes,
 * which most services accept. `undefined` when the header is missing, `null` when it is invalid.
 */
export function readKey({ headers, rawHeaders }: IncomingMessage): string | undefined | null {
  const value = headers[field]
  if (value === undefined) return undefined
  if (typeof value !== 'string' || (value.includes(',') && isRepeated(rawHeaders))) return null
  if (plainString.test(value)) return value.slice(1, -1)
  if (value.startsWith('"')) return readString(value)
  return bareKey.test(value) ? value : null
}

/** Returns the key of a record in the store: a hash of scope and key, which has a fixed length and contains no secrets. */
export function recordKey(scope: string, key: string): string {
  return hash('sha256', `${scope.length}:${scope}${key}`, 'base64url')
}

/** Returns the client of a record in the store: a hash of the scope. */
export function clientOf(scope: string): string {
  return hash('sha256', scope, 'base64url')
}

// Node.js joins repeated headers with a comma, so two halves of a string could form a valid one.
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
