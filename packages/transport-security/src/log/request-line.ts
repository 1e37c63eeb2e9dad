import { targetWithoutSecrets } from '@concordat/plugin-kit/links'
import { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { addressReader } from './client-address.ts'

/** What the log shows of a request. */
export interface LogView {
  readonly targetOf: (target: string) => string
  readonly addressOf: ReturnType<typeof addressReader>
}

/** The key of the Fastify decorator with the {@link LogView} of the plugin. */
export const logView: unique symbol = Symbol('concordat.logView')
const viewWithoutPlugin: LogView = { targetOf: targetWithoutSecrets, addressOf: addressReader('truncate') }

function viewOf(app: FastifyInstance & { readonly [logView]?: LogView }) {
  return app[logView] ?? viewWithoutPlugin
}

/** The messages of the lines of requests. */
export const requestMessages = { completed: 'request completed', aborted: 'request aborted' } as const

/** The properties that are logged for a request. */
export class RequestLine {
  readonly method: string
  readonly url: string
  /** The status code; undefined when no response head was sent. */
  readonly statusCode: number | undefined
  readonly responseTimeMs: number
  readonly remoteAddress: string | undefined

  constructor(request: FastifyRequest, { raw, elapsedTime }: FastifyReply, remoteAddress: string | undefined) {
    this.method = request.method
    this.url = viewOf(request.server).targetOf(request.url)
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
  override incomingRequest(request: FastifyRequest, reply: FastifyReply): void {
    if (!isInfoLogged(request)) return
    // The address is read now, because a closed socket has no address. The listener is added here, because onRequestAbort omits every
    // request whose body was read, and onResponse omits every aborted request.
    const remoteAddress = viewOf(request.server).addressOf(request)
    reply.raw.on('close', () => {
      const outcome = reply.raw.writableEnded ? 'completed' : 'aborted'
      request.log.info(new RequestLine(request, reply, remoteAddress), requestMessages[outcome])
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
