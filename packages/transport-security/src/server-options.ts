import { optionChecks, requireKnownNames } from '@concordat/plugin-options'
import type { LogController } from 'fastify'
import type { RemoteAddress } from './client-address.ts'
import { milliseconds } from './milliseconds.ts'
import { type IdentifiedRequest, newRequestId, requestIdReader } from './request-id.ts'
import { OneLineLogController } from './request-line.ts'
import { type TrustProxy, trustedProxies } from './trusted-proxies.ts'

/** Options of {@link transportSecurityServerOptions}: the settings that only Fastify's constructor accepts. */
export interface TransportSecurityServerOptions {
  /**
   * The proxies whose `X-Forwarded-*` headers are trusted, as addresses, CIDR ranges, or Fastify's names `loopback`, `linklocal` and
   * `uniquelocal`. From any other peer, these headers are ignored. `['gateway']`: the service does not listen, and a gateway invokes it with
   * requests that `app.inject` processes, for example AWS Lambda with `@fastify/aws-lambda`. The headers of the gateway are trusted, and `app.listen` fails.
   * @default [] – none
   */
  readonly trustProxy?: readonly string[] | undefined
  /**
   * The source of request ids: with `proxy`, the `X-Request-Id` header of a trusted proxy, if it consists of 16 to 64 letters, digits, dashes and
   * underscores, for example a UUID. The proxy must set it itself, otherwise clients can. With `service`, the service
   * creates all ids.
   * @default 'service'
   */
  readonly requestIdFrom?: 'proxy' | 'service' | undefined
  /**
   * The time limit for a request to arrive, including its body, in seconds. After it, the response is 408.
   * @default 30
   */
  readonly requestTimeoutSeconds?: number | undefined
  /**
   * The time limit for the head of a request to arrive, in seconds. After it, the response is 408. At most `requestTimeoutSeconds`.
   * @default 20
   */
  readonly headersTimeoutSeconds?: number | undefined
  /**
   * How long an idle connection waits for its next request, in seconds. Keep it above the idle timeout of the proxy in front.
   * @default 72
   */
  readonly keepAliveTimeoutSeconds?: number | undefined
  /**
   * The maximum size of the request line and all headers together, in bytes. For a larger head, the response is 431.
   * @default 16384
   */
  readonly maxHeaderBytes?: number | undefined
  /**
   * The number of requests that a client may have open at the same time on one HTTP/2 connection. A client waits with further requests, and those of
   * one that does not wait are refused by the protocol (`REFUSED_STREAM`). Over HTTP/1, requests of a connection are processed one after the other.
   * @default 100
   */
  readonly maxConcurrentStreams?: number | undefined
  /**
   * The number of log lines per request: one when the response is closed, or the two lines of Fastify, `incoming request` and
   * `request completed`.
   * @default 1
   */
  readonly logLinesPerRequest?: 1 | 2 | undefined
  /**
   * How much of the client's IP address the log line shows if `logLinesPerRequest` is 1: nothing, only the network part, or the full address.
   * @default 'truncate'
   */
  readonly remoteAddress?: RemoteAddress | undefined
}

/** The part of Fastify's constructor options that {@link transportSecurityServerOptions} returns. */
export interface TransportSecurityServerPart {
  genReqId: (request: IdentifiedRequest) => string
  requestIdHeader: false
  trustProxy: TrustProxy | false
  requestTimeout: number
  keepAliveTimeout: number
  /** The settings of the HTTP server; for a server that terminates TLS itself, spread them into `https`. */
  http: {
    headersTimeout: number
    maxHeaderSize: number
    connectionsCheckingInterval: number
    optimizeEmptyRequests: boolean
    /** For a server with HTTP/2. */
    settings: { maxConcurrentStreams: number }
  }
  logController?: LogController
}

const { integer, oneOf } = optionChecks('transport-security')

// Node.js checks for late requests every 30 s by default, so a limit of 20 s could take up to 50 s.
const maxCheckingIntervalMs = 5000

/**
 * Returns the Fastify options that this package requires, to be used as `Fastify({ ...transportSecurityServerOptions(), logger: true })`.
 * Request ids come from the service or from a trusted proxy, never from a client. Requests that are late or too large are refused.
 * Throws a `TypeError` with a one-line message for invalid options.
 */
export function transportSecurityServerOptions(options: TransportSecurityServerOptions = {}): TransportSecurityServerPart {
  requireKnownNames('transport-security', options, {
    trustProxy: true,
    requestIdFrom: true,
    requestTimeoutSeconds: true,
    headersTimeoutSeconds: true,
    keepAliveTimeoutSeconds: true,
    maxHeaderBytes: true,
    maxConcurrentStreams: true,
    logLinesPerRequest: true,
    remoteAddress: true
  })
  const requestTimeout = milliseconds('requestTimeoutSeconds', options.requestTimeoutSeconds ?? 30)
  const headersTimeout = milliseconds('headersTimeoutSeconds', options.headersTimeoutSeconds ?? Math.min(20, requestTimeout / 1000))
  if (headersTimeout > requestTimeout) {
    throw new TypeError('transport-security: options.headersTimeoutSeconds must be at most options.requestTimeoutSeconds. Lower it.')
  }
  const { maxHeaderBytes = 16_384, maxConcurrentStreams = 100, logLinesPerRequest = 1 } = options
  integer('options.maxHeaderBytes', maxHeaderBytes, 1024, 1_048_576)
  integer('options.maxConcurrentStreams', maxConcurrentStreams, 1, 65_535)
  oneOf('options.logLinesPerRequest', logLinesPerRequest, [1, 2])
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
      // Saves a stream for each request without a body. The plugin emits the events that the stream no longer emits.
      optimizeEmptyRequests: true,
      settings: { maxConcurrentStreams }
    },
    ...(logLinesPerRequest === 1 && { logController: new OneLineLogController(options.remoteAddress) })
  }
}

function idMaker({ requestIdFrom = 'service', trustProxy = [] }: TransportSecurityServerOptions, trusts: TrustProxy) {
  oneOf('options.requestIdFrom', requestIdFrom, ['proxy', 'service'])
  if (requestIdFrom === 'service') return newRequestId
  if (trustProxy.length === 0)
    throw new TypeError(
      "transport-security: options.requestIdFrom is 'proxy', but options.trustProxy is empty. List the proxies that create ids."
    )
  return requestIdReader(trusts)
}
