import { isObject, parseExactly } from '@concordat/plugin-kit/json-schema'
import { type RouteSecrets, secretsFor } from './secret-members.ts'
import type { StoredResponse } from './store.ts'

/** What decides on the form in which a response is stored. */
export interface FormTerms {
  /** The secrets in the responses of the route. */
  readonly secrets: RouteSecrets
  /** Whether the stored responses of the client have reached `maxClientBytes`. */
  readonly isOverLimit: boolean
}

/** The header field that tells how a request with a key was treated. */
export const statusField = 'idempotency-status'

// Less than what a store counts for any record, without the record and its header fields.
const maxShortBytes = 512

const isJson = /[/+]json\b/i

/**
 * Returns a response in the form in which it is stored: without its secret members and, for a client over its limit, without its data. Then its
 * header fields say that it is incomplete.
 */
export function storedFormOf(response: StoredResponse, terms: FormTerms): StoredResponse {
  const { status, headers, body } = response
  const stored = body === null ? null : bodyForm(body, status, headers, terms)
  return stored === body ? response : incomplete(response, stored)
}

/** Returns a response with another body, and header fields that say that it is incomplete. */
export function incomplete({ status, headers, body: _body }: StoredResponse, body: StoredResponse['body']): StoredResponse {
  const { 'content-type': type, 'content-encoding': _coding, ...others } = headers
  return {
    status,
    headers: { ...others, ...(type !== undefined && body !== '' && { 'content-type': type }), [statusField]: 'incomplete' },
    body
  }
}

/**
 * Returns a body in the form in which it is stored, or `''` if that form has nothing or cannot be made: what is not JSON cannot be reduced to a part.
 */
export function bodyForm(
  body: string | Uint8Array,
  status: number,
  headers: StoredResponse['headers'],
  { secrets, isOverLimit }: FormTerms
): string | Uint8Array {
  const own = secrets.size === 0 ? undefined : secretsFor(secrets, status)
  // Errors are short and have no data, and clients depend on what they list.
  const isReduced = isOverLimit && status < 400 && body.length > maxShortBytes
  if ((own === undefined && !isReduced) || body.length === 0) return body
  if (headers['content-encoding'] !== undefined || !isJson.test(headers['content-type'] ?? '')) return ''
  try {
    const value = parseExactly(String(typeof body === 'string' ? body : Buffer.from(body)))
    const open = own === undefined ? value : own.removedFrom(value)
    const form = isReduced ? withoutData(open) : open
    return form === value ? body : (JSON.stringify(form) ?? '')
  } catch {
    return ''
  }
}

/** Returns a body without its data: of a resource, or each of a list, only id and links remain. Those of an envelope remain too. */
function withoutData(value: unknown): unknown {
  if (isObject(value) && 'data' in value && '_links' in value) return { ...value, data: identityOf(value['data']) }
  return typeof value === 'object' && value !== null ? identityOf(value) : undefined
}

function identityOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(identityOf)
  const { id, _links: links } = isObject(value) ? value : {}
  return { ...(id !== undefined && { id }), ...(links !== undefined && { _links: links }) }
}
