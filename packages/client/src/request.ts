import type { CallOptions, LargeJson, OperationFacts } from './api.ts'

/** What a caller gives an operation, without its types. */
export interface Input extends CallOptions {
  readonly path?: Readonly<Record<string, string | number | bigint>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
  readonly idempotencyKey?: string | undefined
  readonly ifMatch?: string | undefined
}

/** Returns the path of an operation with its parameters and query. Throws a `TypeError` for a parameter that would lead to another path. */
export function targetOf(path: string, { path: parameters = {}, query = {} }: Input, { lists = [] }: OperationFacts): string {
  const filled = path.replace(/\{(.+?)\}/g, (_, name: string) => {
    const value = String(parameters[name] ?? '')
    // These would be removed from the URL, and the request would go to another resource.
    if (['', '.', '..'].includes(value)) throw new TypeError(`client: path.${name} of ${path} must be a text other than "${value}".`)
    return encodeURIComponent(value)
  })
  const pairs = Object.entries(query).flatMap(([name, value]) => pairsOf(name, value, lists.includes(name)))
  return pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`
}

function pairsOf(name: string, value: unknown, isJoined: boolean): string[] {
  if (value === undefined) return []
  if (Array.isArray(value)) {
    if (!isJoined) return value.flatMap((one) => pairsOf(name, one, false))
    return [`${encodeURIComponent(name)}=${value.map((one) => encodeURIComponent(String(one).replace(/[\\,]/g, '\\$&'))).join(',')}`]
  }
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, one]) => pairsOf(`${name}[${key}]`, one, false))
  return [`${encodeURIComponent(name)}=${encodeURIComponent(value as string)}`]
}

interface SentBody {
  readonly body?: NonNullable<RequestInit['body']> | undefined
  readonly type?: string | undefined
  readonly isRepeatable: boolean
}

/** Returns the body to send, its media type, and whether it can be sent twice. */
export function bodyOf(body: unknown, type: string | undefined, json: LargeJson, path: string): SentBody {
  const isStream = body instanceof ReadableStream
  // The boundary of a form, and the charset of parameters, are set by fetch.
  if (body === undefined || body instanceof FormData || body instanceof URLSearchParams) return { body, isRepeatable: true }
  const isBinary = isStream || body instanceof Blob || body instanceof ArrayBuffer || ArrayBuffer.isView(body)
  // A text of another media type is sent as it is.
  if (isBinary || (typeof body === 'string' && type !== undefined && !/[/+]json$/.test(type)))
    return { body: body as Blob, type: (body as Blob).type || type || 'application/octet-stream', isRepeatable: !isStream }
  return { body: json.stringify(body, path), type: type || 'application/json', isRepeatable: true }
}

/** Returns a random key. `crypto.randomUUID` does not exist on pages without https. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
