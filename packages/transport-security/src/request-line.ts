import { targetWithoutSecrets } from '@concordat/links'
import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { addressReader, type RemoteAddress } from './client-address.ts'

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
      const { statusCode, writableEnded, headersSent } = reply.raw
      request.log.info(
        {
          method: request.method,
          url: targetWithoutSecrets(request.url),
          statusCode: headersSent ? statusCode : undefined,
          responseTimeMs: Math.round(reply.elapsedTime * 1000) / 1000,
          remoteAddress
        },
        writableEnded ? 'request completed' : 'request aborted'
      )
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
