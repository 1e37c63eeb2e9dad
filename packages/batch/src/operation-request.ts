import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { ApiError } from '@concordat/plugin-kit/api-error'
import { markForwarded } from '@concordat/plugin-kit/links'
import type { FastifyRequest } from 'fastify'
import type { OperationSocket } from './operation-socket.ts'

/** State of a batch that its operations share. */
export interface BatchFacts {
  readonly requestId: string
  readonly socket: OperationSocket
  /** Whether the operations share one transaction. */
  readonly isAtomic: boolean
  /** Whether a proxy passed the batch on. Operations do not have all headers that show it. */
  readonly isForwarded: boolean
  /** The running operation, which is notified when the client disconnects. */
  running?: OperationRequest | undefined
}

/** Request data of an operation. */
export interface OperationInput {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Request of an operation, in place of the `IncomingMessage` that Node.js creates. External requests are never instances of this class. */
export class OperationRequest extends Readable {
  readonly method: string
  url: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly httpVersion = '1.1'
  readonly httpVersionMajor = 1
  readonly httpVersionMinor = 1
  readonly complete = true
  /** Whether the client has disconnected before the operation ended, as in an `IncomingMessage`. */
  aborted = false
  readonly trailers = {}
  readonly socket: OperationSocket
  readonly batch: BatchFacts
  /** Error to respond with instead of executing the operation. */
  readonly refusal: ApiError | undefined
  /** The request that Fastify has made of this operation. */
  received: FastifyRequest | undefined
  /** Whether its handler may have begun. */
  hasStarted = false
  readonly #body: Buffer | undefined

  constructor({ method, url, headers, body }: OperationInput, batch: BatchFacts, refusal?: ApiError) {
    super({ autoDestroy: false })
    this.method = method
    this.url = url
    const bytes = body === undefined ? undefined : Buffer.from(body)
    this.headers = bytes === undefined ? { ...headers } : { ...headers, 'content-length': String(bytes.byteLength) }
    this.rawHeaders = Object.entries(this.headers).flat() as string[]
    this.socket = batch.socket
    this.batch = batch
    this.refusal = refusal
    this.#body = bytes
    if (batch.isForwarded) markForwarded(this)
  }

  /** Aborts `request.signal` and runs `onRequestAbort`, as when the client of a separate request disconnects. */
  disconnect(): void {
    this.aborted = true
    this.emit('close')
  }

  override _read(): void {
    if (this.#body !== undefined) this.push(this.#body)
    this.push(null)
  }
}
