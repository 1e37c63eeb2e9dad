import type { IncomingHttpHeaders } from 'node:http'
import { headerMissing, signatureInvalid, timestampRefused } from './receiver-errors.ts'
import { readKey } from './secret.ts'
import { hasValidSignature } from './signature.ts'

/** How a webhook is verified. */
export interface VerifyOptions {
  /** The `whsec_` secrets and `whpk_` public keys that are believed: during a rotation the new one and the old one. */
  readonly keys: readonly string[]
  /**
   * How far the timestamp may be from now, in either direction.
   * @default 300
   */
  readonly toleranceSeconds?: number | undefined
  /** The clock, in milliseconds. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** What the headers of a verified webhook say. */
export interface Received {
  /** The same for each attempt to deliver one event. */
  readonly id: string
  /** When this attempt was signed, in milliseconds since 1970. */
  readonly sentAt: number
}

/**
 * Verifies a webhook by Standard Webhooks 1.0: all three headers, a timestamp close to now, a signature of exactly these bytes by one of the
 * keys. Throws an `ApiError`: 400 `WEBHOOK_HEADER_MISSING`, 403 `WEBHOOK_TIMESTAMP_REFUSED` or `WEBHOOK_SIGNATURE_INVALID`.
 */
export function verifyWebhook(
  headers: IncomingHttpHeaders,
  body: string | Uint8Array,
  { keys, toleranceSeconds = 300, now = Date.now }: VerifyOptions
): Received {
  const id = fieldOf(headers, 'webhook-id', /^[!-~]{1,256}$/)
  const timestamp = Number(fieldOf(headers, 'webhook-timestamp', /^\d{1,12}$/))
  const signatures = fieldOf(headers, 'webhook-signature', /^[!-~ ]{1,4096}$/)
  if (Math.abs(now() / 1000 - timestamp) > toleranceSeconds) throw timestampRefused(toleranceSeconds)
  if (!hasValidSignature({ id, timestamp, body }, signatures, keys.map(readKey))) throw signatureInvalid()
  return { id, sentAt: timestamp * 1000 }
}

function fieldOf(headers: IncomingHttpHeaders, name: string, form: RegExp) {
  const value = headers[name]
  if (typeof value === 'string' && form.test(value)) return value
  throw headerMissing(name)
}
