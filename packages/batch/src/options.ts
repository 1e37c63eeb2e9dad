import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import type { BatchRules } from './read-batch.ts'

/** What makes a batch atomic. */
export interface BatchTransactions {
  /** Runs `work` in one transaction, of which what is carried out in it is a part: committed when it resolves, else rolled back. */
  run(request: FastifyRequest, work: () => Promise<void>): Promise<void>
  /** Whether what this request of an operation does is part of the transaction that it runs in. */
  includes(request: FastifyRequest): boolean
}

/** Settings of the plugin. */
export interface BatchOptions {
  /** Makes atomic batches possible. @default none: no batch is atomic */
  readonly transactions?: BatchTransactions | undefined
  /**
   * The `Idempotency-Key` of an operation by POST or PATCH that has none of its own, as one made of the key of the batch: so that a batch
   * that is sent again after a crash does nothing twice.
   * @default none
   */
  readonly operationKey?: ((request: FastifyRequest, operationId: string) => string | undefined) | undefined
  /**
   * The headers that each operation has from the request of the batch, in lower case.
   * @default `defaultForwardedHeaders`
   */
  readonly forwardedHeaders?: readonly string[] | undefined
  /**
   * The headers that an operation may have of its own, in lower case. Never `authorization`, nor anything of `forwardedHeaders`.
   * @default `defaultOperationHeaders`
   */
  readonly operationHeaders?: readonly string[] | undefined
  /**
   * The headers of the answer to an operation that its outcome shows, in lower case.
   * @default `defaultOutcomeHeaders`
   */
  readonly outcomeHeaders?: readonly string[] | undefined
}

/** How one batch is. */
export interface BatchRoute {
  /** The paths that operations may name, with all below them; relative to where the batch is added, as `/orders`. */
  readonly paths: readonly string[]
  /** `config` of the route, as its permissions and its idempotency. */
  readonly config?: FastifyContextConfig | undefined
  /** The methods that operations may have. @default ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] */
  readonly methods?: readonly string[] | undefined
  /**
   * Whether all operations take effect or none: never, when the request says `atomic: true`, or always.
   * @default 'never'
   */
  readonly atomic?: BatchRules['atomic'] | undefined
  /** The status of a batch that was carried out, whatever became of its operations. @default 200 */
  readonly status?: 200 | 207 | undefined
  /** At most 1000. @default 100 */
  readonly maximumOperations?: number | undefined
  /** The largest request. @default the body limit of the service */
  readonly maximumRequestBytes?: number | undefined
  /**
   * How long the bodies of all outcomes may be together. What does not fit is left out: its outcome has `content-length` and no body.
   * The default leaves room for the rest in the megabyte that idempotency keeps of an answer.
   * @default 786432
   */
  readonly maximumAnswerBytes?: number | undefined
  /**
   * After this time no further operation begins: those are answered 503. Keep it below the time that handlers have.
   * @default 20
   */
  readonly maximumSeconds?: number | undefined
}

/**
 * Who calls and how, which an operation can't say for itself: `authorization`, `accept-language`, `traceparent`, `tracestate`,
 * `user-agent`, `host`, and the forwarded fields by which a trusted proxy tells the client, its protocol and the host.
 */
export const defaultForwardedHeaders: readonly string[] = [
  'authorization',
  'accept-language',
  'traceparent',
  'tracestate',
  'user-agent',
  'host',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host'
]

/** What is said of one request alone: its body, its preconditions, its key, its preferences. */
export const defaultOperationHeaders: readonly string[] = [
  'accept',
  'content-type',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'idempotency-key',
  'prefer'
]

/** What a client does something with. Limits, deprecations, security headers and cookies are not shown. */
export const defaultOutcomeHeaders: readonly string[] = [
  'allow',
  'content-language',
  'content-type',
  'etag',
  'idempotency-replayed',
  'last-modified',
  'location',
  'preference-applied',
  'request-id',
  'retry-after',
  'www-authenticate'
]

/** The options as the plugin works with them. */
export interface Settings {
  readonly transactions: BatchTransactions | undefined
  readonly operationKey: (request: FastifyRequest, operationId: string) => string | undefined
  readonly forwardedHeaders: ReadonlySet<string>
  readonly operationHeaders: ReadonlySet<string>
  readonly outcomeHeaders: ReadonlySet<string>
}

/** One batch as the plugin works with it. */
export interface RouteSettings extends BatchRules {
  readonly status: 200 | 207
  readonly maximumAnswerBytes: number
  readonly maximumMilliseconds: number
}

// What frames a message, or says who is at the other end.
const neverOwn = new Set([
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade'
])
const framing = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'te',
  'transfer-encoding',
  'upgrade'
])

/** Fills in the defaults. Throws a `TypeError` with one line for what can't work. */
export function resolveOptions(options: BatchOptions): Settings {
  const { transactions, operationKey = () => undefined } = options
  if (transactions !== undefined && (typeof transactions.run !== 'function' || typeof transactions.includes !== 'function')) {
    throw new TypeError('batch: transactions has no run or no includes. Give both, or leave it out.')
  }
  if (typeof operationKey !== 'function') throw new TypeError('batch: operationKey is no function. Give one from request and id to a key.')
  const forwardedHeaders = names('forwardedHeaders', options.forwardedHeaders ?? defaultForwardedHeaders, framing)
  const operationHeaders = names('operationHeaders', options.operationHeaders ?? defaultOperationHeaders, neverOwn)
  const both = [...operationHeaders].find((name) => forwardedHeaders.has(name) || name.startsWith('x-forwarded-'))
  if (both !== undefined) throw new TypeError(`batch: operationHeaders has "${both}", which comes from the request. Leave it out.`)
  const outcomeHeaders = names('outcomeHeaders', options.outcomeHeaders ?? defaultOutcomeHeaders, new Set(['set-cookie']))
  return { transactions, operationKey, forwardedHeaders, operationHeaders, outcomeHeaders }
}

/** Fills in the defaults of a batch. Throws a `TypeError` with one line that names it. */
export function resolveRoute(
  url: string,
  prefix: string,
  route: BatchRoute,
  settings: Settings,
  batches: ReadonlySet<string>
): RouteSettings {
  const { paths, methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], atomic = 'never', status = 200 } = route
  const config: object = route.config ?? {}
  const refuse = (reason: string) => new TypeError(`batch: ${url} ${reason}`)
  if (!Array.isArray(paths) || paths.length === 0 || paths.some((path) => !/^(\/[\w.~-]+)+$/.test(path))) {
    throw refuse(`has the paths ${JSON.stringify(paths)}. Give those that operations may name, as ["/orders"].`)
  }
  const wrong = methods.find((method) => !/^(GET|POST|PUT|PATCH|DELETE)$/.test(method))
  if (wrong !== undefined || methods.length === 0)
    throw refuse(`has the methods ${JSON.stringify(methods)}. Give some of GET, POST, PUT, PATCH, DELETE.`)
  if (!['never', 'byRequest', 'always'].includes(atomic)) throw refuse(`has atomic "${atomic}". Give "never", "byRequest" or "always".`)
  if (atomic !== 'never' && settings.transactions === undefined) {
    throw refuse('is atomic, and there is nothing to undo with. Give the plugin the option transactions.')
  }
  if (status !== 200 && status !== 207) throw refuse(`has the status ${String(status)}. Give 200 or 207.`)
  if ('transaction' in config && config.transaction !== undefined && config.transaction !== false) {
    throw refuse('has config.transaction, which would hold a transaction around every batch. Say atomic instead.')
  }
  const number = (name: keyof BatchRoute, value: number, most: number) => {
    if (!Number.isInteger(value) || value < 1 || value > most) throw refuse(`has ${name} ${value}. Give a whole number from 1 to ${most}.`)
    return value
  }
  return {
    paths: paths.map((path) => prefix + path),
    methods,
    atomic,
    status,
    batches,
    operationHeaders: settings.operationHeaders,
    forwardedHeaders: settings.forwardedHeaders,
    maximumOperations: number('maximumOperations', route.maximumOperations ?? 100, 1000),
    maximumAnswerBytes: number('maximumAnswerBytes', route.maximumAnswerBytes ?? 786_432, 64 * 1_048_576),
    maximumMilliseconds: number('maximumSeconds', route.maximumSeconds ?? 20, 3600) * 1000
  }
}

function names(option: string, given: readonly string[], forbidden: ReadonlySet<string>): ReadonlySet<string> {
  const wrong = given.find((name) => typeof name !== 'string' || !/^[a-z][a-z\d-]*$/.test(name) || forbidden.has(name))
  if (wrong !== undefined) throw new TypeError(`batch: ${option} has "${wrong}", which can't be one. Give names of headers in lower case.`)
  return new Set(given)
}
