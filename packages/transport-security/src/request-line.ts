import { targetWithoutSecrets } from '@concordat/links'
import { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { addressReader, type RemoteAddress } from './client-address.ts'

/** The key of the Fastify decorator that removes secrets from a request target before it is logged. */
export const showTarget: unique symbol = Symbol('concordat.showTarget')
type Showing = FastifyInstance & { readonly [showTarget]?: ((target: string) => string) | undefined }

/** The properties that are logged for a request. */
export class RequestLine {
  readonly method: string
  readonly url: string
  /** The status code; undefined when no response head was sent. */
  readonly statusCode: number | undefined
  readonly responseTimeMs: number
  readonly remoteAddress: string | undefined

  constructor(request: FastifyRequest, { raw, elapsedTime }: FastifyReply, remoteAddress: string | undefined) {
    const show = (request.server as Showing)[showTarget] ?? targetWithoutSecrets
    this.method = request.method
    this.url = show(request.url)
    this.statusCode = raw.headersSent ? raw.statusCode : undefined
    this.responseTimeMs = Math.round(elapsedTime * 1000) / 1000
    this.remoteAddress = remoteAddress
  }
}

/**
 * Logs one line per request instead of Fastify's two, after the response has ended: `request completed`, or `request aborted` if the client
 * disconnected before the whole response was written. A 404 and an invalid URL have a line too.
 */
export class OneLineLogController extends LogController {
  readonly #addressOf: (request: FastifyRequest) => string | undefined

  constructor(remoteAddress: RemoteAddress | undefined) {
    super()
    this.#addressOf = addressReader(remoteAddress)
  }

  override incomingRequest(request: FastifyRequest, reply: FastifyReply): void {
    if (!isInfoLogged(request)) return
    // The address is read now, because a closed socket has no address. The listener is added here, because onRequestAbort omits every
    // request whose body was read, and onResponse omits every aborted request.
    const remoteAddress = this.#addressOf(request)
    reply.raw.on('close', () => {
      const outcome = reply.raw.writableEnded ? 'request completed' : 'request aborted'
      request.log.info(new RequestLine(request, reply, remoteAddress), outcome)
    })
  }

  override requestCompleted(error: Error | null | undefined, _request: FastifyRequest, reply: FastifyReply): void {
    if (error) reply.log.error({ err: error }, 'response failed')
  }

  override routeNotFound(): void {
    // The line of the request shows the 404.
  }
}

function isInfoLogged(request: FastifyRequest) {
  const log: FastifyBaseLogger & { isLevelEnabled?: ((level: string) => boolean) | undefined } = request.log
  // Without a logger, every request has the silent logger of the server, which has no level.
  const silent = log === request.server.log && log.level === undefined
  return !silent && log.isLevelEnabled?.('info') !== false
}
