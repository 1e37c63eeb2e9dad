import type { IncomingHttpHeaders } from 'node:http'
import { requireKnownNames } from '@concordat/plugin-options'
import { readKey } from '../sign/secret.ts'
import { hasValidSignature } from '../sign/signature.ts'
import { headerMissing, signatureInvalid, timestampRefused } from './errors.ts'

/** Options of {@link verifyWebhook}. */
export interface VerifyOptions {
  /** The `whsec_` secrets and `whpk_` public keys that are accepted: during a rotation both the new and the old key. */
  readonly keys: readonly string[]
  /**
   * The maximum difference between the timestamp and the current time, in seconds, in either direction.
   * @default 300
   */
  readonly toleranceSeconds?: number | undefined
  /** Returns the current time, in milliseconds since the Unix epoch. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** The values of a verified webhook's headers. */
export interface Received {
  /** `webhook-id`: the same for each attempt to deliver an event. */
  readonly id: string
  /** The time of this attempt, in milliseconds since the Unix epoch. */
  readonly sentAt: number
}

/**
 * Verifies a webhook according to Standard Webhooks 1.0: all three headers must be present, the timestamp must be close to the current time, and
 * one signature of the exact body bytes must be valid for one of the keys. Throws an `ApiError`: 400 `WEBHOOK_HEADER_MISSING`, 403
 * `WEBHOOK_TIMESTAMP_REFUSED` or `WEBHOOK_SIGNATURE_INVALID`.
 */
export function verifyWebhook(headers: IncomingHttpHeaders, body: string | Uint8Array, options: VerifyOptions): Received {
  requireKnownNames('webhooks', options, { keys: true, toleranceSeconds: true, now: true })
  const { keys, toleranceSeconds = 300, now = () => Date.now() } = options
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
