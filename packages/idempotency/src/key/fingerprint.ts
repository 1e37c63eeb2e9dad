import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { errors } from '../errors.ts'

const deepest = 1000

/**
 * Returns a hash of the parts that a retry must share with the first request: method, URI with its query, and body (rule I5), whatever the order of
 * members and the spelling of the URI (RFC 3986 §6.2.2). Throws a `TypeError` for a body that is not a JSON value, text or bytes.
 */
export function fingerprintOf(method: string, uri: string, body: unknown): string {
  return hash('sha256', `${method} ${canonicalUri(uri)}\n${canonical(body, 0)}`, 'base64url')
}

/** Returns the parsed body. Throws for a body that was not read, such as a multipart stream: a retry with another body would look the same. */
export function requireBody({ body, headers }: FastifyRequest): unknown {
  const isSent = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
  if (body === undefined && isSent) throw incomparable()
  return body
}

function canonicalUri(uri: string) {
  return uri.includes('%') ? uri.replace(/%[\da-f]{2}/gi, decodeUnreserved) : uri
}

function decodeUnreserved(code: string) {
  const character = String.fromCharCode(Number.parseInt(code.slice(1), 16))
  return /[\w.~-]/.test(character) ? character : code.toUpperCase()
}

// Each value is prefixed with its kind and, where its end is not visible, its length: the result is unambiguous without escapes.
function canonical(value: unknown, depth: number): string {
  if (typeof value === 'string') return canonicalText(value)
  if (typeof value !== 'object' || value === null) return canonicalScalar(value)
  if (depth > deepest) throw errors.create('JSON_TOO_DEEP', { params: { limit: deepest } })
  if (Array.isArray(value)) {
    let text = '['
    for (const item of value) text += canonical(item, depth + 1)
    return `${text}]`
  }
  if (value instanceof Uint8Array) return `#${hash('sha256', value, 'base64url')}`
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw incomparable()
  const members = value as Readonly<Record<string, unknown>>
  let text = '{'
  for (const name of sortedNames(members)) {
    const member = members[name]
    if (member !== undefined) text += canonicalText(name) + canonical(member, depth + 1)
  }
  return `${text}}`
}

// A lone surrogate has no encoding in UTF-8, and all of them would be hashed as the same replacement character.
function canonicalText(value: string) {
  if (value.isWellFormed()) return `"${value.length}:${value}`
  const escaped = JSON.stringify(value)
  return `'${escaped.length}:${escaped}`
}

// Most objects have few members, often in order already, and sorting takes longer than checking the order.
function sortedNames(members: object) {
  const names = Object.keys(members)
  for (let n = 1; n < names.length; n += 1) {
    if ((names[n - 1] as string) > (names[n] as string)) return names.sort()
  }
  return names
}

function canonicalScalar(value: unknown) {
  if (typeof value === 'function' || typeof value === 'symbol') throw incomparable()
  return typeof value === 'bigint' ? `${value}n,` : `${String(value)},`
}

function incomparable() {
  return new TypeError(
    'idempotency: the body is not a JSON value, text or bytes, so a retry cannot be recognized. Set config.idempotency.comparedBody on the route.'
  )
}
