import type { StandardIssue } from '@concordat/plugin-kit/json-schema'

/** The keyword and the parameters of JSON Schema that say the same as an issue. */
export interface Equivalent {
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
}

// The members of an issue of Zod 4. `code` says which of them it has.
interface ZodIssue {
  readonly code?: unknown
  readonly format?: unknown
  readonly origin?: unknown
  readonly minimum?: unknown
  readonly maximum?: unknown
  readonly inclusive?: unknown
  readonly divisor?: unknown
  readonly expected?: unknown
  readonly values?: unknown
}

// Of Valibot.
interface ValibotIssue {
  readonly kind?: unknown
  readonly type?: unknown
  readonly received?: unknown
}

const dateTime = 'date-time, for example 2026-01-31T12:00:00Z'

// The names in the default messages of Zod, such as "Invalid ISO datetime". Any other message was written by the author of the schema, who is right.
const zodFormats = new Map([
  ['ISO datetime', dateTime],
  ['ISO date', 'date'],
  ['ISO time', 'time'],
  ['ISO duration', 'duration'],
  ['URL', 'uri'],
  ['email address', 'email'],
  ['UUID', 'uuid'],
  ['GUID', 'uuid'],
  ['IPv4 address', 'ipv4'],
  ['IPv6 address', 'ipv6'],
  ['MAC address', 'mac'],
  ['IPv4 range', 'cidrv4'],
  ['IPv6 range', 'cidrv6'],
  ['base64-encoded string', 'base64'],
  ['base64url-encoded string', 'base64url'],
  ['JSON string', 'json'],
  ['E.164 number', 'e164']
])

const valibotFormats = new Map([
  ['iso_timestamp', dateTime],
  ['iso_date_time', 'date-time without an offset'],
  ['iso_date', 'date'],
  ['iso_time', 'time'],
  ['iso_time_second', 'time'],
  ['url', 'uri'],
  ['email', 'email'],
  ['rfc_email', 'email'],
  ['uuid', 'uuid'],
  ['ip', 'ip'],
  ['ipv4', 'ipv4'],
  ['ipv6', 'ipv6'],
  ['base64', 'base64']
])

const limits: Readonly<Record<string, readonly [min: string, max: string]>> = {
  string: ['minLength', 'maxLength'],
  array: ['minItems', 'maxItems'],
  set: ['minItems', 'maxItems'],
  inclusive: ['minimum', 'maximum'],
  exclusive: ['exclusiveMinimum', 'exclusiveMaximum']
}
const numbers = new Set(['number', 'int', 'bigint'])

/**
 * Returns what says the same as the default message of an issue of Zod or Valibot, which is English only, or undefined for a message of the author of the
 * schema and for other libraries.
 */
export function equivalentOf(issue: StandardIssue): Equivalent | undefined {
  return zodEquivalent(issue as ZodIssue, issue.message) ?? valibotEquivalent(issue as ValibotIssue, issue.message)
}

function zodEquivalent(issue: ZodIssue, message: string): Equivalent | undefined {
  const { code, origin, inclusive, divisor, expected, values } = issue
  if (code === 'custom' && message === 'Invalid input') return { keyword: 'invalid', params: {} }
  if (code === 'invalid_format' && message.startsWith('Invalid ')) {
    const name = message.slice('Invalid '.length)
    const format = zodFormats.get(name) ?? (name.toLowerCase() === issue.format ? issue.format : undefined)
    return format === undefined ? undefined : { keyword: 'format', params: { format } }
  }
  if (code === 'too_small' && message.startsWith('Too small: expected ')) return limitOf(0, origin, issue.minimum, inclusive)
  if (code === 'too_big' && message.startsWith('Too big: expected ')) return limitOf(1, origin, issue.maximum, inclusive)
  if (code === 'not_multiple_of' && message.startsWith('Invalid number: must be a multiple of '))
    return { keyword: 'multipleOf', params: { multipleOf: divisor } }
  if (code === 'invalid_type' && message.startsWith('Invalid input: expected ')) return { keyword: 'type', params: { type: expected } }
  if (code === 'invalid_value' && Array.isArray(values) && /^Invalid (?:option|input): expected /.test(message))
    return { keyword: 'enum', params: { allowedValues: values } }
  return undefined
}

function limitOf(side: 0 | 1, origin: unknown, limit: unknown, inclusive: unknown): Equivalent | undefined {
  const name = numbers.has(String(origin)) ? (inclusive === true ? 'inclusive' : 'exclusive') : String(origin)
  const keyword = limits[name]?.[side]
  return keyword === undefined ? undefined : { keyword, params: { limit } }
}

function valibotEquivalent({ kind, type, received }: ValibotIssue, message: string): Equivalent | undefined {
  const format = valibotFormats.get(String(type))
  if (kind !== 'validation' || format === undefined || !message.endsWith(`: Received ${String(received)}`)) return undefined
  return { keyword: 'format', params: { format } }
}
