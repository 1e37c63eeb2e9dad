import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KeySyntax } from './idempotency-key.ts'
import { memoryStore } from './memory-store.ts'
import type { TellOutcome } from './outcome.ts'
import { requireOneOf, requireWhole } from './requirements.ts'
import { generalPolicy, type PolicyOptions, resolvePolicy, type SharedPolicy } from './route-policy.ts'
import type { IdempotencyStore, RequestTransaction } from './store.ts'
import { answerFields } from './stored-answer.ts'

/** What `@concordat/idempotency` can be told. What is also in {@link PolicyOptions} is the default for all routes. */
export interface IdempotencyOptions extends PolicyOptions {
  /**
   * Whose key it is, once authentication has run: issuer, client and subject of the principal. The keys of one client never meet those
   * of another. Needed as soon as a route takes keys; `() => 'everyone'` for a service that has no clients.
   */
  readonly scope?: ((request: FastifyRequest) => string | undefined) | undefined
  /** Where claims and answers are kept. @default memoryStore() */
  readonly store?: IdempotencyStore | undefined
  /** Lets a store that other processes do not see run in production. @default false */
  readonly dangerouslyUnshared?: boolean | undefined
  /**
   * The transaction that the request runs in, `undefined` for none. A store that is able to keeps claim and answer inside it; with any
   * other store the answer is kept after it was committed.
   */
  readonly transaction?: ((request: FastifyRequest) => RequestTransaction | undefined) | undefined
  /** Whether the bare form of a key is read beside the quoted one. @default 'both' */
  readonly keySyntax?: KeySyntax | undefined
  /** How long a claim stands when its process is lost; it is renewed three times in that time. From 100 to ten minutes. @default 30000 */
  readonly leaseMilliseconds?: number | undefined
  /** How long a handler keeps its claim. After it, its signal aborts and a retry may run. @default 300 */
  readonly longestRunSeconds?: number | undefined
  /** How long the store is waited for, and how long it is tried to store an answer. @default 2000 */
  readonly storeTimeoutMilliseconds?: number | undefined
  /** How often records whose time is over are deleted, where the store does not do it by itself. @default 60 */
  readonly sweepSeconds?: number | undefined
  /** How many retries of one key wait in this process; further ones get 409 at once. @default 10 */
  readonly maximumWaitersPerKey?: number | undefined
  /** How many retries wait in this process. @default 1000 */
  readonly maximumWaiters?: number | undefined
  /** Header fields of the service's own that belong to an answer and come back with it, in lower case. @default [] */
  readonly replayedFields?: readonly string[] | undefined
  /** A page about keys: 400 names it in `Link` with `rel="describedby"`. */
  readonly documentationUrl?: string | undefined
  /** Is called before a kept answer is sent in place of the handler's, as to mark it for what shapes answers. */
  readonly onReplay?: ((request: FastifyRequest, reply: FastifyReply) => void) | undefined
  /** Is told what became of each request with a key, for counting. */
  readonly onOutcome?: TellOutcome | undefined
}

/** The options as the plugin works with them. */
export interface Settings {
  readonly scope: ((request: FastifyRequest) => string | undefined) | undefined
  readonly store: IdempotencyStore
  /** Refuses a store that other processes do not see, where there may be others. */
  readonly requireShared: () => void
  readonly transaction: (request: FastifyRequest) => RequestTransaction | undefined
  readonly keySyntax: KeySyntax
  readonly leaseMilliseconds: number
  readonly longestRunMilliseconds: number
  readonly storeTimeoutMilliseconds: number
  readonly sweepMilliseconds: number
  readonly maximumWaitersPerKey: number
  readonly maximumWaiters: number
  readonly answerFields: readonly string[]
  readonly badKeyHeaders: Readonly<Record<string, string>>
  readonly onReplay: (request: FastifyRequest, reply: FastifyReply) => void
  readonly onOutcome: TellOutcome
  readonly policy: SharedPolicy
}

const methods = ['begin', 'renew', 'complete', 'release'] as const

/** Fills in the defaults. Throws a `TypeError` with one line for what can't work. */
export function resolveOptions(options: IdempotencyOptions): Settings {
  const { scope, store = memoryStore(), transaction, keySyntax = 'both', replayedFields = [], onReplay, onOutcome } = options
  for (const [name, value] of Object.entries({ scope, transaction, onReplay, onOutcome })) {
    if (value !== undefined && typeof value !== 'function') {
      throw new TypeError(`idempotency: ${name} is a ${typeof value}. Give a function.`)
    }
  }
  requireStore(store)
  return {
    scope,
    store,
    requireShared: () => requireShared(store, options.dangerouslyUnshared === true),
    transaction: store.guarantees.transactional && transaction ? transaction : () => undefined,
    keySyntax: requireOneOf('keySyntax', keySyntax, ['both', 'quoted']),
    leaseMilliseconds: requireWhole('leaseMilliseconds', options.leaseMilliseconds ?? 30_000, 100, 600_000),
    longestRunMilliseconds: requireWhole('longestRunSeconds', options.longestRunSeconds ?? 300, 1, 86_400) * 1000,
    storeTimeoutMilliseconds: requireWhole('storeTimeoutMilliseconds', options.storeTimeoutMilliseconds ?? 2000, 1, 60_000),
    sweepMilliseconds: requireWhole('sweepSeconds', options.sweepSeconds ?? 60, 1, 86_400) * 1000,
    maximumWaitersPerKey: requireWhole('maximumWaitersPerKey', options.maximumWaitersPerKey ?? 10, 0, 100_000),
    maximumWaiters: requireWhole('maximumWaiters', options.maximumWaiters ?? 1000, 0, 100_000),
    answerFields: [...answerFields, ...replayedFields.map(requireField)],
    badKeyHeaders: describedBy(options.documentationUrl),
    onReplay: onReplay ?? (() => {}),
    onOutcome: onOutcome ?? (() => {}),
    policy: resolvePolicy('', options, generalPolicy)
  }
}

function requireStore(store: IdempotencyStore) {
  if (typeof store !== 'object' || store === null || methods.some((method) => typeof store[method] !== 'function')) {
    throw new TypeError('idempotency: store is no store. Give one, as memoryStore() or redisIdempotency(redis).')
  }
}

function requireShared(store: IdempotencyStore, mayBeUnshared: boolean) {
  if (!store.guarantees.shared && process.env['NODE_ENV'] === 'production' && !mayBeUnshared) {
    throw new TypeError(
      'idempotency: in production the store must be one that all processes share, or a retry runs again elsewhere. Give one, or set dangerouslyUnshared for a single process.'
    )
  }
}

// What belongs to one client, one connection or one moment.
const neverReplayed = new Set([
  'set-cookie',
  'date',
  'connection',
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'vary',
  'request-id'
])

function requireField(field: string) {
  if (typeof field !== 'string' || !/^[a-z][a-z0-9-]*$/.test(field) || neverReplayed.has(field)) {
    throw new TypeError(`idempotency: replayedFields has "${field}". Give names of header fields that belong to an answer, in lower case.`)
  }
  return field
}

function describedBy(url: string | undefined): Readonly<Record<string, string>> {
  if (url === undefined) return {}
  if (!URL.canParse(url) || /[\s<>]/.test(url)) {
    throw new TypeError(`idempotency: documentationUrl is "${url}". Give an absolute URL.`)
  }
  return { link: `<${url}>; rel="describedby"` }
}
