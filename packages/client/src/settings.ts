import type { CallOptions } from './api.ts'
import type { Session } from './session.ts'

/** A use of an operation that will end. */
export interface Deprecation {
  /** The operation, for example `GET /v1/orders`. */
  readonly operation: string
  /** The fields `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` of the response. */
  readonly deprecation: string | null
  readonly sunset: string | null
  readonly link: string | null
}

/** Options of {@link createClient}. */
export interface ClientOptions extends CallOptions {
  /** The address of the service, for example `https://api.example.com`. Links of responses are followed by path and query on this address. */
  readonly baseUrl: string
  /** The session whose access token is sent, from `createSession`. */
  readonly session?: Session | undefined
  /** The token that is sent, for services without sessions. It is called for each attempt. */
  readonly token?: (() => string | undefined | Promise<string | undefined>) | undefined
  /** By default, the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
  /** The limit of one attempt: 30 seconds by default. That of a whole call is `timeoutSeconds`, 60 by default. */
  readonly attemptTimeoutSeconds?: number | undefined
  /** A longer `Retry-After` ends the call: 60 seconds by default. */
  readonly maxRetryAfterSeconds?: number | undefined
  /** Called once for each operation whose responses say that it will end. */
  readonly onDeprecation?: ((deprecation: Deprecation) => void) | undefined
  /** Called once for each other description that responses name, with its digest: write the file again. */
  readonly onDescriptionChange?: ((digest: string) => void) | undefined
}

const names =
  'baseUrl session token fetch signal headers retries timeoutSeconds attemptTimeoutSeconds maxRetryAfterSeconds onDeprecation onDescriptionChange'.split(
    ' '
  )

/** Throws a `TypeError` for options that are unknown or invalid. */
export function checkSettings(options: ClientOptions): void {
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  if (unknown !== undefined) throw new TypeError(`client: options.${unknown} is unknown. Remove it.`)
  if (!URL.canParse(options.baseUrl)) throw new TypeError(`client: options.baseUrl must be an absolute URL.`)
  if (options.session !== undefined && options.token !== undefined)
    throw new TypeError('client: options.session and options.token exclude each other.')
}
