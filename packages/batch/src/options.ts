import { describeOptions, type OptionsOf, oneOf, required, type SettingsOf, value } from '@concordat/plugin-kit/options'
import { type Contracts, contractLater, type RequestKey } from '@concordat/plugin-kit/wiring'
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'

const batchOptions = describeOptions('batch', {})

/** Options of `@concordat/batch`: there are none. */
export interface BatchOptions extends OptionsOf<typeof batchOptions> {}

/** The description of {@link BatchRoute}. @readme */
export const batchRouteOptions = describeOptions(
  'batch',
  {
    /** Paths that operations may use, with all paths below them, relative to the prefix of the batch. */
    paths: required(value<readonly string[]>()),
    /** `config` of the route, for example permissions and idempotency. */
    config: value<FastifyContextConfig>(),
    /** When either all operations take effect or none: `byRequest` if the body has `atomic: true`. */
    atomic: oneOf(['never', 'byRequest', 'always'], { default: 'never' })
  },
  { maxRequestBytes: 'Set bodyLimit of the service.' }
)

/** Options of `app.batch()`. */
export interface BatchRoute extends OptionsOf<typeof batchRouteOptions> {}

// They describe the client and the connection.
const alwaysForwarded = [
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
export interface RouteSettings extends SettingsOf<(typeof batchRouteOptions)['members']> {
  readonly forwardedHeaders: ReadonlySet<string>
  /** Paths of all batches of the service. */
  readonly batches: ReadonlySet<string>
}

/** Applies the defaults. Throws a `TypeError` with a one-line message when an option is invalid. */
export function resolveOptions(options: BatchOptions, app: FastifyInstance): Settings {
  batchOptions.readPlugin(options)
  const idempotency = contractLater(app, 'idempotency')
  const clients = contractLater(app, 'clients')
  let forwarded: ReadonlySet<string> | undefined
  return {
    transactions: contractLater(app, 'transactions'),
    batchKey: (request) => idempotency()?.keyOf(request),
    // Known once all plugins are registered.
    forwardedHeaders: () => (forwarded ??= new Set([...alwaysForwarded, ...(clients()?.credentialHeaders ?? [])]))
  }
}

/** Applies the defaults to the options of a batch. Throws a `TypeError` with a one-line message that names the batch. */
export function resolveRoute(
  url: string,
  prefix: string,
  route: BatchRoute,
  { transactions, forwardedHeaders }: Settings,
  batches: ReadonlySet<string>
): RouteSettings {
  const settings = batchRouteOptions.read(route, `${url}: options`)
  const { paths, atomic } = settings
  const config: object = settings.config ?? {}
  const refuse = (reason: string) => new TypeError(`batch: ${url}: ${reason}`)
  if (!Array.isArray(paths) || paths.length === 0 || paths.some((path) => !/^(\/[\w.~-]+)+$/.test(path))) {
    throw refuse(
      `paths must be a non-empty array of the paths that operations may use, for example ["/orders"], but is ${JSON.stringify(paths)}.`
    )
  }
  if (atomic !== 'never' && transactions()?.runAsOne === undefined) {
    throw refuse(
      'atomic requires transactions. Register a plugin that runs them first, for example the unit of work of @concordat/postgres.'
    )
  }
  if ('transaction' in config && config.transaction !== undefined && config.transaction !== false) {
    throw refuse('config.transaction must not be set on a batch: it would open a transaction around every batch. Use atomic instead.')
  }
  if ('tenant' in config && config.tenant === 'none') {
    throw refuse("config.tenant must not be 'none' on a batch, because all of its operations have its tenant. Remove it.")
  }
  return {
    ...settings,
    paths: paths.map((path) => prefix + path),
    get forwardedHeaders() {
      return forwardedHeaders()
    },
    batches
  }
}
