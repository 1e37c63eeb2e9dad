import type { IncomingHttpHeaders } from 'node:http'
import { describeOptions, type OptionsOf, required, value } from '@concordat/plugin-kit/options'
import { type Key, readKey } from '../sign/secret.ts'
import { hasValidSignature } from '../sign/signature.ts'
import { errorList } from './errors.ts'

/** The description of {@link VerifyOptions}. */
export const verifyOptions = describeOptions('webhooks', {
  /** The accepted `whsec_` secrets and `whpk_` public keys: during a rotation the new and the old one. */
  keys: required(value<readonly string[]>())
})

/** Options of {@link verifyWebhook}. */
export interface VerifyOptions extends OptionsOf<typeof verifyOptions> {}

/** The `webhook-id`, and the time of this attempt in milliseconds since the Unix epoch. */
interface Received {
  readonly id: string
  readonly sentAt: number
}

const toleranceSeconds = 300

/**
 * Verifies a webhook according to Standard Webhooks 1.0: all three headers must be present, the timestamp must be within five minutes of the current
 * time, and one signature of the exact body bytes must be valid for one of the keys. Throws an `ApiError`: 400 `WEBHOOK_HEADER_MISSING`, 403
 * `WEBHOOK_TIMESTAMP_REFUSED` or `WEBHOOK_SIGNATURE_INVALID`. Throws a `TypeError` of one line, whatever the client sent, when the keys are missing or
 * invalid, the body was parsed, or the headers are not those of Node.js.
 */
export function verifyWebhook(headers: IncomingHttpHeaders, body: string | Uint8Array, options: VerifyOptions): Received {
  const { keys } = verifyOptions.read(options)
  if (typeof body !== 'string' && !ArrayBuffer.isView(body))
    throw new TypeError(
      'webhooks: the body must be a string or a Uint8Array with the exact bytes of the request. Read it before it is parsed.'
    )
  if (typeof headers !== 'object' || headers === null || typeof headers['get'] === 'function')
    throw new TypeError(
      'webhooks: the headers must be an object with names in lower case. Pass Object.fromEntries(headers) for a Headers object.'
    )
  return verifiedHeaders(headers, body, readVerifyKeys(keys))
}

/** Reads the keys of a receiver. Throws a `TypeError` of one line for none, and for one that is invalid or private. */
export function readVerifyKeys(texts: readonly string[]): readonly Key[] {
  if (!Array.isArray(texts) || texts.length === 0)
    throw new TypeError('webhooks: options.keys is empty. Add the secrets that webhooks are signed with.')
  const keys = texts.map(readKey)
  if (keys.some(({ kind }) => kind === 'private'))
    throw new TypeError('webhooks: options.keys must not contain a private key ("whsk_"). Use the public key ("whpk_") of the pair.')
  return keys
}

/** Does the same with keys that have been read. */
export function verifiedHeaders(headers: IncomingHttpHeaders, body: string | Uint8Array, keys: readonly Key[]): Received {
  const id = fieldOf(headers, 'webhook-id', /^[!-~]{1,256}$/)
  const timestamp = Number(fieldOf(headers, 'webhook-timestamp', /^\d{1,12}$/))
  const signatures = fieldOf(headers, 'webhook-signature', /^[!-~ ]{1,4096}$/)
  if (Math.abs(Date.now() / 1000 - timestamp) > toleranceSeconds)
    throw errorList.create('WEBHOOK_TIMESTAMP_REFUSED', { params: { toleranceSeconds } })
  if (!hasValidSignature({ id, timestamp, body }, signatures, keys)) throw errorList.create('WEBHOOK_SIGNATURE_INVALID')
  return { id, sentAt: timestamp * 1000 }
}

function fieldOf(headers: IncomingHttpHeaders, header: string, form: RegExp) {
  const value = headers[header]
  if (typeof value === 'string' && form.test(value)) return value
  throw errorList.create('WEBHOOK_HEADER_MISSING', { params: { header } })
}
