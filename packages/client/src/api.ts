/** What is special about an operation. Most operations have no entry in {@link Api}. */
export interface OperationFacts {
  /** It accepts an `Idempotency-Key`. */
  readonly key?: 1 | undefined
  /** Its body has another media type than `application/json`. */
  readonly type?: string | undefined
  /** Parameters in the query whose values are joined by commas. */
  readonly lists?: readonly string[] | undefined
  /** It needs no token. */
  readonly open?: 1 | undefined
}

/** Reads and writes JSON whose integers can have 64 bits, from `@concordat/client/int64`. */
export interface LargeJson {
  /** `path` is that of the operation whose response or request the text is. */
  parse(text: string, path?: string): unknown
  stringify(value: unknown, path?: string): string
  /** Converts the integers of a value that `parse` has returned, by the path of an operation, with its parameters filled, or the type of an event. */
  read(value: unknown, place: string): unknown
}

/** A description at run time, as `npx concordat client` writes it. */
export interface Api<Described> {
  readonly version: string
  /** The digest of the description that the file was written from, where it has one. */
  readonly digest?: string | undefined
  /** Where integers of 64 bits are texts or `bigint`. */
  readonly json?: LargeJson | undefined
  /** By method and path, for example `POST /v2/orders`. */
  readonly operations: Readonly<Record<string, OperationFacts>>
  /** Where sessions begin and end. */
  readonly session?: { readonly signIn: string; readonly signOut?: string | undefined } | undefined
  /** Exists only for the compiler. */
  readonly described?: Described | undefined
}

/** A method that a client sends. */
export type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The types of a description: per method an interface of operations, and unions of paths. */
export type Described = Record<Verb, object> & { paths: Record<Verb | 'list' | 'update' | 'job' | 'batch', string> }

/** What each call accepts beside the parameters of its operation. */
export interface CallOptions {
  /** Ends the call and its waits; the call rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  /** The limit of the whole call, with its retries and waits. */
  readonly timeoutSeconds?: number | undefined
  /** How often the request is sent again. */
  readonly retries?: number | undefined
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
}
