import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { bodyTooNested } from './errors.ts'

const deepest = 1000

/**
 * What a retry must have in common with its first request: method, URI with its query, and body (rule I5). The order of an object's
 * members does not matter. Throws a `TypeError` for a body that is no JSON value, text or bytes.
 */
export function fingerprintOf(method: string, uri: string, body: unknown): string {
  return hash('sha256', `${method} ${uri}\n${canonical(body, 0)}`, 'base64url')
}

/** Refuses a body that was not read, as a multipart one that is a stream: a retry with another would look the same. */
export function requireBody({ body, headers }: FastifyRequest): unknown {
  const isSent = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
  if (body === undefined && isSent) throw incomparable()
  return body
}

function canonical(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null) return scalar(value)
  if (depth > deepest) throw bodyTooNested(deepest)
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join()}]`
  if (value instanceof Uint8Array) return `bytes ${hash('sha256', value, 'base64url')}`
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw incomparable()
  const members = value as Readonly<Record<string, unknown>>
  let text = '{'
  for (const name of Object.keys(members).sort()) {
    const member = members[name]
    if (member !== undefined) text += `${JSON.stringify(name)}:${canonical(member, depth + 1)},`
  }
  return `${text}}`
}

function scalar(value: unknown) {
  switch (typeof value) {
    case 'undefined':
      return ''
    case 'bigint':
      return String(value)
    case 'function':
    case 'symbol':
      throw incomparable()
    default:
      return JSON.stringify(value)
  }
}

function incomparable() {
  return new TypeError(
    'idempotency: the body is no JSON value, text or bytes, so a retry can not be told from another request. Give the route idempotency.comparedBody.'
  )
}
