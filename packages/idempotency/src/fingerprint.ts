import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { bodyTooNested } from './errors.ts'

const deepest = 1000

/**
 * What a retry must have in common with its first request: method, URI with its query, and body (rule I5). The order of an object's
 * members does not matter. Throws a `TypeError` for a body that is no JSON value, text or bytes.
 */
export function fingerprintOf(method: string, uri: string, body: unknown): string {
  return hash('sha256', `${method} ${uri}\n${JSON.stringify(comparable(body, 0))}`, 'base64url')
}

/** Refuses a body that was not read, as a multipart one that is a stream: a retry with another would look the same. */
export function requireBody({ body, headers }: FastifyRequest): unknown {
  const isSent = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
  if (body === undefined && isSent) throw incomparable()
  return body
}

// Arrays with a tag in front, so that JSON.stringify writes it all at once and no two values alike.
function comparable(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return scalar(value)
  if (depth > deepest) throw bodyTooNested(deepest)
  if (Array.isArray(value)) {
    const parts: unknown[] = ['[']
    for (const item of value) parts.push(comparable(item, depth + 1))
    return parts
  }
  if (value instanceof Uint8Array) return ['bytes', hash('sha256', value, 'base64url')]
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw incomparable()
  const members = value as Readonly<Record<string, unknown>>
  const parts: unknown[] = ['{']
  for (const name of sortedNames(members)) {
    const member = members[name]
    if (member !== undefined) parts.push(name, comparable(member, depth + 1))
  }
  return parts
}

// Most objects come with few members and often in order, and to sort them takes longer than to look.
function sortedNames(members: object) {
  const names = Object.keys(members)
  for (let n = 1; n < names.length; n += 1) {
    if ((names[n - 1] as string) > (names[n] as string)) return names.sort()
  }
  return names
}

function scalar(value: unknown) {
  if (typeof value === 'function' || typeof value === 'symbol') throw incomparable()
  return typeof value === 'bigint' ? ['bigint', String(value)] : value
}

function incomparable() {
  return new TypeError(
    'idempotency: the body is no JSON value, text or bytes, so a retry can not be told from another request. Give the route idempotency.comparedBody.'
  )
}
