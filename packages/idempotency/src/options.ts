import { measureCalls } from '@concordat/plugin-kit/observer'
import {
  callback,
  describeOptions,
  duration,
  flag,
  headerName,
  instance,
  integer,
  number,
  type OptionsOf,
  oneOf,
  optionChecks,
  required,
  type SettingsOf,
  value
} from '@concordat/plugin-kit/options'
import { contractLater, contractOf, type RequestTransaction } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { requireBody } from './key/fingerprint.ts'
import { type IdempotencyOutcome, outcomes } from './outcome.ts'
import { codingField, maxBodyBytes } from './stored/compression.ts'
import { memoryIdempotencyStore } from './stored/memory-store.ts'
import type { IdempotencyStore } from './stored/store.ts'
import { statusField } from './stored/stored-form.ts'
import { responseFields } from './stored/stored-response.ts'

const maxBytesOfClient = 2 ** 40
const checks = optionChecks('idempotency')

/** What a route can set; the options of the plugin are the defaults. */
const policyOptions = describeOptions('idempotency', {
  /** How long a response is stored and replayed. */
  lifetimeSeconds: integer({ default: 86_400, min: 60, max: 400 * 86_400 }),
  /** How long a retry waits for the request that is still in progress, before it gets 409. */
  waitSeconds: number({ default: 0, max: 60 }),
  /** What happens to a 5xx outside a transaction: `store` replays it, because it may have taken effect; `release` runs the handler again. */
  serverErrors: oneOf(['store', 'release'], { default: 'store' }),
  /** What happens when the process that ran the request was lost: `runAgain` runs the handler again, `refuse` responds with 409. */
  whenOutcomeUnknown: oneOf(['runAgain', 'refuse'], { default: 'runAgain' }),
  /** The maximum size of a stored body, before compression. A larger one gets 422 in a transaction; otherwise retries get 409. */
  maxStoredBytes: integer({ default: 1_048_576, max: maxBodyBytes })
})

/** The description of {@link RouteIdempotency}. */
export const routeIdempotencyOptions = describeOptions('idempotency', {
  /** Whether a request without a key is rejected or runs without protection. */
  key: required(value<'required' | 'accepted'>()),
  ...policyOptions.members,
  /** While the store fails: `refuse` responds with 503; `dangerouslyBypass` runs without protection and sends `Idempotency-Status: bypassed`. Operators change it while the store is down. */
  whenStoreFails: oneOf(['refuse', 'dangerouslyBypass'], { default: 'refuse' }),
  /** Returns what is compared instead of the body, before validation. Required for bodies that are streams, such as multipart without `config.upload`. */
  comparedBody: callback<(request: FastifyRequest) => unknown>('takes the request and returns the value to compare', {
    default: requireBody
  })
})

/** The object form of `config.idempotency` of a route. */
export interface RouteIdempotency extends OptionsOf<typeof routeIdempotencyOptions> {}

/** The description of {@link IdempotencyOptions}. @readme */
export const idempotencyOptions = describeOptions(
  'idempotency',
  {
    /** Returns an id of the client, such as issuer and subject together; by default as authentication knows it. Without clients, `() => 'everyone'`. */
    scope: callback<(request: FastifyRequest) => string | undefined>('returns the client'),
    /** The header by which `scope` identifies a client, for the error without one. */
    clientHeader: headerName({ default: 'Authorization' }),
    /** The store of claims and responses. By default in memory. */
    store: instance<IdempotencyStore>(
      ['begin', 'renew', 'complete', 'release'],
      'IdempotencyStore, for example memoryIdempotencyStore() or redisIdempotencyStore(redis)'
    ),
    /** Whether a store of this process alone is allowed in production. */
    dangerouslyUnshared: flag(),
    /** How long a claim remains valid after its process is lost. Operators raise it while processes stall. */
    leaseSeconds: duration({ default: 30, min: 0.1, max: 600 }),
    /** How long a handler can hold its claim. After that, its signal aborts and a retry may run. */
    maxRunSeconds: integer({ default: 300, min: 1, max: 86_400 }),
    /** The timeout of calls to the store, and how long storing a response is retried. Operators raise it while the store is slow. */
    storeTimeoutSeconds: duration({ default: 2, min: 0.001, max: 60 }),
    /** How many bytes a client may store. Then responses are stored without data, and at twice as many, new keys get 429. Operators raise it for a client that gets 429. */
    maxClientBytes: integer({ default: 1_073_741_824, min: 1, max: maxBytesOfClient }),
    /** Returns another `maxClientBytes` for the client of a request, such as a backend that sends many, or undefined. */
    maxClientBytesFor: callback<(request: FastifyRequest) => number | undefined>('returns the bytes of the client'),
    /** Further header fields that are stored and replayed, in lower case. */
    replayedFields: value<readonly string[]>({ default: [] }),
    ...policyOptions.members
  },
  { onOutcome: 'Read the counter concordat.idempotency.outcomes of @concordat/telemetry.' }
)

/** Options of `@concordat/idempotency`. */
export interface IdempotencyOptions extends OptionsOf<typeof idempotencyOptions> {}

/** The policy options with defaults applied. */
export type SharedPolicy = SettingsOf<(typeof policyOptions)['members']>

/** The validated options with defaults applied. */
export interface Settings extends Omit<SettingsOf<(typeof idempotencyOptions)['members']>, 'store' | 'scope' | 'maxClientBytesFor'> {
  /** Returns the client of a request: by the option `scope`, otherwise by authentication. */
  readonly scope: (request: FastifyRequest) => string | undefined
  readonly knowsClients: () => boolean
  /** Returns how many bytes the client of a request may store, if not `maxClientBytes`. */
  readonly maxBytesOf: ((request: FastifyRequest) => number | undefined) | undefined
  /** Returns the transaction in which a request runs. */
  readonly transaction: (request: FastifyRequest) => RequestTransaction | undefined
  readonly store: IdempotencyStore
  readonly maxRunMs: number
  readonly responseFields: readonly string[]
  readonly countOutcome: (outcome: IdempotencyOutcome) => void
  readonly policy: SharedPolicy
}

/** Returns the validated options with defaults applied. Throws a `TypeError` that names the first invalid option. */
export function resolveOptions(options: IdempotencyOptions, app: FastifyInstance): Settings {
  const settings = idempotencyOptions.readPlugin(options)
  const { scope } = settings
  const clients = contractLater(app, 'clients')
  const transactions = contractLater(app, 'transactions')
  const { maxRunSeconds, replayedFields, maxClientBytesFor } = settings
  const observer = contractOf(app, 'observer')
  const { lifetimeSeconds, waitSeconds, serverErrors, whenOutcomeUnknown, maxStoredBytes } = settings
  return {
    ...settings,
    scope: scope ?? ((request) => clients()?.clientOf(request)),
    knowsClients: () => (scope ?? clients()) !== undefined,
    maxBytesOf:
      maxClientBytesFor &&
      ((request) => {
        const own = maxClientBytesFor(request)
        return own === undefined ? own : checks.integer('the result of options.maxClientBytesFor', own, 1, maxBytesOfClient)
      }),
    transaction: (request) => transactions()?.transactionOf(request),
    store: settings.store ? measureCalls(observer, 'idempotency', settings.store) : memoryIdempotencyStore(),
    maxRunMs: maxRunSeconds * 1000,
    responseFields: [...responseFields, ...replayedFields.map(requireField)],
    countOutcome: (outcome) => observer?.count(outcomes, { outcome }),
    policy: { lifetimeSeconds, waitSeconds, serverErrors, whenOutcomeUnknown, maxStoredBytes }
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
