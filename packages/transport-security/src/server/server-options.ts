import { describeOptions, duration, type OptionsOf, oneOf, value } from '@concordat/plugin-kit/options'
import { serverFactory } from '@concordat/plugin-kit/server'
import type { LogController } from 'fastify'
import { type IdentifiedRequest, newRequestId, ownGenerators, requestIdReader } from '../headers/request-id.ts'
import { type TrustProxy, trustedProxies, trustGateway, useAddressOfEvent } from '../headers/trusted-proxies.ts'
import { bufferedOutput } from '../log/buffered-log.ts'
import { OneLineLogController } from '../log/request-line.ts'

/** The description of {@link TransportSecurityServerOptions}. @readme */
export const serverOptions = describeOptions('transport-security', {
  /** The proxies whose `X-Forwarded-*` headers are trusted: addresses, CIDR ranges, `loopback`, `linklocal`, `uniquelocal`; or `['gateway']`. */
  trustProxy: value<readonly string[]>({ default: [] }),
  /** `proxy`: the `X-Request-Id` of a trusted proxy, which must overwrite that of clients: 16 to 64 letters, digits, `-` and `_`. */
  requestIdFrom: oneOf(['proxy', 'service'], { default: 'service' }),
  /** The time limit for a request to arrive, at most 20 s for its head; then 408. Checked every 5 s. Operators lower it while slow clients hold connections. */
  requestTimeoutSeconds: duration({ default: 30, min: 0.001, max: 86_400 }),
  /** How long a connection may be idle; longer than in the proxy in front. Operators change it with the timeout of the proxy. */
  keepAliveTimeoutSeconds: duration({ default: 72, min: 0.001, max: 86_400 }),
  /** The level of a log on standard output whose lines are written in blocks; leave out `logger` then. A process that is killed loses the last second of it. Operators set it while the writing of the log slows the service down. */
  bufferedLog: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {})
})

/** Options of {@link transportSecurityServerOptions}: the settings that only Fastify's constructor accepts. */
export interface TransportSecurityServerOptions extends OptionsOf<typeof serverOptions> {}

/** The part of Fastify's constructor options that {@link transportSecurityServerOptions} returns. */
export interface TransportSecurityServerPart {
  genReqId: (request: IdentifiedRequest) => string
  requestIdHeader: false
  trustProxy: TrustProxy | false
  requestTimeout: number
  keepAliveTimeout: number
  /** Options of Node.js, also for a server that terminates TLS itself. */
  http: {
    headersTimeout: number
    maxHeaderSize: number
    connectionsCheckingInterval: number
    optimizeEmptyRequests: boolean
    /** For a server with HTTP/2. */
    settings: { maxConcurrentStreams: number }
  }
  /** Only with `bufferedLog`. */
  logger?: { level: string; stream: { write(line: string): unknown } }
  /** Makes the server, over which the plugins close connections and process requests in turn. */
  serverFactory: typeof serverFactory
  /** Writes one line per request. Leave it out for Fastify's two lines. */
  logController: LogController
}

const maxHeadersTimeoutMs = 20_000
// Node.js checks for late requests every 30 s by default, so a limit of 20 s could take up to 50 s.
const maxCheckingIntervalMs = 5000

/**
 * Returns the Fastify options that this package requires, to be used as `Fastify({ ...transportSecurityServerOptions(), logger: true })`.
 * Throws a `TypeError` of one line for invalid options.
 */
export function transportSecurityServerOptions(options: TransportSecurityServerOptions = {}): TransportSecurityServerPart {
  const { trustProxy, requestIdFrom, requestTimeoutMs, keepAliveTimeoutMs, bufferedLog } = serverOptions.read(options)
  const trusts = trustedProxies(trustProxy)
  if (requestIdFrom === 'proxy' && trustProxy.length === 0)
    throw new TypeError(
      "transport-security: options.requestIdFrom is 'proxy', but options.trustProxy is empty. List the proxies that create ids."
    )
  const idOf = requestIdFrom === 'proxy' ? requestIdReader(trusts) : newRequestId
  const genReqId = trusts === trustGateway ? idOfEvent : idOf
  ownGenerators.add(genReqId)
  const headersTimeout = Math.min(maxHeadersTimeoutMs, requestTimeoutMs)
  return {
    genReqId,
    requestIdHeader: false,
    trustProxy: trustProxy.length > 0 ? trusts : false,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    http: {
      headersTimeout,
      maxHeaderSize: 16_384,
      connectionsCheckingInterval: Math.min(headersTimeout, maxCheckingIntervalMs),
      // Saves a stream for each request without a body. The plugin emits the events that the stream no longer emits.
      optimizeEmptyRequests: true,
      settings: { maxConcurrentStreams: 100 }
    },
    ...(bufferedLog && { logger: { level: bufferedLog, stream: bufferedOutput() } }),
    serverFactory,
    logController: new OneLineLogController()
  }

  // The first function of the service that sees a request, also one that no route matches.
  function idOfEvent(request: IdentifiedRequest) {
    useAddressOfEvent(request)
    return idOf(request)
  }
}
