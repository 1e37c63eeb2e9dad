import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { ApiError } from '@concordat/api-error'
import type { OperationSocket } from './operation-socket.ts'

/** What an operation has of its batch. */
export interface BatchFacts {
  /** The id of the request that brought the batch. */
  readonly requestId: string
  readonly socket: OperationSocket
  /** Its operations share one transaction. */
  readonly isAtomic: boolean
  /** The operation that is being carried out, to be told when the client leaves. */
  running?: OperationRequest | undefined
}

/** What an operation asks for. */
export interface OperationWish {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** An operation as Fastify takes it: what Node makes of a request that came over the wire. No request from outside is one of these. */
export class OperationRequest extends Readable {
  readonly method: string
  url: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly httpVersion = '1.1'
  readonly httpVersionMajor = 1
  readonly httpVersionMinor = 1
  readonly complete = true
  readonly aborted = false
  readonly trailers = {}
  readonly socket: OperationSocket
  readonly batch: BatchFacts
  /** What it is answered by, in place of being carried out. */
  readonly refusal: ApiError | undefined
  readonly #body: Buffer | undefined

  constructor({ method, url, headers, body }: OperationWish, batch: BatchFacts, refusal?: ApiError) {
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
  }

  override _read(): void {
    if (this.#body !== undefined) this.push(this.#body)
    this.push(null)
  }
}
