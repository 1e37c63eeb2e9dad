import { describeOptions, type OptionsOf, optionChecks, requireKnownNames, value } from '@concordat/plugin-options'
import { type Contracts, contractLater, type RequestKey } from '@concordat/plugin-wiring'
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import { operationHeaders } from './operation-headers.ts'
import type { BatchRules } from './read-batch.ts'

/** The description of {@link BatchOptions}. @readme */
export const batchOptions = describeOptions('batch', {
  /**
   * Headers that each operation inherits from the request of the batch, in lower case. By default `defaultForwardedHeaders`, and those
   * by which authentication identifies a client.
   */
  forwardedHeaders: value<readonly string[]>()
})

/** Options of `@concordat/batch`. */
export interface BatchOptions extends OptionsOf<typeof batchOptions> {}

/** Options of `app.batch()`. */
export interface BatchRoute {
  /** Paths that operations may use, relative to the prefix of the batch; all paths below them are allowed too. For example `/orders`. */
  readonly paths: readonly string[]
  /** `config` of the route, for example permissions and idempotency. */
  readonly config?: FastifyContextConfig | undefined
  /** Methods that operations may use. @default ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] */
  readonly methods?: readonly string[] | undefined
  /**
   * When the batch is atomic, so that either all operations take effect or none do: `never`, `byRequest` (if the request has `atomic:
   * true`) or `always`.
   * @default 'never'
   */
  readonly atomic?: BatchRules['atomic'] | undefined
  /** Status code of an executed batch, whatever the outcomes of its operations. @default 200 */
  readonly status?: 200 | 207 | undefined
  /** Maximum number of operations, at most 1000. @default 100 */
  readonly maxOperations?: number | undefined
  /** Maximum size of the request body, in bytes. @default the body limit of the service */
  readonly maxRequestBytes?: number | undefined
  /**
   * Maximum total size of the bodies of all outcomes. A body that does not fit is omitted: its outcome has `content-length` and no body.
   * With the default, the rest of the response fits in the megabyte that idempotency stores of a response.
   * @default 786432
   */
  readonly maxResponseBytes?: number | undefined
  /**
   * Time after which no further operation starts; the remaining operations get 503. Set it lower than the time limit of handlers.
   * @default 20
   */
  readonly maxSeconds?: number | undefined
}

/**
 * Default of `forwardedHeaders`: the headers that describe the client and the connection, which an operation cannot set itself. They are
 * `authorization`, `accept-language`, `traceparent`, `tracestate`, `user-agent`, `host`, and the forwarded fields in which a trusted proxy sends
 * the client's address, the protocol and the host.
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

/** Resolved options of the plugin. */
export interface Settings {
  readonly transactions: () => Contracts['transactions'] | undefined
  /** Returns the idempotency key under which a request runs. */
  readonly batchKey: (request: FastifyRequest) => RequestKey | null | undefined
  readonly forwardedHeaders: () => ReadonlySet<string>
}

/** Resolved options of a batch. */
export interface RouteSettings extends BatchRules {
  readonly status: 200 | 207
  readonly maxResponseBytes: number
  readonly maxMs: number
}

// Those that an operation sets itself, and those that frame a message.
const notForwarded = new Set([
  ...operationHeaders,
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'te',
  'transfer-encoding',
  'upgrade'
])

const { integer, oneOf } = optionChecks('batch')

/** Applies the defaults. Throws a `TypeError` with a one-line message when an option is invalid. */
export function resolveOptions(options: BatchOptions, app: FastifyInstance): Settings {
  const { forwardedHeaders } = batchOptions.readPlugin(options)
  const wrong = forwardedHeaders?.find((name) => typeof name !== 'string' || !/^[a-z][a-z\d-]*$/.test(name) || notForwarded.has(name))
  if (wrong !== undefined)
    throw new TypeError(`batch: options.forwardedHeaders must not contain "${wrong}". Use allowed header names, in lower case.`)
  const keyOf = contractLater(app, 'keyOf')
  const clients = contractLater(app, 'clients')
  let forwarded: ReadonlySet<string> | undefined
  return {
    transactions: contractLater(app, 'transactions'),
    batchKey: (request) => keyOf()?.(request),
    // Known once all plugins are registered.
    forwardedHeaders: () =>
      (forwarded ??= new Set(forwardedHeaders ?? [...defaultForwardedHeaders, ...(clients()?.credentialHeaders ?? [])]))
  }
}

/** Applies the defaults to the options of a batch. Throws a `TypeError` with a one-line message that names the batch. */
export function resolveRoute(
  url: string,
  prefix: string,
  route: BatchRoute,
  settings: Settings,
  batches: ReadonlySet<string>
): RouteSettings {
  requireKnownNames(
    'batch',
    route,
    {
      paths: true,
      config: true,
      methods: true,
      atomic: true,
      status: true,
      maxOperations: true,
      maxRequestBytes: true,
      maxResponseBytes: true,
      maxSeconds: true
    },
    `${url}: options`
  )
  const { paths, methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], atomic = 'never', status = 200 } = route
  const config: object = route.config ?? {}
  const refuse = (reason: string) => new TypeError(`batch: ${url}: ${reason}`)
  if (!Array.isArray(paths) || paths.length === 0 || paths.some((path) => !/^(\/[\w.~-]+)+$/.test(path))) {
    throw refuse(
      `paths must be a non-empty array of the paths that operations may use, for example ["/orders"], but is ${JSON.stringify(paths)}.`
    )
  }
  const wrong = methods.find((method) => !/^(GET|POST|PUT|PATCH|DELETE)$/.test(method))
  if (wrong !== undefined || methods.length === 0)
    throw refuse(`methods must be a list of GET, POST, PUT, PATCH or DELETE, but is ${JSON.stringify(methods)}.`)
  oneOf(`${url}: atomic`, atomic, ['never', 'byRequest', 'always'])
  if (atomic !== 'never' && settings.transactions()?.runAsOne === undefined) {
    throw refuse(
      'atomic requires transactions. Register a plugin that runs them first, for example the unit of work of @concordat/postgres.'
    )
  }
  oneOf(`${url}: status`, status, [200, 207])
  if ('transaction' in config && config.transaction !== undefined && config.transaction !== false) {
    throw refuse('config.transaction must not be set on a batch: it would open a transaction around every batch. Use atomic instead.')
  }
  return {
    paths: paths.map((path) => prefix + path),
    methods,
    atomic,
    status,
    batches,
    get forwardedHeaders() {
      return settings.forwardedHeaders()
    },
    maxOperations: integer(`${url}: maxOperations`, route.maxOperations ?? 100, 1, 1000),
    maxResponseBytes: integer(`${url}: maxResponseBytes`, route.maxResponseBytes ?? 786_432, 1, 64 * 1_048_576),
    maxMs: integer(`${url}: maxSeconds`, route.maxSeconds ?? 20, 1, 3600) * 1000
  }
}
