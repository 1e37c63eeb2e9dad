import { optionChecks, requireKnownNames, requirePluginNames } from '@concordat/plugin-options'
import type { ApiKeyStore } from './api-key-store.ts'
import type { CredentialPlaces } from './credentials.ts'
import { type IntrospectionOptions, introspection, introspectionNames } from './introspection.ts'
import { type OutsideIssuerOptions, outsideIssuer, outsideIssuerNames } from './outside-issuer.ts'
import { type OwnTokensOptions, ownTokens, ownTokensNames } from './own-tokens.ts'
import { type PermissionTable, permissionTable } from './permissions.ts'
import type { Policy } from './policies.ts'
import { apiKeyIssuer } from './principal.ts'
import type { Revocations } from './revocation-feed.ts'
import { type AccessReader, accessReader, type RouteAccess } from './route-access.ts'
import { defaultMaxTokenLength } from './token-form.ts'
import type { TrustedIssuer } from './trusted-issuer.ts'
import { credentialNames, uriCredentialTest } from './uri-credentials.ts'

const check = optionChecks('authentication')

/** The option `apiKeys`: authenticates client applications by API key (rule U6). */
interface ApiKeyOptions {
  readonly store: ApiKeyStore
  /** The low-risk permissions that a key can grant. Other permissions in a record have no effect. */
  readonly permissions: readonly string[]
  /**
   * The header that contains the key; `authorization` means `Authorization: ApiKey <key>`.
   * @default 'x-api-key'
   */
  readonly header?: string | undefined
  /**
   * How long a removed key may still be accepted.
   * @default 10
   */
  readonly cacheSeconds?: number | undefined
}

/** The option `cookie`: accepts the access token as a cookie. Requests that change data must then come from allowed pages (rule U12). */
interface CookieOptions {
  /** The name of the cookie, which must begin with `__Host-` so that no other host can set the cookie. */
  readonly name: string
  /** Origins, besides the service's own, whose pages may send requests that change data, for example `https://app.example.com`. */
  readonly origins: readonly string[]
}

/** Options of `@concordat/authentication`. */
export interface AuthenticationOptions {
  /** The trusted issuers, each as the result of `ownTokens`, `outsideIssuer` or `introspection`, or as the options of one of them. */
  readonly issuers: readonly (TrustedIssuer | OwnTokensOptions | OutsideIssuerOptions | IntrospectionOptions)[]
  /** Every permission that exists, each in the form `resource:action`. */
  readonly permissions: readonly string[]
  /**
   * The permissions that each role grants, as names or as patterns: `orders:*` for all actions on a resource, `*:read` for an action on all
   * resources.
   * @default {}
   */
  readonly roles?: Readonly<Record<string, readonly string[]>> | undefined
  /**
   * The policies that decide on access to loaded objects, by resource, for `request.authorize`.
   * @default {} – every call is refused
   */
  readonly policies?: Readonly<Record<string, Policy>> | undefined
  /**
   * The required permissions, or `'public'`, of routes that do not declare them in their `config`, such as those of other plugins, by path:
   * `{ '/metrics': ['metrics:read'], '/docs/*': 'public' }`. A path ending in `/*` includes all paths below it; `/*` is only the wildcard route at
   * the root. Routes of the API always declare their own.
   * @default {}
   */
  readonly outside?: Readonly<Record<string, RouteAccess>> | undefined
  /** The source of revocations, for example a `revocationFeed`. Without it, a token is valid until it expires. */
  readonly revocations?: Revocations | undefined
  /**
   * How long the revocations may be out of date before requests with a token get 503.
   * @default 5
   */
  readonly maxStalenessSeconds?: number | undefined
  /** The API keys that are accepted. @default no API keys are accepted */
  readonly apiKeys?: ApiKeyOptions | undefined
  /** The cookie from which the access token is accepted. @default no cookie is read */
  readonly cookie?: CookieOptions | undefined
  /**
   * The maximum length of a token, in characters. Longer tokens are rejected unread.
   * @default 4096
   */
  readonly maxTokenLength?: number | undefined
  /**
   * How many verified credentials are cached; 0 disables the cache.
   * @default 10000
   */
  readonly maxCacheEntries?: number | undefined
  /**
   * The maximum time for which a verified token is cached. A key that its issuer withdrew may remain effective for this long.
   * @default 60
   */
  readonly cacheSeconds?: number | undefined
  /**
   * The names of query parameters that are rejected as credentials; case and punctuation are ignored.
   * @default `credentialNames`
   */
  readonly uriCredentialNames?: readonly string[] | undefined
}

/** The options with their defaults. */
export interface Settings {
  readonly issuers: ReadonlyMap<string, TrustedIssuer>
  readonly table: PermissionTable
  readonly policies: Readonly<Record<string, Policy>>
  readonly access: AccessReader
  readonly revocations: Revocations | undefined
  readonly maxStalenessMs: number
  readonly retryAfterSeconds: number
  readonly apiKeys: { readonly store: ApiKeyStore; readonly permissions: ReadonlySet<string>; readonly cacheMs: number } | undefined
  readonly places: CredentialPlaces
  readonly maxTokenLength: number
  readonly maxCacheEntries: number
  readonly cacheMs: number
  readonly hasUriCredentials: (target: string) => boolean
}

/** Returns the options with their defaults. Throws a `TypeError` of one line for missing and invalid options. */
export function resolveOptions(options: AuthenticationOptions): Settings {
  requirePluginNames('authentication', options, {
    issuers: true,
    permissions: true,
    roles: true,
    policies: true,
    outside: true,
    revocations: true,
    maxStalenessSeconds: true,
    apiKeys: { store: true, permissions: true, header: true, cacheSeconds: true },
    cookie: { name: true, origins: true },
    maxTokenLength: true,
    maxCacheEntries: true,
    cacheSeconds: true,
    uriCredentialNames: true
  })
  const { permissions, policies = {}, maxStalenessSeconds = 5, cookie } = options
  if (!Array.isArray(permissions) || permissions.length === 0) {
    throw new TypeError('authentication: options.permissions must be a non-empty array. List every permission, such as ["orders:read"].')
  }
  const table = permissionTable(permissions, options.roles ?? {})
  const resources = new Set(permissions.map((name) => name.split(':')[0]))
  const stray = Object.keys(policies).find((name) => !resources.has(name))
  if (stray !== undefined)
    throw new TypeError(
      `authentication: options.policies contains "${stray}", which is not the resource of any permission. Correct the name.`
    )
  if (cookie !== undefined) requireCookie(cookie)
  const { apiKeyHeader, ...apiKeys } = resolveApiKeys(options.apiKeys, table)
  return {
    issuers: resolveIssuers(options.issuers),
    table,
    policies,
    access: accessReader(options.outside ?? {}, table),
    revocations: options.revocations,
    maxStalenessMs: check.number('options.maxStalenessSeconds', maxStalenessSeconds, 1, 3600) * 1000,
    retryAfterSeconds: Math.ceil(maxStalenessSeconds),
    ...apiKeys,
    places: { apiKeyHeader, cookie },
    maxTokenLength: check.number('options.maxTokenLength', options.maxTokenLength ?? defaultMaxTokenLength, 256, 16_384),
    maxCacheEntries: check.number('options.maxCacheEntries', options.maxCacheEntries ?? 10_000, 0, 1_000_000),
    cacheMs: check.number('options.cacheSeconds', options.cacheSeconds ?? 60, 0, 3600) * 1000,
    hasUriCredentials: uriCredentialTest(options.uriCredentialNames ?? credentialNames)
  }
}

function resolveIssuers(given: AuthenticationOptions['issuers']) {
  if (!Array.isArray(given) || given.length === 0) {
    throw new TypeError('authentication: options.issuers must be a non-empty array. Add ownTokens({ issuer, audience, keys }).')
  }
  const issuers = new Map<string, TrustedIssuer>()
  for (const entry of given as AuthenticationOptions['issuers']) {
    const issuer = 'verify' in entry ? entry : createIssuer(entry, `options.issuers[${issuers.size}]`)
    if (issuers.has(issuer.issuer) || issuer.issuer === apiKeyIssuer) {
      throw new TypeError(
        `authentication: options.issuers contains "${issuer.issuer}", which is repeated or reserved for API keys. Remove it, or use another issuer.`
      )
    }
    issuers.set(issuer.issuer, issuer)
  }
  const [first, second] = [...issuers.values()].filter(({ verifiesOpaqueTokens }) => verifiesOpaqueTokens)
  if (second !== undefined) {
    throw new TypeError(
      `authentication: options.issuers contains two introspection endpoints, of ${first?.issuer} and ${second.issuer}, but an opaque token does not name its issuer. Remove one.`
    )
  }
  return issuers
}

// Checked here too, because a misspelt option may decide which of the three it is.
function createIssuer(options: OwnTokensOptions | OutsideIssuerOptions | IntrospectionOptions, path: string): TrustedIssuer {
  requireKnownNames('authentication', options, { ...ownTokensNames, ...outsideIssuerNames, ...introspectionNames }, path)
  if ('keys' in options) return ownTokens(options)
  return 'clientSecret' in options ? introspection(options) : outsideIssuer(options)
}

function resolveApiKeys(options: ApiKeyOptions | undefined, table: PermissionTable) {
  if (options === undefined) return { apiKeys: undefined, apiKeyHeader: undefined }
  const { store, permissions, header = 'x-api-key', cacheSeconds = 10 } = options
  table.requireKnown('options.apiKeys.permissions', permissions)
  if (!/^[a-z\d-]+$/.test(header) || header === 'cookie') {
    throw new TypeError(
      `authentication: options.apiKeys.header must be "authorization" or a custom header name in lower case, but is "${header}".`
    )
  }
  const cacheMs = check.number('options.apiKeys.cacheSeconds', cacheSeconds, 0, 3600) * 1000
  return { apiKeys: { store, permissions: new Set(permissions), cacheMs }, apiKeyHeader: header }
}

function requireCookie({ name, origins }: CookieOptions) {
  if (!/^__Host-[\w-]+$/.test(name)) throw new TypeError(`authentication: options.cookie.name must begin with "__Host-", but is "${name}".`)
  const wrong = origins.find((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin)
  if (wrong !== undefined)
    throw new TypeError(
      `authentication: options.cookie.origins contains the invalid origin "${wrong}". Use an origin such as "https://app.example.com".`
    )
}
