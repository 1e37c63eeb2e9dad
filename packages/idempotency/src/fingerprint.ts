import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { bodyTooNested } from './errors.ts'

const deepest = 1000

/**
 * What a retry must have in common with its first request: method, URI with its query, and body (rule I5). The order of an object's
 * members does not matter. Throws a `TypeError` for a body that is no JSON value, text or bytes.
 */
export function fingerprintOf(method: string, uri: string, body: unknown): string {
  // To copy a body takes longer than to look.
  const text = JSON.stringify(isOrdered(body, 0) ? body : ordered(body, 0))
  return hash('sha256', `${method} ${uri}\n${text}`, 'base64url')
}

/** Refuses a body that was not read, as a multipart one that is a stream: a retry with another would look the same. */
export function requireBody({ body, headers }: FastifyRequest): unknown {
  const isSent = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
  if (body === undefined && isSent) throw incomparable()
  return body
}

/** Whether it is a JSON value with the members of each object in order. */
function isOrdered(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return !outsideJson.has(typeof value)
  requireShallow(depth)
  if (Array.isArray(value)) return value.every((item) => isOrdered(item, depth + 1))
  if (!hasMembers(value)) return false
  let last = ''
  for (const name of Object.keys(value)) {
    if (name < last || !isOrdered(value[name], depth + 1)) return false
    last = name
  }
  return true
}

const outsideJson: ReadonlySet<string> = new Set(['bigint', 'function', 'symbol'])

/** The value with the members of each object in one order, whatever theirs was. */
function ordered(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return ofScalar(value)
  requireShallow(depth)
  if (Array.isArray(value)) return value.map((item) => ordered(item, depth + 1))
  if (value instanceof Uint8Array) return marked('bytes', hash('sha256', value, 'base64url'))
  if (!hasMembers(value)) throw incomparable()
  // With Object's prototype: V8 writes an object without one several times slower.
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(value).sort()) {
    const member = ordered(value[name], depth + 1)
    if (name === '__proto__') Object.defineProperty(copy, name, { value: member, enumerable: true })
    else copy[name] = member
  }
  return copy
}

function ofScalar(value: unknown) {
  if (typeof value === 'bigint') return marked('bigint', String(value))
  if (outsideJson.has(typeof value)) throw incomparable()
  return value
}

// A text that JSON.stringify writes of no other value: it never escapes a letter.
function marked(kind: string, text: string) {
  return (JSON as unknown as { rawJSON(text: string): object }).rawJSON(`"\\u006fther ${kind} ${text}"`)
}

function requireShallow(depth: number) {
  if (depth > deepest) throw bodyTooNested(deepest)
}

function hasMembers(value: object): value is Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function incomparable() {
  return new TypeError(
    'idempotency: the body is no JSON value, text or bytes, so a retry can not be told from another request. Give the route idempotency.comparedBody.'
  )
}
