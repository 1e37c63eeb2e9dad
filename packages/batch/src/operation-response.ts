import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { OperationRequest } from './operation-request.ts'

const { ServerResponse } = process.getBuiltinModule('node:http')

/** Response to an operation. */
export interface OperationResult {
  readonly status: number
  /** Headers as Fastify and its plugins set them. */
  readonly headers: OutgoingHttpHeaders
  /** Body that was sent; `undefined` if it is longer than the maximum. */
  readonly body: string | undefined
  readonly bodyBytes: number
}

type Done = (result: OperationResult | undefined) => void
type Callback = () => void

const sent = Object.assign(new Error('The headers of this response have already been sent.'), { code: 'ERR_HTTP_HEADERS_SENT' })

/** Response to an operation, stored instead of sent. Fastify and its plugins use it as Node's `ServerResponse`, but it has no header block and no socket. */
export class OperationResponse extends ServerResponse {
  readonly #done: Done
  readonly #maxBytes: number
  #head: OutgoingHttpHeaders | undefined
  #parts: Buffer[] = []
  #body: string | undefined
  #bodyBytes = 0
  #isEnded = false
  #isFinished = false

  // In Node.js these are accessors, but its types declare properties.
  static {
    const getters: Readonly<Record<string, (this: OperationResponse) => boolean>> = {
      headersSent() {
        return this.#head !== undefined
      },
      writableEnded() {
        return this.#isEnded
      },
      writableFinished() {
        return this.#isFinished
      }
    }
    for (const [name, get] of Object.entries(getters)) Object.defineProperty(OperationResponse.prototype, name, { get })
  }

  /** `done` is called after the `finish` and `close` listeners, with `undefined` if the response was cut off. */
  constructor(request: OperationRequest, maxBytes: number, done: Done) {
    super(request as unknown as IncomingMessage)
    this.#maxBytes = maxBytes
    this.#done = done
  }

  override writeHead(status: number, reason?: unknown, headers: unknown = reason): this {
    if (this.#head !== undefined) throw sent
    this.statusCode = status
    this.#head = typeof headers === 'object' && headers !== null ? (headers as OutgoingHttpHeaders) : {}
    return this
  }

  override flushHeaders(): void {
    if (this.#head === undefined) this.writeHead(this.statusCode)
  }

  override write(chunk: unknown, encoding?: unknown, onWritten?: unknown): boolean {
    this.flushHeaders()
    this.#keep(typeof chunk === 'string' ? Buffer.from(chunk, encodingOf(encoding)) : (chunk as Buffer))
    const callback = [encoding, onWritten].find((one) => typeof one === 'function') as Callback | undefined
    if (callback) process.nextTick(callback)
    return true
  }

  override end(chunk?: unknown, encoding?: unknown, onEnd?: unknown): this {
    if (this.#isEnded) return this
    this.flushHeaders()
    if (typeof chunk === 'string' && this.#bodyBytes === 0) this.#keepText(chunk)
    else if (chunk instanceof Uint8Array || typeof chunk === 'string') this.write(chunk, encoding)
    this.#isEnded = this.finished = true
    const callback = [chunk, encoding, onEnd].find((one) => typeof one === 'function') as Callback | undefined
    // Like Node.js: after the current code has run.
    process.nextTick(() => this.#finish(callback))
    return this
  }

  override destroy(error?: Error): this {
    if (this.destroyed) return this
    this.destroyed = true
    process.nextTick(() => {
      if (error !== undefined && this.listenerCount('error') > 0) this.emit('error', error)
      this.emit('close')
      this.#done(this.#isFinished ? this.#result() : undefined)
    })
    return this
  }

  #finish(callback: Callback | undefined) {
    this.#isFinished = true
    callback?.()
    this.emit('finish')
    this.destroyed = true
    this.emit('close')
    this.#done(this.#result())
  }

  #keepText(text: string) {
    this.#bodyBytes = Buffer.byteLength(text)
    if (this.#bodyBytes <= this.#maxBytes) this.#body = text
  }

  #keep(chunk: Buffer) {
    this.#bodyBytes += chunk.byteLength
    if (this.#bodyBytes <= this.#maxBytes) this.#parts.push(chunk)
    else this.#parts = []
  }

  #result(): OperationResult {
    const isKept = this.#bodyBytes <= this.#maxBytes
    const body = isKept ? (this.#body ?? Buffer.concat(this.#parts).toString()) : undefined
    // Headers of `writeHead` take precedence, as in Node.js.
    const headers = this.getHeaderNames().length === 0 ? (this.#head ?? {}) : { ...this.getHeaders(), ...this.#head }
    return { status: this.statusCode, headers, body, bodyBytes: this.#bodyBytes }
  }
}

function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'
}
