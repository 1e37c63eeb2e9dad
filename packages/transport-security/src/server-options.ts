import type { LogController } from 'fastify'
import type { RemoteAddress } from './client-address.ts'
import { milliseconds } from './milliseconds.ts'
import { type IdentifiedRequest, newRequestId, requestIdReader } from './request-id.ts'
import { OneLineLogController } from './request-line.ts'
import { type TrustProxy, trustedProxies } from './trusted-proxies.ts'

/** What Fastify's constructor alone can set, in this package's words. */
export interface TransportServerOptions {
  /**
   * The proxies whose `X-Forwarded-*` headers are believed, as addresses, CIDR ranges, or Fastify's names `loopback`,
   * `linklocal` and `uniquelocal`. From anybody else, these headers change nothing.
   * @default [] – none
   */
  readonly trustProxy?: readonly string[] | undefined
  /**
   * `proxy`: a trusted proxy's `X-Request-Id` is the id of the request, where it is a UUID or 16 to 64 letters, digits, dashes
   * and underscores. The proxy must set it itself, or clients do. `nobody`: all ids are made here.
   * @default 'nobody'
   */
  readonly requestIdFrom?: 'proxy' | 'nobody' | undefined
  /**
   * A request, its body included, has arrived by then, or it is answered 408.
   * @default 30
   */
  readonly requestTimeoutSeconds?: number | undefined
  /**
   * The head of a request has arrived by then, or it is answered 408. At most `requestTimeoutSeconds`.
   * @default 20
   */
  readonly headersTimeoutSeconds?: number | undefined
  /**
   * How long an idle connection waits for its next request. Keep it above the idle timeout of the proxy in front.
   * @default 72
   */
  readonly keepAliveTimeoutSeconds?: number | undefined
  /**
   * The largest request head, request line and all headers together; a larger one is answered 431.
   * @default 16384
   */
  readonly maxHeaderBytes?: number | undefined
  /**
   * 1: a single line when the response is closed. 2: Fastify's own, `incoming request` and `request completed`.
   * @default 1
   */
  readonly logLinesPerRequest?: 1 | 2 | undefined
  /**
   * How much of a client's IP address the single line shows: nothing, its network, or all of it.
   * @default 'truncate'
   */
  readonly remoteAddress?: RemoteAddress | undefined
}

/** The part of Fastify's constructor options that {@link transportServerOptions} makes. */
export interface TransportServerPart {
  genReqId: (request: IdentifiedRequest) => string
  requestIdHeader: false
  trustProxy: TrustProxy | false
  requestTimeout: number
  keepAliveTimeout: number
  /** For a server that speaks TLS itself, spread these into `https`. */
  http: { headersTimeout: number; maxHeaderSize: number; connectionsCheckingInterval: number; optimizeEmptyRequests: boolean }
  logController?: LogController
}

// Node looks for late requests at intervals of 30 s by default, so a limit of 20 s would mean up to 50.
const maxCheckingIntervalMs = 5000

/**
 * Makes the part of Fastify's options that this package needs: `Fastify({ ...transportServerOptions(), logger: true })`.
 * Request ids are made here, or by a trusted proxy, and never taken from a client; whatever is late or too large is refused.
 * Throws a `TypeError` of one line for a limit that makes no sense.
 */
export function transportServerOptions(options: TransportServerOptions = {}): TransportServerPart {
  const requestTimeout = milliseconds('requestTimeoutSeconds', options.requestTimeoutSeconds ?? 30)
  const headersTimeout = milliseconds('headersTimeoutSeconds', options.headersTimeoutSeconds ?? Math.min(20, requestTimeout / 1000))
  if (headersTimeout > requestTimeout) {
    throw new TypeError('transport-security: headersTimeoutSeconds is above requestTimeoutSeconds, which includes it. Lower it.')
  }
  const { maxHeaderBytes = 16_384, logLinesPerRequest = 1 } = options
  if (!Number.isInteger(maxHeaderBytes) || maxHeaderBytes < 1024 || maxHeaderBytes > 1_048_576) {
    throw new TypeError(`transport-security: maxHeaderBytes is ${maxHeaderBytes}. Give a whole number from 1024 to 1048576.`)
  }
  if (logLinesPerRequest !== 1 && logLinesPerRequest !== 2) {
    throw new TypeError(`transport-security: logLinesPerRequest is ${String(logLinesPerRequest)}. Choose 1 or 2.`)
  }
  const trustProxy = trustedProxies(options.trustProxy ?? [])
  return {
    genReqId: idMaker(options, trustProxy),
    requestIdHeader: false,
    trustProxy: options.trustProxy?.length ? trustProxy : false,
    requestTimeout,
    keepAliveTimeout: milliseconds('keepAliveTimeoutSeconds', options.keepAliveTimeoutSeconds ?? 72),
    http: {
      headersTimeout,
      maxHeaderSize: maxHeaderBytes,
      connectionsCheckingInterval: Math.min(headersTimeout, maxCheckingIntervalMs),
      // Spares a stream for each request without a body; the plugin makes up for what is no longer told on it.
      optimizeEmptyRequests: true
    },
    ...(logLinesPerRequest === 1 && { logController: new OneLineLogController(options.remoteAddress) })
  }
}

function idMaker({ requestIdFrom = 'nobody', trustProxy = [] }: TransportServerOptions, trusts: TrustProxy) {
  if (requestIdFrom !== 'proxy' && requestIdFrom !== 'nobody')
    throw new TypeError(`transport-security: requestIdFrom is "${String(requestIdFrom)}". Choose 'proxy' or 'nobody'.`)
  if (requestIdFrom === 'nobody') return newRequestId
  if (trustProxy.length === 0)
    throw new TypeError("transport-security: requestIdFrom is 'proxy' and trustProxy names none. Name the proxies that make ids.")
  return requestIdReader(trusts)
}
