import {
  callback,
  describeOptions,
  duration,
  flag,
  headerName,
  instance,
  integer,
  type OptionsOf,
  type SettingsOf,
  value
} from '@concordat/plugin-options'
import { contractLater, type RequestTransaction } from '@concordat/plugin-wiring'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { codingField } from './compression.ts'
import { memoryIdempotencyStore } from './memory-store.ts'
import { harmless, type OnOutcome } from './outcome.ts'
import { policyOptions, type SharedPolicy } from './route-policy.ts'
import type { IdempotencyStore } from './store.ts'
import { statusField } from './stored-form.ts'
import { responseFields } from './stored-response.ts'

/** The description of {@link IdempotencyOptions}. @readme */
export const idempotencyOptions = describeOptions('idempotency', {
  /**
   * Returns a string that identifies the authenticated client, for example issuer, client id and subject together. The keys of different clients never
   * collide. By default as authentication knows it. Required without it as soon as a route accepts keys; use `() => 'everyone'` for a service without clients. A request with a key for which it returns
   * no client gets 400 `CLIENT_NOT_IDENTIFIED`.
   */
  scope: callback<(request: FastifyRequest) => string | undefined>('returns the client'),
  /** The header by which `scope` identifies a client, which the 400 names. */
  clientHeader: headerName({ default: 'Authorization' }),
  /** The store of claims and responses, for example `redisIdempotencyStore` or `postgresIdempotencyStore`. By default in memory. */
  store: instance<IdempotencyStore>(
    ['begin', 'renew', 'complete', 'release'],
    'IdempotencyStore, for example memoryIdempotencyStore() or redisIdempotencyStore(redis)'
  ),
  /** Whether a store that is not shared between processes is allowed in production, for a service with only one process. */
  dangerouslyUnshared: flag(),
  /** How long a claim remains valid after its process is lost; a running process renews it three times in that period. */
  leaseSeconds: duration({ default: 30, min: 0.1, max: 600 }),
  /** How long a handler can hold its claim. After that, its signal aborts and a retry may run. */
  maxRunSeconds: integer({ default: 300, min: 1, max: 86_400 }),
  /** The timeout of calls to the store, and how long storing a response is retried. */
  storeTimeoutSeconds: duration({ default: 2, min: 0.001, max: 60 }),
  /**
   * How many bytes of stored responses a client may have, as compressed. Over that, a new response is stored without its data: a replay has the status
   * code, the stored header fields, ids and links, and `Idempotency-Status: incomplete`. At twice as many bytes, a new key gets 429 until the first
   * response expires. A response counts as at least 1 KiB. Raise it if `scope` does not distinguish clients.
   */
  maxClientBytes: integer({ default: 67_108_864, min: 1, max: 2 ** 40 }),
  /** Additional header fields that are stored and replayed with a response, in lower case. */
  replayedFields: value<readonly string[]>({ default: [] }),
  /** Called with the outcome of each request with a key, for metrics. */
  onOutcome: callback<OnOutcome>('gets the outcome', { default: () => {} }),
  ...policyOptions.members
})

/** Options of `@concordat/idempotency`. Those from {@link PolicyOptions} are the defaults for all routes. */
export interface IdempotencyOptions extends OptionsOf<typeof idempotencyOptions> {}

/** The validated options with defaults applied. */
export interface Settings extends Omit<SettingsOf<(typeof idempotencyOptions)['members']>, 'store' | 'scope'> {
  /** Returns the client of a request: by the option `scope`, otherwise by authentication. */
  readonly scope: (request: FastifyRequest) => string | undefined
  readonly knowsClients: () => boolean
  /** Returns the transaction in which a request runs. */
  readonly transaction: (request: FastifyRequest) => RequestTransaction | undefined
  readonly store: IdempotencyStore
  /** Throws for a store that is not shared, when other processes may exist. */
  readonly requireShared: () => void
  readonly maxRunMs: number
  readonly responseFields: readonly string[]
  readonly policy: SharedPolicy
}

/** Returns the validated options with defaults applied. Throws a `TypeError` that names the first invalid option. */
export function resolveOptions(options: IdempotencyOptions, app: FastifyInstance): Settings {
  const settings = idempotencyOptions.readPlugin(options)
  const { scope } = settings
  const clients = contractLater(app, 'clients')
  const transactions = contractLater(app, 'transactions')
  const { store = memoryIdempotencyStore(), dangerouslyUnshared, onOutcome, maxRunSeconds, replayedFields } = settings
  const { lifetimeSeconds, waitSeconds, serverErrors, whenOutcomeUnknown, maxStoredBytes } = settings
  return {
    ...settings,
    scope: scope ?? ((request) => clients()?.clientOf(request)),
    knowsClients: () => (scope ?? clients()) !== undefined,
    transaction: (request) => transactions()?.transactionOf(request),
    store,
    requireShared: () => requireShared(store, dangerouslyUnshared),
    maxRunMs: maxRunSeconds * 1000,
    responseFields: [...responseFields, ...replayedFields.map(requireField)],
    onOutcome: harmless(onOutcome, app.log),
    policy: { lifetimeSeconds, waitSeconds, serverErrors, whenOutcomeUnknown, maxStoredBytes }
  }
}

function requireShared(store: IdempotencyStore, mayBeUnshared: boolean) {
  if (!store.guarantees.shared && process.env['NODE_ENV'] === 'production' && !mayBeUnshared) {
    throw new TypeError(
      'idempotency: options.store must be shared by all processes in production, because a retry that reaches another process would be executed again. Set a shared store, or set options.dangerouslyUnshared if there is only one process.'
    )
  }
}

// Fields that belong to a single client, connection or point in time.
const neverReplayed = new Set([
  'set-cookie',
  'date',
  'connection',
  'transfer-encoding',
  'content-length',
  'vary',
  'request-id',
  codingField,
  statusField
])

function requireField(field: string) {
  if (typeof field !== 'string' || !/^[a-z][a-z0-9-]*$/.test(field) || neverReplayed.has(field)) {
    throw new TypeError(
      `idempotency: options.replayedFields contains "${field}", which cannot be replayed. Use lower-case names of response headers that do not depend on the connection.`
    )
  }
  return field
}
