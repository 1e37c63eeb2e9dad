/** The translations of a text, by language tag. English is the default language and is required. */
export type Messages = Readonly<Record<string, string>> & { readonly en: string }

/** The values of the placeholders in a message, by name. */
export type Params = Readonly<Record<string, string | number>>

type PlacesOf<Text extends string> = Text extends `${string}{${infer Place}}${infer Rest}` ? Place | PlacesOf<Rest> : never

/** The parameters that a text with `{placeholders}` requires. */
export type TemplateParams<Text extends string> = string extends Text ? Params : { readonly [Place in PlacesOf<Text>]: string | number }

/** Replaces the `{placeholders}` in a text. One without a value is not removed, so that the mistake is visible. */
export function fillTemplate(text: string, params: Params): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => (Object.hasOwn(params, name) ? String(params[name]) : place))
}

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
  readonly key: string
  readonly params: Params
  readonly message: string
}

/** Options of {@link ApiError}. */
export interface ApiErrorOptions {
  /** The values of the placeholders in the message. */
  readonly params?: Params | undefined
  /** The message template in each supported language, by language tag. */
  readonly messages?: Messages | undefined
  readonly errors?: readonly FieldError[] | undefined
  /** Headers of the response, for example `Allow` or `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
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

// A registered symbol on the prototype also identifies errors of another installed copy of this package.
Object.defineProperty(ApiError.prototype, brand, { value: true })

/** Returns whether a thrown value is an {@link ApiError}, even one from another installed copy of this package. */
export function isApiError(thrown: unknown): thrown is ApiError {
  return typeof thrown === 'object' && thrown !== null && (thrown as Record<symbol, unknown>)[brand] === true
}
