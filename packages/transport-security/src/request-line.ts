import { targetWithoutSecrets } from '@concordat/links'
import { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { addressReader, type RemoteAddress } from './client-address.ts'

/** Under this name the plugin leaves, on the instance, the function that makes a target fit for a log. */
export const showTarget: unique symbol = Symbol('concordat.showTarget')
type Showing = FastifyInstance & { readonly [showTarget]?: (target: string) => string }

/** The members of the line that a request has. */
export class RequestLine {
  readonly method: string
  readonly url: string
  /** Absent when no head was sent. */
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
 * Writes one line a request instead of Fastify's two, when its response is closed: `request completed`, or
 * `request aborted` when the client left before the answer was written. A 404 and an unreadable URL have theirs too.
 */
export class OneLineLogController extends LogController {
  readonly #addressOf: (request: FastifyRequest) => string | undefined

  constructor(remoteAddress: RemoteAddress | undefined) {
    super()
    this.#addressOf = addressReader(remoteAddress)
  }

  override incomingRequest(request: FastifyRequest, reply: FastifyReply): void {
    if (!isInfoLogged(request)) return
    // Read now: a closed socket knows no address. And listened for here: onRequestAbort leaves out every request
    // whose body was read, and onResponse every one that was aborted.
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
    // The line of the request says 404.
  }
}

function isInfoLogged(request: FastifyRequest) {
  const log: FastifyBaseLogger & { isLevelEnabled?: (level: string) => boolean } = request.log
  // Without a logger, every request has the silent one of the server, which knows no level.
  const silent = log === request.server.log && log.level === undefined
  return !silent && log.isLevelEnabled?.('info') !== false
}
