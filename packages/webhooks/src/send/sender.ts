import type { TLSSocket } from 'node:tls'
import { type OptionNames, optionChecks, requireKnownNames } from '@concordat/plugin-options'
import { Agent } from 'undici'
import { type AddressGuard, type AddressGuardOptions, addressGuard } from '../guard-addresses/address-guard.ts'
import { signatureOf } from '../sign/signature.ts'
import { type AttemptResult, failureCodeOf, retryAfterSeconds } from './attempt-result.ts'
import { exchange } from './exchange.ts'

/** Options of {@link webhookSender}. */
export interface SenderOptions extends AddressGuardOptions {
  /**
   * The maximum time of an attempt, in seconds: lookup, connection, handshake, sending, and the headers of the response.
   * @default 20
   */
  readonly attemptTimeoutSeconds?: number | undefined
  /**
   * The `User-Agent` of the requests.
   * @default 'concordat-webhooks'
   */
  readonly userAgent?: string | undefined
  /** Returns the current time, in milliseconds since the Unix epoch. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** The names of the options of {@link webhookSender}. */
export const senderOptionNames: OptionNames<SenderOptions> = {
  ports: true,
  certificateAuthorities: true,
  connectTimeoutSeconds: true,
  dangerouslyAllowLoopback: true,
  resolve: true,
  open: true,
  attemptTimeoutSeconds: true,
  userAgent: true,
  now: true
}

/** A message to deliver. */
interface Outgoing {
  readonly url: string
  /** The current signing keys, `whsec_` or `whsk_`. */
  readonly keys: readonly string[]
  /** `webhook-id`: the same for each attempt, so that a receiver recognizes events that it has processed. */
  readonly id: string
  /** The body, JSON that is sent byte for byte. */
  readonly body: string
}

/** Sends signed messages to callback URLs. */
export interface WebhookSender {
  readonly guard: AddressGuard
  /**
   * Makes one attempt to send the message, with a current timestamp and signatures; `signal` aborts the attempt. Rejects with a `TypeError` for an
   * invalid key. Never rejects because of what the receiver does.
   */
  send(message: Outgoing, signal?: AbortSignal): Promise<AttemptResult>
  /** Closes all connections. Attempts in progress fail. */
  close(): Promise<void>
}

const { number } = optionChecks('webhooks')

const maxHeaderBytes = 16_384

/**
 * Creates a sender for Standard Webhooks 1.0. It does not follow redirects, ignores proxy environment variables, reads at most 16 KiB of a
 * response, and connects only to public addresses. Throws a `TypeError` with a one-line message for invalid options.
 */
export function webhookSender(options: SenderOptions = {}): WebhookSender {
  requireKnownNames('webhooks', options, senderOptionNames)
  return createSender(options)
}

/** Creates the sender without a check of the names, for options that contain more. */
export function createSender({
  attemptTimeoutSeconds = 20,
  userAgent = 'concordat-webhooks',
  now = () => Date.now(),
  ...guardOptions
}: SenderOptions): WebhookSender {
  number('options.attemptTimeoutSeconds', attemptTimeoutSeconds, 0.001, 60)
  const guard = addressGuard(guardOptions)
  const agent = guardedAgent(guard)

  function headersOf({ keys, id }: Outgoing, body: Uint8Array, startedAt: number) {
    const timestamp = Math.floor(startedAt / 1000)
    return {
      'content-type': 'application/json',
      'user-agent': userAgent,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureOf({ id, timestamp, body }, keys)
    }
  }

  async function post(message: Outgoing, startedAt: number, signal: AbortSignal | undefined) {
    const { url } = message
    const body = Buffer.from(message.body)
    const headers = headersOf(message, body, startedAt)
    if (guard.refusalOf(url) !== undefined) return { failure: 'URL_REFUSED' } as const
    try {
      const response = await exchange(agent, { url, headers, body, timeoutMs: attemptTimeoutSeconds * 1000, signal })
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
    close: async () => agent.destroy()
  }
}

function guardedAgent(guard: AddressGuard) {
  return new Agent({
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: maxHeaderBytes,
    connect({ hostname, port }, callback) {
      const opened = (socket: TLSSocket) => callback(null, socket)
      const failed = (error: Error) => callback(error, null)
      guard.connect(hostname, Number(port) || 443).then(opened, failed)
    }
  })
}
