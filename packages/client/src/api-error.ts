/** What a caller can do: send the same request again with the same key, send another request with a new key, or stop. */
export type Retry = 'later' | 'changed' | 'never'

/** What the request has done: nothing, what it was sent for, or possibly either. */
export type Effect = 'none' | 'done' | 'unknown'

/** An invalid part of a request, as the service names it. */
export interface FieldError {
  readonly field?: string | undefined
  /** In a problem document (RFC 9457), the JSON pointer of the value in the body, or the name of a parameter. */
  readonly pointer?: string | undefined
  readonly parameter?: string | undefined
  readonly message: string
}

/** The facts of an {@link ApiError}. */
export interface ApiErrorFacts<Code extends string = string> {
  /** The error code of the service, `HTTP_` with the status code where the response has none, or a code of a {@link ConnectionError}. */
  readonly code: Code
  /** The status code; 0 where no response was received. */
  readonly status: number
  readonly errors: readonly FieldError[]
  readonly headers: Headers
  readonly retry: Retry
  /** The effect of all attempts together. */
  readonly effect: Effect
  /** The key that the request was sent with. A request with the same body and this key continues where this one ended. */
  readonly idempotencyKey: string | undefined
  /** How often the request was sent. */
  readonly attempts: number
}

/** A response with a status of 400 or more, whatever its form: the error envelope, a problem document (RFC 9457), a page or nothing. */
export class ApiError<Code extends string = string> extends Error implements ApiErrorFacts<Code> {
  override name = 'ApiError'
  declare readonly code: Code
  declare readonly status: number
  declare readonly errors: readonly FieldError[]
  declare readonly headers: Headers
  declare readonly retry: Retry
  declare readonly effect: Effect
  declare readonly idempotencyKey: string | undefined
  declare readonly attempts: number

  constructor(message: string, facts: ApiErrorFacts<Code>) {
    super(message)
    Object.assign(this, facts)
  }

  /** The id to name in a report to the operators of the service. */
  get requestId(): string | undefined {
    return this.headers.get('request-id') ?? undefined
  }
}

/** The codes of a {@link ConnectionError}. */
export type ConnectionCode = 'CONNECTION_FAILED' | 'TIMED_OUT'

/** No whole response was received: the connection failed, or the time limit has passed. The `cause` is the error of `fetch`. */
export class ConnectionError extends ApiError<ConnectionCode> {
  override name = 'ConnectionError'
}

/**
 * Returns whether an error has one of the codes, and narrows its type. Only codes that the operation can have compile. In `catch`, where the type of an
 * error is unknown, use `isCode` of the client.
 */
export function isCode<Known extends string, Code extends Known>(
  error: ApiError<Known>,
  ...codes: readonly Code[]
): error is ApiError<Code> {
  return error instanceof ApiError && (codes as readonly string[]).includes(error.code)
}
