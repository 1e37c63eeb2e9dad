import type { TLSSocket } from 'node:tls'
import { describeOptions, duration, type OptionsOf, oneOf, type SettingsOf, value } from '@concordat/plugin-kit/options'
import type { Agent } from 'undici'
import { type AddressGuard, addressGuard } from '../guard-addresses/address-guard.ts'
import { signatureOf } from '../sign/signature.ts'
import { type AttemptResult, failureCodeOf, retryAfterSeconds } from './attempt-result.ts'
import { exchange } from './exchange.ts'

/** The description of {@link SenderOptions}. */
export const senderOptions = describeOptions('webhooks', {
  /** The time of an attempt until the headers of the response. A quarter of it is for the connection, or 5 s if that is more. Operators lower it while slow receivers hold the attempts. */
  attemptTimeoutSeconds: duration({ default: 20, min: 0.001, max: 60 }),
  /** The allowed ports of URLs. */
  ports: value<readonly number[]>({ default: [443, 8443] }),
  /** The `User-Agent`. */
  userAgent: value<string>({ default: 'concordat-webhooks' }),
  /** Allows https to this machine, for development; `'any-certificate'` also with an untrusted certificate. */
  dangerouslyAllowLoopback: oneOf([true, false, 'any-certificate'], { default: false })
})

/** Options of {@link webhookSender}. */
export interface SenderOptions extends OptionsOf<typeof senderOptions> {}

/** A message to deliver: the `webhook-id`, the same for each attempt, the body, and the signing keys, `whsec_` or `whsk_`. */
interface Outgoing {
  readonly url: string
  readonly keys: readonly string[]
  readonly id: string
  readonly body: string
  /** Further headers, such as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Sends signed messages to callback URLs. */
export interface WebhookSender {
  readonly guard: AddressGuard
  /**
   * Makes one attempt to send the message, which `signal` aborts. Rejects with a `TypeError` for an invalid key, and never because of what the
   * receiver does.
   */
  send(message: Outgoing, signal?: AbortSignal): Promise<AttemptResult>
  /** Closes all connections. Attempts in progress fail. */
  close(): Promise<void>
}

/**
 * Creates a sender for Standard Webhooks 1.0. It does not follow redirects, ignores proxy environment variables, reads at most 16 KiB of a
 * response, and connects only to public addresses. Throws a `TypeError` of one line for invalid options.
 */
export function webhookSender(options: SenderOptions = {}): WebhookSender {
  return createSender({ ...senderOptions.read(options), now: () => Date.now() })
}

/** Creates the sender from validated options. */
export function createSender({
  attemptTimeoutMs: timeoutMs,
  userAgent,
  now,
  ...allowance
}: SettingsOf<(typeof senderOptions)['members']> & { readonly now: () => number }): WebhookSender {
  const connectMs = Math.min(timeoutMs, Math.max(timeoutMs / 4, 5000))
  const guard = addressGuard({ ...allowance, connectMs })
  let agent: Promise<Agent> | undefined

  async function post({ url, keys, id, body: text, headers: further }: Outgoing, startedAt: number, signal: AbortSignal | undefined) {
    const body = Buffer.from(text)
    const timestamp = Math.floor(startedAt / 1000)
    const headers = {
      ...further,
      'content-type': 'application/json',
      'user-agent': userAgent,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureOf({ id, timestamp, body }, keys)
    }
    if (guard.refusalOf(url) !== undefined) return { failure: 'URL_REFUSED' } as const
    try {
      const response = await exchange(await (agent ??= guardedAgent(guard)), { url, headers, body, timeoutMs, signal })
      return { statusCode: response.statusCode, retryAfterSeconds: retryAfterSeconds(response.headers['retry-after'], now()) }
    } catch (error) {
      return { failure: failureCodeOf(error) }
    }
  }

  return {
    guard,
    async send(message, signal) {
      const startedAt = now()
      const began = performance.now()
      const outcome = await post(message, startedAt, signal)
      return { startedAt, durationMilliseconds: Math.round(performance.now() - began), ...outcome }
    },
    async close() {
      agent ??= Promise.reject(new Error('The sender is closed.'))
      await agent.then(
        (opened) => opened.destroy(),
        () => {}
      )
    }
  }
}

// With the first delivery: loading undici takes as long as loading all plugins.
async function guardedAgent(guard: AddressGuard) {
  const undici = await import('undici')
  return new undici.Agent({
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: 16_384,
    connect({ hostname, port }, callback) {
      const opened = (socket: TLSSocket) => callback(null, socket)
      const failed = (error: Error) => callback(error, null)
      guard.connect(hostname, Number(port) || 443).then(opened, failed)
    }
  })
}
