import type { Api, LargeJson } from './api.ts'

/** An event of a service: one of those in its description, with the id that all attempts to deliver it have. */
export type WebhookEvent<All> = All extends { events: infer Events }
  ? { [Type in keyof Events]: Events[Type] & { readonly id: string } }[keyof Events]
  : { readonly id: string; readonly type: string; readonly data: unknown }

/** The codes of a {@link WebhookError}. */
export type WebhookCode =
  | 'WEBHOOK_HEADER_MISSING'
  | 'WEBHOOK_TIMESTAMP_REFUSED'
  | 'WEBHOOK_SIGNATURE_INVALID'
  | 'WEBHOOK_PAYLOAD_INVALID'
  | 'WEBHOOK_PAYLOAD_TOO_LARGE'

/** A request that is not a webhook of the sender. `status` is that of the response to send. */
export class WebhookError extends Error {
  override name = 'WebhookError'
  readonly code: WebhookCode
  readonly status: number

  constructor(status: number, code: WebhookCode, message: string) {
    super(message)
    this.code = code
    this.status = status
  }
}

/** A request with its unread body: that of fetch, or its parts. */
export type WebhookRequest =
  | Request
  | {
      readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
      /** The exact bytes of the request. */
      readonly body: string | Uint8Array
    }

/** Options of {@link verifyWebhook}. */
export interface WebhookOptions {
  /** The accepted `whsec_` secrets and `whpk_` public keys: during a rotation the new and the old one. */
  readonly keys: readonly string[]
}

type Bytes = Uint8Array<ArrayBuffer>

const toleranceSeconds = 300
const maxBodyBytes = 1024 * 1024
// A rotation sends two. Each reads the whole body.
const maxPublicKeySignatures = 4

/**
 * Verifies a webhook according to Standard Webhooks 1.0, and returns its event. The timestamp must be within five minutes of the current time, and one
 * signature of the body must be valid for one of the keys. The sender repeats an event until its response is a 2xx, so process each `id` once. Rejects with a
 * {@link WebhookError}, and with a `TypeError` for invalid keys. Needs `crypto.subtle`.
 */
export async function verifyWebhook<All>({ json }: Api<All>, request: WebhookRequest, options: WebhookOptions): Promise<WebhookEvent<All>> {
  const unknown = Object.keys(options).find((name) => name !== 'keys')
  if (unknown !== undefined) throw new TypeError(`client: options.${unknown} is unknown. Remove it.`)
  const { keys } = options
  if (keys.length === 0) throw new TypeError('client: options.keys is empty. Add the secret of the subscription.')
  const known = keys.map(keyOf)
  const field = fieldsOf(request)
  const id = field('webhook-id', /^[!-~]{1,256}$/)
  const timestamp = field('webhook-timestamp', /^\d{1,12}$/)
  const signatures = field('webhook-signature', /^[!-~ ]{1,4096}$/)
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookError(403, 'WEBHOOK_TIMESTAMP_REFUSED', 'The timestamp is not within five minutes of the current time.')
  const body = await bytesOf(request.body)
  const signed = joined([encoded(`${id}.${timestamp}.`), body])
  const checks = await Promise.all(known.map(async (key) => isSigned(signed, signatures, key)))
  if (!checks.includes(true)) throw new WebhookError(403, 'WEBHOOK_SIGNATURE_INVALID', 'No signature matches this body.')
  return { ...payloadOf(body, json), id } as WebhookEvent<All>
}

function fieldsOf({ headers }: WebhookRequest) {
  return (name: string, form: RegExp) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    if (typeof value === 'string' && form.test(value)) return value
    throw new WebhookError(400, 'WEBHOOK_HEADER_MISSING', `The ${name} header is missing or malformed.`)
  }
}

async function bytesOf(body: WebhookRequest['body']): Promise<Bytes> {
  const parts: Bytes[] = []
  let length = 0
  const add = (part: Uint8Array) => {
    length += part.length
    if (length > maxBodyBytes) throw new WebhookError(413, 'WEBHOOK_PAYLOAD_TOO_LARGE', `The body has more than ${maxBodyBytes} bytes.`)
    parts.push(part as Bytes)
  }
  if (typeof body === 'string') add(encoded(body))
  else if (body instanceof Uint8Array) add(body)
  else for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) add(part)
  return joined(parts)
}

function joined(parts: readonly Bytes[]): Bytes {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

function encoded(text: string): Bytes {
  return new TextEncoder().encode(text)
}

function decoded(base64: string): Bytes {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}

interface Key {
  readonly isSecret: boolean
  readonly bytes: Bytes
}

// The error does not show the key.
function keyOf(text: string): Key {
  const [, prefix, base64 = ''] = /^(whsec|whpk)_([A-Za-z\d+/]+={0,2})$/.exec(text) ?? []
  const bytes = decoded(base64)
  const isSecret = prefix === 'whsec' && bytes.length >= 24 && bytes.length <= 64
  if (isSecret || (prefix === 'whpk' && bytes.length === 32)) return { isSecret, bytes }
  throw new TypeError('client: a key is invalid. A key is "whsec_" followed by 24 to 64 bytes in base64, or "whpk_" followed by 32.')
}

async function isSigned(signed: Bytes, signatures: string, { isSecret, bytes }: Key): Promise<boolean> {
  const version = isSecret ? 'v1,' : 'v1a,'
  const given = signatures.split(' ').flatMap((one) => (one.startsWith(version) ? [decoded(one.slice(version.length))] : []))
  if (!isSecret) {
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'Ed25519' }, false, ['verify'])
    const points = given.filter(({ length }) => length === 64).slice(0, maxPublicKeySignatures)
    const checks = await Promise.all(points.map((point) => crypto.subtle.verify({ name: 'Ed25519' }, key, point, signed)))
    return checks.includes(true)
  }
  // A header with many signatures must not make the body be read as often.
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const expected = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed))
  return given.some((one) => isEqual(one, expected))
}

// Takes the same time wherever the first difference is.
function isEqual(one: Bytes, other: Bytes): boolean {
  let difference = one.length ^ other.length
  for (const [index, byte] of other.entries()) difference |= byte ^ (one[index] ?? 0)
  return difference === 0
}

function payloadOf(body: Bytes, json: LargeJson | undefined): object {
  try {
    const payload = (json ?? JSON).parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as { readonly type?: unknown }
    if (typeof payload.type === 'string') return json === undefined ? payload : (json.read(payload, payload.type) as object)
  } catch {
    // The sender gets the same response for both.
  }
  throw new WebhookError(400, 'WEBHOOK_PAYLOAD_INVALID', 'The body is not a JSON object with a type.')
}
