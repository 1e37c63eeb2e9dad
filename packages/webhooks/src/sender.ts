import type { TLSSocket } from 'node:tls'
import { Agent } from 'undici'
import { type AddressGuard, type AddressGuardOptions, addressGuard } from './address-guard.ts'
import { failureCodeOf } from './attempt-failure.ts'
import type { AttemptResult } from './attempt-result.ts'
import { exchange } from './exchange.ts'
import { retryAfterSeconds } from './retry-after.ts'
import { signatureOf } from './signature.ts'

/** How a {@link webhookSender} sends. */
export interface SenderOptions extends AddressGuardOptions {
  /**
   * How long an attempt may take in all: look-up, connection, handshake, sending, and the answer's headers.
   * @default 20
   */
  readonly attemptTimeoutSeconds?: number | undefined
  /**
   * `User-Agent` of the requests.
   * @default 'concordat-webhooks'
   */
  readonly userAgent?: string | undefined
  /** The clock, in milliseconds. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** One thing to deliver. */
export interface Outgoing {
  readonly url: string
  /** The `whsec_` and `whsk_` that sign: all that are live. */
  readonly keys: readonly string[]
  /** `webhook-id`: the same at each attempt, so that a receiver knows what it has seen. */
  readonly id: string
  /** JSON, sent byte for byte. */
  readonly body: string
}

/** Sends signed messages to callback URLs. */
export interface WebhookSender {
  readonly guard: AddressGuard
  /**
   * Makes one attempt, with the timestamp and signatures of now; the signal ends it before its time. Rejects with a `TypeError` for a key that
   * is none, and for nothing that the other side does.
   */
  send(message: Outgoing, signal?: AbortSignal): Promise<AttemptResult>
  /** Closes all connections; what is being sent fails. */
  close(): Promise<void>
}

const maximumHeaderBytes = 16_384

/**
 * Makes a sender by Standard Webhooks 1.0. It follows no redirect, uses no proxy of the environment, reads no more than 16 KiB of an answer,
 * and connects to public addresses alone. Throws a `TypeError` of one line for options that make no sense.
 */
export function webhookSender({
  attemptTimeoutSeconds = 20,
  userAgent = 'concordat-webhooks',
  now = Date.now,
  ...guardOptions
}: SenderOptions = {}): WebhookSender {
  if (!(attemptTimeoutSeconds > 0 && attemptTimeoutSeconds <= 60)) {
    throw new TypeError(`webhooks: attemptTimeoutSeconds is ${attemptTimeoutSeconds}. Give a number of seconds up to 60.`)
  }
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
      const answer = await exchange(agent, { url, headers, body, timeoutMilliseconds: attemptTimeoutSeconds * 1000, signal })
      return { statusCode: answer.statusCode, retryAfterSeconds: retryAfterSeconds(answer.headers['retry-after'], now()) }
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
    maxHeaderSize: maximumHeaderBytes,
    connect({ hostname, port }, callback) {
      const opened = (socket: TLSSocket) => callback(null, socket)
      const failed = (error: Error) => callback(error, null)
      guard.connect(hostname, Number(port) || 443).then(opened, failed)
    }
  })
}
