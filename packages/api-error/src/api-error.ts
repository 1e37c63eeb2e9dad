import type { Messages, Params } from './template.ts'

const brand = Symbol.for('concordat.ApiError')

/** One wrong field of a request. `key` names its text in the catalogue, `message` is that text in the default language. */
export interface FieldError {
  /** Where it is, as a path from the part of the request: `body.items.0.quantity`, `query.sort`. */
  readonly field: string
  readonly key: string
  readonly params: Params
  readonly message: string
}

/** What an {@link ApiError} may carry besides its code, status and message. */
export interface ApiErrorOptions {
  /** Values for the places of the message, so that it can be written in another language. */
  readonly params?: Params
  /** The text in every language, for a message in the client's own. */
  readonly messages?: Messages
  readonly errors?: readonly FieldError[]
  /** Headers that the answer must have, as `Allow` or `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>
  /** What really happened. It is logged and never sent. */
  readonly cause?: unknown
}

/**
 * An error that is meant for the client.
 *
 * Stock Fastify prints `statusCode`, `code`, `message` and sends `headers`; beside `@concordat/error-catalogue` it leaves
 * in the error envelope, in the client's language.
 */
export class ApiError extends Error {
  /** The code in UPPER_SNAKE_CASE, as `RESOURCE_NOT_FOUND`. */
  readonly code: string
  /** The HTTP status, 400–599. */
  readonly statusCode: number
  readonly params: Params
  /** The text in every language, with its places still open. */
  readonly messages: Messages | undefined
  readonly errors: readonly FieldError[]
  readonly headers: Readonly<Record<string, string>>

  constructor(statusCode: number, code: string, message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ApiError'
    this.statusCode = statusCode
    this.code = code
    this.params = options.params ?? {}
    this.messages = options.messages
    this.errors = options.errors ?? []
    this.headers = options.headers ?? {}
  }
}

// On the prototype and under a registered symbol: an error made by another installed copy of this package is one too.
Object.defineProperty(ApiError.prototype, brand, { value: true })

/** Tells an {@link ApiError} from everything else that can be thrown, also across two installed copies of this package. */
export function isApiError(thrown: unknown): thrown is ApiError {
  return typeof thrown === 'object' && thrown !== null && (thrown as Record<symbol, unknown>)[brand] === true
}
