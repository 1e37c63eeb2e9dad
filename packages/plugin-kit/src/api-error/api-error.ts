import type { Messages, Params } from '../texts/text.ts'

const brand = Symbol.for('concordat.ApiError')

/**
 * The key of the property of a database error with the value that the database could not convert to the type of its column. If the value is one of the
 * request, `@concordat/error-catalogue` responds with 422 and its field. Set it with `Object.defineProperty`, so that the value is not logged.
 */
export const refusedParameter: unique symbol = Symbol.for('concordat.refusedParameter')

/** An invalid field of a request. `key` identifies its text in the catalogue; `message` is that text in English. */
export interface FieldError {
  /** The path of the field, starting with the part of the request, for example `body.items.0.quantity` or `query.sort`. */
  readonly field: string
  /** The JSON pointer (RFC 6901) of the value in this part of the request, for example `/items/0/quantity`. Only problem documents have it. */
  readonly pointer?: string | undefined
  readonly key: string
  readonly params: Params
  readonly message: string
}

/** The values of {@link Retry}. */
export const retries = ['later', 'changed', 'never'] as const

/** The values of {@link Effect}. */
export const effects = ['none', 'done', 'unknown'] as const

/**
 * What a client can do with a request that failed: `later`, send it again with the same `Idempotency-Key`; `changed`, correct it and send it with a new
 * key; `never`, stop.
 */
export type Retry = (typeof retries)[number]

/** What a request that failed has changed: `none`, nothing; `done`, everything; `unknown`, perhaps a part. */
export type Effect = (typeof effects)[number]

/** Options of {@link ApiError}. */
export interface ApiErrorOptions {
  /** The values of the placeholders in the message. */
  readonly params?: Params | undefined
  /** The message template in each supported language, by language tag. */
  readonly messages?: Messages | undefined
  readonly errors?: readonly FieldError[] | undefined
  /** Headers of the response, for example `Allow` or `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** What a client can do, where this response differs from others with the same code. @default that of the code */
  readonly retry?: Retry | undefined
  /** What the request has changed, where the code that throws the error knows it. @default decided by the handler and its transaction */
  readonly effect?: Effect | undefined
  /** The original error. It is logged and never sent. */
  readonly cause?: unknown
}

/** An HTTP error whose code, message and headers are sent to the client, with `@concordat/error-catalogue` in its envelope and the client's language. */
export class ApiError extends Error {
  readonly code: string
  readonly statusCode: number
  readonly params: Params
  readonly messages: Messages | undefined
  readonly errors: readonly FieldError[]
  readonly headers: Readonly<Record<string, string>>
  readonly retry: Retry | undefined
  readonly effect: Effect | undefined

  constructor(statusCode: number, code: string, message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ApiError'
    this.statusCode = statusCode
    this.code = code
    this.params = options.params ?? {}
    this.messages = options.messages
    this.errors = options.errors ?? []
    this.headers = options.headers ?? {}
    this.retry = options.retry
    this.effect = options.effect
  }
}

/**
 * Creates an error without a stack trace: its `stack` is only its message. To capture a trace takes longer than the rest of an error response, and a
 * client can cause as many as it likes.
 */
export function withoutStack<Created extends Error>(create: () => Created): Created {
  const { stackTraceLimit } = Error
  // It cannot be set where a service has frozen the objects of the language.
  Reflect.set(Error, 'stackTraceLimit', 0)
  try {
    return create()
  } finally {
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
  }
}

// A registered symbol on the prototype also identifies errors of another installed copy of this package.
Object.defineProperty(ApiError.prototype, brand, { value: true })

/** Returns whether a thrown value is an {@link ApiError}, even one from another installed copy of this package. */
export function isApiError(thrown: unknown): thrown is ApiError {
  return typeof thrown === 'object' && thrown !== null && (thrown as Record<symbol, unknown>)[brand] === true
}
