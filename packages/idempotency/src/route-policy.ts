import type { FastifyRequest } from 'fastify'
import { requireBody } from './fingerprint.ts'
import { requireOneOf, requireWhole } from './requirements.ts'

/** What a route may decide for itself, where the options of the plugin give the default. */
export interface PolicyOptions {
  /** How long an answer is kept, and a retry gets it. At least a minute, at most 400 days. @default 86400 */
  readonly lifetimeSeconds?: number | undefined
  /**
   * How long a retry waits for the request that is still being carried out, before it gets 409. At most a minute.
   * @default 0
   */
  readonly waitMilliseconds?: number | undefined
  /**
   * What becomes of an answer of 500 or more, outside a transaction: `store` replays it, since the request may have half happened;
   * `release` lets a retry run the handler again. In a transaction it is rolled back, and the key is free.
   * @default 'store'
   */
  readonly serverErrors?: 'store' | 'release' | undefined
  /**
   * What a retry gets when the process that ran the request was lost before its answer was stored: `runAgain` runs the handler again, with
   * `request.idempotency.attempt` over 1; `refuse` answers 409 `IDEMPOTENCY_OUTCOME_UNKNOWN`.
   * @default 'runAgain'
   */
  readonly whenOutcomeUnknown?: 'runAgain' | 'refuse' | undefined
  /** The largest body that is kept. A retry of a request with a larger answer gets 409, and is not run. At most 16 MiB. @default 1048576 */
  readonly maximumStoredBytes?: number | undefined
}

/** `config.idempotency` of a route that decides more than whether it takes keys. */
export interface RouteIdempotency extends PolicyOptions {
  /** Whether a request without a key is refused, or runs without protection. */
  readonly key: 'required' | 'accepted'
  /**
   * What happens while the store fails: `refuse` answers 503; `dangerouslyBypass` runs the handler without protection, and says
   * `Idempotency-Status: bypassed` in the answer.
   * @default 'refuse'
   */
  readonly whenStoreFails?: 'refuse' | 'dangerouslyBypass' | undefined
  /**
   * What is compared in place of the body: the parts of a multipart body, or the body without what differs at each retry. Called before
   * validation.
   * @default (request) => request.body
   */
  readonly comparedBody?: ((request: FastifyRequest) => unknown) | undefined
}

/** What plugin and route say together. */
export type SharedPolicy = { readonly [Name in keyof PolicyOptions]-?: Exclude<PolicyOptions[Name], undefined> }

/** What holds for the keyed requests of a route. */
export interface RoutePolicy extends SharedPolicy {
  readonly isRequired: boolean
  readonly bypassesFailedStore: boolean
  readonly comparedBody: (request: FastifyRequest) => unknown
}

/** What is known of a route when it is registered. */
export interface RouteFacts {
  readonly method: string | readonly string[]
  readonly url: string
  readonly config?: { readonly idempotency?: unknown } | undefined
}

const members = [
  'key',
  'lifetimeSeconds',
  'waitMilliseconds',
  'serverErrors',
  'whenOutcomeUnknown',
  'maximumStoredBytes',
  'whenStoreFails',
  'comparedBody'
]

/** What holds where neither the plugin nor the route says otherwise. */
export const generalPolicy: SharedPolicy = {
  lifetimeSeconds: 86_400,
  waitMilliseconds: 0,
  serverErrors: 'store',
  whenOutcomeUnknown: 'runAgain',
  maximumStoredBytes: 1024 * 1024
}

/** Fills in and checks; `name` begins the one line of the `TypeError` for what makes no sense. */
export function resolvePolicy(name: string, own: PolicyOptions, general: SharedPolicy): SharedPolicy {
  const { whenOutcomeUnknown = general.whenOutcomeUnknown, serverErrors = general.serverErrors } = own
  const { lifetimeSeconds = general.lifetimeSeconds, waitMilliseconds = general.waitMilliseconds } = own
  const { maximumStoredBytes = general.maximumStoredBytes } = own
  return {
    lifetimeSeconds: requireWhole(`${name}lifetimeSeconds`, lifetimeSeconds, 60, 400 * 86_400),
    waitMilliseconds: requireWhole(`${name}waitMilliseconds`, waitMilliseconds, 0, 60_000),
    serverErrors: requireOneOf(`${name}serverErrors`, serverErrors, ['store', 'release']),
    whenOutcomeUnknown: requireOneOf(`${name}whenOutcomeUnknown`, whenOutcomeUnknown, ['runAgain', 'refuse']),
    maximumStoredBytes: requireWhole(`${name}maximumStoredBytes`, maximumStoredBytes, 0, 16 * 1024 * 1024)
  }
}

/** The policy of a route, `undefined` for one that takes no keys. Throws a `TypeError` with one line for a config that makes no sense. */
export function policyOf({ method, url, config }: RouteFacts, general: SharedPolicy): RoutePolicy | undefined {
  const wish = config?.idempotency
  if (wish === undefined || wish === 'off') return undefined
  const name = `${String(method)} ${url}`
  const own = (typeof wish === 'string' ? { key: wish } : wish) as RouteIdempotency
  if (typeof own !== 'object' || own === null || (own.key !== 'required' && own.key !== 'accepted')) {
    throw new TypeError(
      `idempotency: ${name} has config.idempotency ${JSON.stringify(wish)}. Give "required", "accepted" or "off", or { key, … }.`
    )
  }
  const unknown = Object.keys(own).find((member) => !members.includes(member))
  if (unknown !== undefined) {
    throw new TypeError(`idempotency: ${name} has the unknown member idempotency.${unknown}. There are ${members.join(', ')}.`)
  }
  const other = [method].flat().find((one) => one !== 'POST' && one !== 'PATCH')
  if (other !== undefined) {
    throw new TypeError(
      `idempotency: ${name} takes keys, which are for POST and PATCH: ${other} may be repeated as it is. Leave them out there.`
    )
  }
  const { comparedBody = requireBody, whenStoreFails = 'refuse' } = own
  if (typeof comparedBody !== 'function') {
    throw new TypeError(
      `idempotency: ${name} has an idempotency.comparedBody that is no function. Give one from the request to what is compared.`
    )
  }
  return {
    ...resolvePolicy(`${name} has idempotency.`, own, general),
    isRequired: own.key === 'required',
    bypassesFailedStore:
      requireOneOf(`${name} has idempotency.whenStoreFails`, whenStoreFails, ['refuse', 'dangerouslyBypass']) !== 'refuse',
    comparedBody
  }
}
