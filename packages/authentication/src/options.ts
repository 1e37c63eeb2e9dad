import { describeOptions, duration, instance, integer, type OptionsOf, required, value } from '@concordat/plugin-kit/options'
import type { ApiKeyStore } from './api-key-store.ts'
import { type PermissionTable, permissionTable } from './permissions.ts'
import type { Policy } from './policies.ts'
import { apiKeyIssuer } from './principal.ts'
import type { Revocations } from './revocation-feed.ts'
import { accessReader, type RouteAccess } from './route-access.ts'
import { defaultMaxTokenLength } from './token-form.ts'
import type { TrustedIssuer } from './trusted-issuer.ts'

const apiKeyOptions = describeOptions('authentication', {
  /** The store of the keys. */
  store: required(instance<ApiKeyStore>(['find'], 'ApiKeyStore, for example memoryApiKeyStore()')),
  /** The low-risk permissions that a key can grant. Other permissions in a record have no effect. */
  permissions: required(value<readonly string[]>()),
  /** The header that contains the key; `authorization` means `Authorization: ApiKey <key>`. */
  header: value<string>({ default: 'x-api-key' })
})

/** Authenticates client applications by API key (rule U6). */
interface ApiKeyOptions extends OptionsOf<typeof apiKeyOptions> {}

const cookieOptions = describeOptions('authentication', {
  /** The name of the cookie, which must begin with `__Host-` so that no other host can set the cookie. */
  name: required(value<string>()),
  /** Origins, besides the service's own, whose pages may send requests that change data, for example `https://app.example.com`. */
  origins: required(value<readonly string[]>())
})

/** Accepts the access token as a cookie. Requests that change data must then come from allowed pages (rule U12). */
interface CookieOptions extends OptionsOf<typeof cookieOptions> {}

const tenantOptions = describeOptions('authentication', {
  /** The claim of a token that names its tenant. An API key has the tenant of its record. */
  claim: required(value<string>())
})

/** Where credentials name the tenant for which a request is processed. */
interface TenantOptions extends OptionsOf<typeof tenantOptions> {}

/** The description of {@link AuthenticationOptions}. @readme */
export const authenticationOptions = describeOptions('authentication', {
  /** Results of `ownTokens`, `outsideIssuer` and `introspection`. */
  issuers: required(value<readonly TrustedIssuer[]>()),
  /** Every permission that exists, each `resource:action`. */
  permissions: required(value<readonly string[]>()),
  /** The permissions of each role, as names or patterns: `orders:*`, `*:read`. */
  roles: value<Readonly<Record<string, readonly string[]>>>({ default: {} }),
  /** By resource: `{ allows(principal, action, object), secret? }`; `secret` returns 404 instead of 403. */
  policies: value<Readonly<Record<string, Policy>>>({ default: {} }),
  /** Permissions or `'public'` for routes of other plugins, by path: `{ '/metrics': ['metrics:read'], '/docs/*': 'public' }`. */
  outside: value<Readonly<Record<string, RouteAccess>>>({ default: {} }),
  /** For example a `revocationFeed`. Without it, a token is valid until it expires. */
  revocations: instance<Revocations>(['isRevoked'], 'Revocations, for example revocationFeed({ store })'),
  /** How long the revocations may be out of date before tokens get 503. Operators raise it while the store is down. */
  maxStalenessSeconds: duration({ default: 5, min: 1, max: 3600 }),
  /** `{ store, permissions, header = 'x-api-key' }`: `permissions` are the low-risk ones that keys can grant. */
  apiKeys: value<ApiKeyOptions>(),
  /** `{ name: '__Host-…', origins }`: accepts the token as a cookie; changes must come from pages of these origins or the service's own. */
  cookie: value<CookieOptions>(),
  /** `{ claim }`: the claim that names the tenant of a token; an API key has its own. Public routes then say `tenant: 'none'`. */
  tenant: value<TenantOptions>(),
  /** In characters. Longer tokens are rejected unread. */
  maxTokenLength: integer({ default: defaultMaxTokenLength, min: 256, max: 16_384 })
})

/** Options of `@concordat/authentication`. */
export interface AuthenticationOptions extends OptionsOf<typeof authenticationOptions> {}

/** The options with their defaults. */
export type Settings = ReturnType<typeof resolveOptions>

/** Returns the options with their defaults. Throws a `TypeError` of one line for missing and invalid options. */
export function resolveOptions(options: AuthenticationOptions) {
  const settings = authenticationOptions.readPlugin(options)
  const { permissions, policies, roles, outside } = settings
  const cookie = settings.cookie && cookieOptions.read(settings.cookie, 'options.cookie')
  const apiKeys = settings.apiKeys && apiKeyOptions.read(settings.apiKeys, 'options.apiKeys')
  const tenant = settings.tenant && tenantOptions.read(settings.tenant, 'options.tenant')
  if (!Array.isArray(permissions) || permissions.length === 0) {
    throw new TypeError('authentication: options.permissions must be a non-empty array. List every permission, such as ["orders:read"].')
  }
  if (tenant !== undefined && (typeof tenant.claim !== 'string' || tenant.claim === ''))
    throw new TypeError("authentication: options.tenant.claim must be the name of a claim, for example 'org'.")
  const table = permissionTable(permissions, roles)
  const resources = new Set(permissions.map((name) => name.split(':')[0]))
  const stray = Object.keys(policies).find((name) => !resources.has(name))
  if (stray !== undefined)
    throw new TypeError(
      `authentication: options.policies contains "${stray}", which is not the resource of any permission. Correct the name.`
    )
  if (cookie !== undefined) requireCookie(cookie)
  if (apiKeys !== undefined) requireApiKeys(apiKeys, table)
  return {
    ...settings,
    issuers: issuersByName(settings.issuers),
    table,
    access: accessReader(outside, table),
    tenantClaim: tenant?.claim,
    apiKeys: apiKeys && { store: apiKeys.store, permissions: new Set(apiKeys.permissions) },
    places: { apiKeyHeader: apiKeys?.header, cookie }
  }
}

function issuersByName(given: AuthenticationOptions['issuers']) {
  if (!Array.isArray(given) || given.length === 0) {
    throw new TypeError('authentication: options.issuers must be a non-empty array. Add ownTokens({ issuer, audience, keys }).')
  }
  const issuers = new Map<string, TrustedIssuer>()
  for (const entry of given as AuthenticationOptions['issuers']) {
    if (typeof entry.verify !== 'function')
      throw new TypeError(
        `authentication: options.issuers[${issuers.size}] must be a result of ownTokens(), outsideIssuer() or introspection().`
      )
    if (issuers.has(entry.issuer) || entry.issuer === apiKeyIssuer) {
      throw new TypeError(
        `authentication: options.issuers contains "${entry.issuer}", which is repeated or reserved for API keys. Remove it, or use another issuer.`
      )
    }
    issuers.set(entry.issuer, entry)
  }
  const [first, second] = [...issuers.values()].filter(({ verifiesOpaqueTokens }) => verifiesOpaqueTokens)
  if (second !== undefined) {
    throw new TypeError(
      `authentication: options.issuers contains two introspection endpoints, of ${first?.issuer} and ${second.issuer}, but an opaque token does not name its issuer. Remove one.`
    )
  }
  return issuers
}

function requireApiKeys(
  { permissions, header }: { readonly permissions: readonly string[]; readonly header: string },
  table: PermissionTable
) {
  table.requireKnown('options.apiKeys.permissions', permissions)
  if (!/^[a-z\d-]+$/.test(header) || header === 'cookie') {
    throw new TypeError(
      `authentication: options.apiKeys.header must be "authorization" or a custom header name in lower case, but is "${header}".`
    )
  }
}

function requireCookie({ name, origins }: CookieOptions) {
  if (!/^__Host-[\w-]+$/.test(name)) throw new TypeError(`authentication: options.cookie.name must begin with "__Host-", but is "${name}".`)
  const wrong = origins.find((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin)
  if (wrong !== undefined)
    throw new TypeError(
      `authentication: options.cookie.origins contains the invalid origin "${wrong}". Use an origin such as "https://app.example.com".`
    )
}
