import { type Problem, report } from './errors.ts'

/** The headers that an operation may set itself: about the body, preconditions, idempotency key and preferences of a single request. */
export const operationHeaders: ReadonlySet<string> = new Set([
  'accept',
  'content-type',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'idempotency-key',
  'prefer'
])

/** The maximum length of the value of a header, in characters. */
export const maxHeaderLength = 4096
const visible = /^[\t !-~\u0080-\u00ff]*$/
/** Recognizes the media types of JSON, with parameters. */
export const jsonType = /^application\/(?:json|[\w!#$&^.-]+\+json) *(?:;|$)/i

/** Returns the valid headers of an operation, with names in lower case, and adds the problems with the invalid headers to `problems`. */
export function readHeaders(headers: unknown, field: string, forwarded: ReadonlySet<string>, problems: Problem[]): Record<string, string> {
  const read: Record<string, string> = {}
  if (headers === undefined) return read
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) {
    report(problems, { field, key: 'object' })
    return read
  }
  for (const [sentName, value] of Object.entries(headers)) {
    const name = sentName.toLowerCase()
    // A name sent by the client is repeated in the error only if it is a plain header name.
    const path = /^[\w-]{1,64}$/.test(name) ? `${field}.${sentName}` : field
    const problem = problemOf(name, value, forwarded) ?? (name in read ? ({ key: 'headerRepeated' } as const) : undefined)
    if (problem) report(problems, { field: path, ...problem })
    else read[name] = value as string
  }
  return read
}

function problemOf(name: string, value: unknown, forwarded: ReadonlySet<string>): Omit<Problem, 'field'> | undefined {
  if (!operationHeaders.has(name)) return { key: forwarded.has(name) ? 'headerOfBatch' : 'headerForbidden' }
  if (typeof value !== 'string' || value.length > maxHeaderLength || !visible.test(value))
    return { key: 'headerValue', params: { limit: maxHeaderLength } }
  return name === 'content-type' && !jsonType.test(value) ? { key: 'contentType' } : undefined
}
