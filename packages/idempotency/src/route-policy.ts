import {
  describeOptions,
  integer,
  number,
  type OptionNames,
  type OptionsOf,
  oneOf,
  optionChecks,
  requireKnownNames,
  type SettingsOf
} from '@concordat/plugin-options'
import type { FastifyRequest } from 'fastify'
import { maxBodyBytes } from './compression.ts'
import { requireBody } from './fingerprint.ts'
import type { RouteSecrets } from './secret-members.ts'

/** The description of {@link PolicyOptions}. @readme */
export const policyOptions = describeOptions('idempotency', {
  /** How long a response is stored and replayed. */
  lifetimeSeconds: integer({ default: 86_400, min: 60, max: 400 * 86_400 }),
  /** How long a retry waits for the request that is still in progress, before it gets 409. */
  waitSeconds: number({ default: 0, max: 60 }),
  /**
   * What happens to a response with a status code of 500 or higher, outside a transaction: `store` replays it, because the request may have partly
   * taken effect; `release` lets a retry run the handler again. In a transaction, the request is rolled back and the key is free.
   */
  serverErrors: oneOf(['store', 'release'], { default: 'store' }),
  /**
   * What happens to a retry when the process that ran the request was lost before the response was stored: `runAgain` runs the handler again, with
   * `request.idempotency.attempt` greater than 1; `refuse` responds with 409 `IDEMPOTENCY_OUTCOME_UNKNOWN`.
   */
  whenOutcomeUnknown: oneOf(['runAgain', 'refuse'], { default: 'runAgain' }),
  /**
   * The maximum size of a stored body, in bytes before compression. In a transaction, a larger response is refused with 422 and everything is
   * rolled back; otherwise it is sent, and a retry gets 409 and does not run.
   */
  maxStoredBytes: integer({ default: 1_048_576, max: maxBodyBytes })
})

/** Options that a route can set; the options of the plugin are the defaults. */
export interface PolicyOptions extends OptionsOf<typeof policyOptions> {}

/** The object form of `config.idempotency` of a route. */
export interface RouteIdempotency extends PolicyOptions {
  /** Whether a request without a key is rejected or runs without protection. */
  readonly key: 'required' | 'accepted'
  /**
   * What happens while the store fails: `refuse` responds with 503; `dangerouslyBypass` runs the handler without protection and sends
   * `Idempotency-Status: bypassed` in the response.
   * @default 'refuse'
   */
  readonly whenStoreFails?: 'refuse' | 'dangerouslyBypass' | undefined
  /**
   * Returns the value to compare instead of the body, for example the parts of a multipart body, or the body without fields that differ in each
   * retry. Called before validation.
   * @default (request) => request.body
   */
  readonly comparedBody?: ((request: FastifyRequest) => unknown) | undefined
}

/** Returns the name of a route, for messages. */
export function routeName({ method, url }: { readonly method: unknown; readonly url?: string | undefined }): string {
  return `${String(method)} ${String(url)}`
}

/** The policy options with defaults applied. */
export type SharedPolicy = SettingsOf<(typeof policyOptions)['members']>

/** The idempotency policy of a route. */
export interface RoutePolicy extends SharedPolicy {
  readonly isRequired: boolean
  readonly bypassesFailedStore: boolean
  readonly comparedBody: (request: FastifyRequest) => unknown
  /** The secrets in the responses of the route. Their schemas are complete when the server is ready. */
  secrets: RouteSecrets
}

/** The part of the route options that `policyOf` reads. */
export interface RouteFacts {
  readonly method: string | readonly string[]
  readonly url: string
  readonly config?: { readonly idempotency?: unknown } | undefined
}

const names: OptionNames<RouteIdempotency> = {
  key: true,
  lifetimeSeconds: true,
  waitSeconds: true,
  serverErrors: true,
  whenOutcomeUnknown: true,
  maxStoredBytes: true,
  whenStoreFails: true,
  comparedBody: true
}

/** Returns the policy of a route, or `undefined` if it does not accept keys. Throws a `TypeError` for an invalid config. */
export function policyOf({ method, url, config }: RouteFacts, general: SharedPolicy): RoutePolicy | undefined {
  const setting = config?.idempotency
  if (setting === undefined || setting === 'off') return undefined
  const name = `${String(method)} ${url}`
  const own = (typeof setting === 'string' ? { key: setting } : setting) as RouteIdempotency
  requireKnownNames('idempotency', own, names, `${name}: config.idempotency`)
  if (typeof own !== 'object' || own === null || (own.key !== 'required' && own.key !== 'accepted')) {
    throw new TypeError(
      `idempotency: ${name}: config.idempotency must be "required", "accepted", "off" or an object { key, … }, but is ${JSON.stringify(setting)}.`
    )
  }
  const other = [method].flat().find((one) => one !== 'POST' && one !== 'PATCH')
  if (other !== undefined) {
    throw new TypeError(
      `idempotency: ${name}: config.idempotency is allowed only on POST and PATCH, because ${other} can be repeated without a key. Remove it.`
    )
  }
  const { key, comparedBody = requireBody, whenStoreFails = 'refuse', ...policy } = own
  if (typeof comparedBody !== 'function') {
    throw new TypeError(
      `idempotency: ${name}: config.idempotency.comparedBody must be a function that takes the request and returns the value to compare.`
    )
  }
  const path = `${name}: config.idempotency`
  optionChecks('idempotency').oneOf(`${path}.whenStoreFails`, whenStoreFails, ['refuse', 'dangerouslyBypass'])
  return {
    ...policyOptions.read({ ...general, ...withoutUndefined(policy) }, path),
    isRequired: key === 'required',
    bypassesFailedStore: whenStoreFails !== 'refuse',
    comparedBody,
    secrets: new Map()
  }
}

function withoutUndefined(options: PolicyOptions): PolicyOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}
