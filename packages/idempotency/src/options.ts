import { optionChecks, requirePluginNames } from '@concordat/plugin-options'
import { contractOf, type RequestTransaction } from '@concordat/plugin-wiring'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { codingField } from './compression.ts'
import type { KeySyntax } from './idempotency-key.ts'
import { memoryIdempotencyStore } from './memory-store.ts'
import { harmless, type OnOutcome } from './outcome.ts'
import { generalPolicy, type PolicyOptions, resolvePolicy, type SharedPolicy } from './route-policy.ts'
import type { IdempotencyStore } from './store.ts'
import { statusField } from './stored-form.ts'
import { responseFields } from './stored-response.ts'

/** Options of `@concordat/idempotency`. Those from {@link PolicyOptions} are the defaults for all routes. */
export interface IdempotencyOptions extends PolicyOptions {
  /**
   * Returns a string that identifies the authenticated client, for example issuer, client id and subject together. The keys of different
   * clients never collide. Required as soon as a route accepts keys; use `() => 'everyone'` for a service without clients. A request with a key for
   * which it returns no client gets 400 `CLIENT_NOT_IDENTIFIED`.
   */
  readonly scope?: ((request: FastifyRequest) => string | undefined) | undefined
  /** The header by which `scope` identifies a client. The 400 response to a request without a client names it. @default 'Authorization' */
  readonly clientHeader?: string | undefined
  /** The store of claims and responses. @default memoryIdempotencyStore() */
  readonly store?: IdempotencyStore | undefined
  /** Whether a store that is not shared between processes is allowed in production, for a service with only one process. @default false */
  readonly dangerouslyUnshared?: boolean | undefined
  /**
   * Returns the transaction that the request runs in, or `undefined` for none, before the handler and everything that wraps it is called. A `transactional` store writes claim and response inside
   * it; with any other store, the response is stored after COMMIT. In both cases a rolled-back 5xx leaves the key free.
   */
  readonly transaction?: ((request: FastifyRequest) => RequestTransaction | undefined) | undefined
  /** The accepted syntax of keys: `both` quoted and bare keys, or only `quoted` keys. @default 'both' */
  readonly keySyntax?: KeySyntax | undefined
  /**
   * How long a claim remains valid after its process is lost; a running process renews it three times in that period. From 0.1 to 600.
   * @default 30
   */
  readonly leaseSeconds?: number | undefined
  /** How long a handler can hold its claim. After that, its signal aborts and a retry may run. @default 300 */
  readonly maxRunSeconds?: number | undefined
  /** The timeout of calls to the store, and how long storing a response is retried. @default 2 */
  readonly storeTimeoutSeconds?: number | undefined
  /** How often expired records are deleted, if the store does not delete them itself. @default 60 */
  readonly sweepSeconds?: number | undefined
  /** The maximum number of retries with the same key that wait in this process; further retries get 409 immediately. @default 10 */
  readonly maxWaitersPerKey?: number | undefined
  /** The maximum number of retries that wait in this process in total. @default 1000 */
  readonly maxWaiters?: number | undefined
  /**
   * How many bytes of stored responses a client may have, as compressed. Over that, a new response is stored without its data: a replay has the
   * status code, the stored header fields, ids and links, and `Idempotency-Status: incomplete`. At twice as many bytes, a new key gets 429 until the
   * first response expires. A response counts as at least 1 KiB. Raise it if `scope` does not distinguish clients.
   * @default 67108864
   */
  readonly maxClientBytes?: number | undefined
  /** Additional header fields that are stored and replayed with a response, in lower case. @default [] */
  readonly replayedFields?: readonly string[] | undefined
  /** The URL of a page that documents the use of keys; a 400 response links to it with `rel="describedby"`. */
  readonly documentationUrl?: string | undefined
  /**
   * Called before a stored response is sent instead of the handler's, for example to mark it for a plugin that formats responses.
   * @default tells @concordat/envelope, where it is registered, that the response is already in the envelope
   */
  readonly onReplay?: ((request: FastifyRequest, reply: FastifyReply) => void) | undefined
  /** Called with the outcome of each request with a key, for metrics. */
  readonly onOutcome?: OnOutcome | undefined
}

/** The validated options with defaults applied. */
export interface Settings {
  readonly scope: ((request: FastifyRequest) => string | undefined) | undefined
  readonly clientHeader: string
  readonly store: IdempotencyStore
  /** Throws for a store that is not shared, when other processes may exist. */
  readonly requireShared: () => void
  readonly transaction: (request: FastifyRequest) => RequestTransaction | undefined
  readonly keySyntax: KeySyntax
  readonly leaseMs: number
  readonly maxRunMs: number
  readonly storeTimeoutMs: number
  readonly sweepMs: number
  readonly maxWaitersPerKey: number
  readonly maxWaiters: number
  readonly maxClientBytes: number
  readonly responseFields: readonly string[]
  readonly badKeyHeaders: Readonly<Record<string, string>>
  readonly onReplay: (request: FastifyRequest, reply: FastifyReply) => void
  readonly onOutcome: OnOutcome
  readonly policy: SharedPolicy
}

const { headerName, integer, number, oneOf } = optionChecks('idempotency')

const methods = ['begin', 'renew', 'complete', 'release'] as const

/** Returns the validated options with defaults applied. Throws a `TypeError` that names the first invalid option. */
export function resolveOptions(options: IdempotencyOptions, log: FastifyBaseLogger): Settings {
  requirePluginNames('idempotency', options, {
    lifetimeSeconds: true,
    waitSeconds: true,
    serverErrors: true,
    whenOutcomeUnknown: true,
    maxStoredBytes: true,
    scope: true,
    clientHeader: true,
    store: true,
    dangerouslyUnshared: true,
    transaction: true,
    keySyntax: true,
    leaseSeconds: true,
    maxRunSeconds: true,
    storeTimeoutSeconds: true,
    sweepSeconds: true,
    maxWaitersPerKey: true,
    maxWaiters: true,
    maxClientBytes: true,
    replayedFields: true,
    documentationUrl: true,
    onReplay: true,
    onOutcome: true
  })
  const { scope, store = memoryIdempotencyStore(), transaction, keySyntax = 'both', replayedFields = [], onReplay, onOutcome } = options
  for (const [name, value] of Object.entries({ scope, transaction, onReplay, onOutcome })) {
    if (value !== undefined && typeof value !== 'function') {
      throw new TypeError(`idempotency: options.${name} must be a function, but its type is ${typeof value}.`)
    }
  }
  requireStore(store)
  return {
    scope,
    clientHeader: headerName('options.clientHeader', options.clientHeader ?? 'Authorization'),
    store,
    requireShared: () => requireShared(store, options.dangerouslyUnshared === true),
    transaction: transaction ?? (() => undefined),
    keySyntax: oneOf('options.keySyntax', keySyntax, ['both', 'quoted']),
    leaseMs: milliseconds('leaseSeconds', options.leaseSeconds ?? 30, 0.1, 600),
    maxRunMs: integer('options.maxRunSeconds', options.maxRunSeconds ?? 300, 1, 86_400) * 1000,
    storeTimeoutMs: milliseconds('storeTimeoutSeconds', options.storeTimeoutSeconds ?? 2, 0.001, 60),
    sweepMs: integer('options.sweepSeconds', options.sweepSeconds ?? 60, 1, 86_400) * 1000,
    maxWaitersPerKey: integer('options.maxWaitersPerKey', options.maxWaitersPerKey ?? 10, 0, 100_000),
    maxWaiters: integer('options.maxWaiters', options.maxWaiters ?? 1000, 0, 100_000),
    maxClientBytes: integer('options.maxClientBytes', options.maxClientBytes ?? 64 * 1024 * 1024, 1, 2 ** 40),
    responseFields: [...responseFields, ...replayedFields.map(requireField)],
    badKeyHeaders: describedBy(options.documentationUrl),
    onReplay: onReplay ?? markReplayed,
    onOutcome: harmless(onOutcome ?? (() => {}), log),
    policy: resolvePolicy('options.', options, generalPolicy)
  }
}

function markReplayed(request: FastifyRequest, reply: FastifyReply) {
  contractOf(request.server, 'envelope')?.markReplayed(request, reply)
}

function milliseconds(name: string, seconds: number, min: number, max: number) {
  return Math.round(number(`options.${name}`, seconds, min, max) * 1000)
}

function requireStore(store: IdempotencyStore) {
  if (typeof store !== 'object' || store === null || methods.some((method) => typeof store[method] !== 'function')) {
    throw new TypeError(
      'idempotency: options.store must implement IdempotencyStore, for example memoryIdempotencyStore() or redisIdempotencyStore(redis).'
    )
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

function describedBy(url: string | undefined): Readonly<Record<string, string>> {
  if (url === undefined) return {}
  if (!URL.canParse(url) || /[\s<>]/.test(url)) {
    throw new TypeError(`idempotency: options.documentationUrl must be an absolute URL, but is "${url}".`)
  }
  return { link: `<${url}>; rel="describedby"` }
}
