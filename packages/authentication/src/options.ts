import type { ApiKeyStore } from './api-key-store.ts'
import type { CredentialPlaces } from './credentials.ts'
import { type OutsideIssuerOptions, outsideIssuer } from './outside-issuer.ts'
import { type OwnTokensOptions, ownTokens } from './own-tokens.ts'
import { type PermissionTable, permissionTable } from './permissions.ts'
import type { Policy } from './policies.ts'
import { apiKeyIssuer } from './principal.ts'
import type { Revocations } from './revocation-feed.ts'
import { accessReader, type Declaration } from './route-access.ts'
import { defaultMaxTokenLength } from './token-form.ts'
import type { TrustedIssuer } from './trusted-issuer.ts'
import { credentialNames, uriCredentialTest } from './uri-credentials.ts'

/** How client applications that have an API key are known (rule U6). */
export interface ApiKeyOptions {
  readonly store: ApiKeyStore
  /** The permissions of low risk that a key may give at all; others that a record lists count for nothing. */
  readonly permissions: readonly string[]
  /**
   * The header that carries a key; `authorization` stands for `Authorization: ApiKey <key>`.
   * @default 'x-api-key'
   */
  readonly header?: string | undefined
  /**
   * How long a key that was removed may still be accepted.
   * @default 10
   */
  readonly cacheSeconds?: number | undefined
}

/** Lets browsers send the access token as a cookie. Requests that change something then have to come from the service's own pages (rule U12). */
export interface CookieOptions {
  /** Begins with `__Host-`, so that no other host can have set it. */
  readonly name: string
  /** Origins of pages that may send changes, besides the service's own; as `https://app.example.com`. */
  readonly origins: readonly string[]
}

/** What `@concordat/authentication` can be told. */
export interface AuthenticationOptions {
  /** Whose tokens are accepted: what `ownTokens` and `outsideIssuer` make, or the options of one of them. */
  readonly issuers: readonly (TrustedIssuer | OwnTokensOptions | OutsideIssuerOptions)[]
  /** Every permission there is, each `resource:action`. */
  readonly permissions: readonly string[]
  /**
   * What roles give: permissions, `orders:*` for all of a resource, `*:read` for an action on all.
   * @default {}
   */
  readonly roles?: Readonly<Record<string, readonly string[]>> | undefined
  /**
   * Who may do what with a loaded object, by resource, for `request.authorize`.
   * @default {} – every call is refused
   */
  readonly policies?: Readonly<Record<string, Policy>> | undefined
  /**
   * What routes of others ask of their callers, by path.
   * @default []
   */
  readonly declared?: readonly Declaration[] | undefined
  /** What was revoked, as `revocationFeed` knows it. Without it, a token is good until its time is over. */
  readonly revocations?: Revocations | undefined
  /**
   * When nothing was heard of revocations for so long, tokens are answered 503.
   * @default 5
   */
  readonly maxStalenessSeconds?: number | undefined
  /** @default none are accepted */
  readonly apiKeys?: ApiKeyOptions | undefined
  /** @default none is read */
  readonly cookie?: CookieOptions | undefined
  /**
   * The longest token that is read, in characters.
   * @default 4096
   */
  readonly maxTokenLength?: number | undefined
  /**
   * How many verified credentials are remembered, by their hash; 0: none.
   * @default 10000
   */
  readonly cacheEntries?: number | undefined
  /**
   * How long a verified token is remembered at most: so long may a key that its issuer withdrew still count.
   * @default 60
   */
  readonly cacheSeconds?: number | undefined
  /**
   * Query parameters that are refused as credentials, compared by letters and digits alone.
   * @default `credentialNames`
   */
  readonly uriCredentialNames?: readonly string[] | undefined
}

/** The options as the plugin works with them. */
export interface Settings {
  readonly issuers: ReadonlyMap<string, TrustedIssuer>
  readonly table: PermissionTable
  readonly policies: Readonly<Record<string, Policy>>
  readonly accessOf: ReturnType<typeof accessReader>
  readonly revocations: Revocations | undefined
  readonly maxStalenessMilliseconds: number
  readonly retryAfterSeconds: number
  readonly apiKeys:
    | { readonly store: ApiKeyStore; readonly permissions: ReadonlySet<string>; readonly cacheMilliseconds: number }
    | undefined
  readonly places: CredentialPlaces
  readonly maxTokenLength: number
  readonly cacheEntries: number
  readonly cacheMilliseconds: number
  readonly hasUriCredentials: (target: string) => boolean
}

/** Fills in the defaults. Throws a `TypeError` of one line for what is missing or makes no sense. */
export function resolveOptions(options: AuthenticationOptions): Settings {
  const { permissions, policies = {}, maxStalenessSeconds = 5, cookie } = options
  if (!Array.isArray(permissions) || permissions.length === 0) {
    throw new TypeError('authentication: there are no permissions. List every one that routes ask for, as ["orders:read"].')
  }
  const table = permissionTable(permissions, options.roles ?? {})
  const resources = new Set(permissions.map((name) => name.split(':')[0]))
  const stray = Object.keys(policies).find((name) => !resources.has(name))
  if (stray !== undefined) throw new TypeError(`authentication: policies has "${stray}", which no permission names. Mend the name.`)
  if (cookie !== undefined) requireCookie(cookie)
  const { apiKeyHeader, ...apiKeys } = resolveApiKeys(options.apiKeys, table)
  return {
    issuers: resolveIssuers(options.issuers),
    table,
    policies,
    accessOf: accessReader(options.declared ?? [], table),
    revocations: options.revocations,
    maxStalenessMilliseconds: within('maxStalenessSeconds', maxStalenessSeconds, 1, 3600) * 1000,
    retryAfterSeconds: Math.ceil(maxStalenessSeconds),
    ...apiKeys,
    places: { apiKeyHeader, cookie },
    maxTokenLength: within('maxTokenLength', options.maxTokenLength ?? defaultMaxTokenLength, 256, 16_384),
    cacheEntries: within('cacheEntries', options.cacheEntries ?? 10_000, 0, 1_000_000),
    cacheMilliseconds: within('cacheSeconds', options.cacheSeconds ?? 60, 0, 3600) * 1000,
    hasUriCredentials: uriCredentialTest(options.uriCredentialNames ?? credentialNames)
  }
}

function resolveIssuers(given: AuthenticationOptions['issuers']) {
  if (!Array.isArray(given) || given.length === 0) {
    throw new TypeError('authentication: nobody is trusted. Give issuers, as [ownTokens({ issuer, audience, keys })].')
  }
  const issuers = new Map<string, TrustedIssuer>()
  for (const entry of given as readonly (TrustedIssuer | OwnTokensOptions | OutsideIssuerOptions)[]) {
    const issuer = 'verify' in entry ? entry : 'jwksUrl' in entry ? outsideIssuer(entry) : ownTokens(entry)
    if (issuers.has(issuer.issuer) || issuer.issuer === apiKeyIssuer) {
      throw new TypeError(`authentication: the issuer "${issuer.issuer}" is there twice, or is the name for API keys. Give each its own.`)
    }
    issuers.set(issuer.issuer, issuer)
  }
  return issuers
}

function resolveApiKeys(options: ApiKeyOptions | undefined, table: PermissionTable) {
  if (options === undefined) return { apiKeys: undefined, apiKeyHeader: undefined }
  const { store, permissions, header = 'x-api-key', cacheSeconds = 10 } = options
  table.requireKnown('authentication: apiKeys.permissions', permissions)
  if (!/^[a-z\d-]+$/.test(header) || header === 'cookie') {
    throw new TypeError(`authentication: apiKeys.header is "${header}". Name a header of your own in lower case, or "authorization".`)
  }
  const cacheMilliseconds = within('apiKeys.cacheSeconds', cacheSeconds, 0, 3600) * 1000
  return { apiKeys: { store, permissions: new Set(permissions), cacheMilliseconds }, apiKeyHeader: header }
}

function requireCookie({ name, origins }: CookieOptions) {
  if (!/^__Host-[\w-]+$/.test(name)) throw new TypeError(`authentication: cookie.name is "${name}". Let it begin with "__Host-".`)
  const wrong = origins.find((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin)
  if (wrong !== undefined)
    throw new TypeError(`authentication: cookie.origins has "${wrong}". Write an origin, as "https://app.example.com".`)
}

function within(name: string, value: number, least: number, most: number) {
  if (typeof value !== 'number' || !(value >= least && value <= most)) {
    throw new TypeError(`authentication: ${name} is ${String(value)}. Give a number from ${least} to ${most}.`)
  }
  return value
}
