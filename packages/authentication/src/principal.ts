import { type Contracts, inTenant } from '@concordat/plugin-kit/wiring'
import { type Claims, clientIdOf } from './claims.ts'
import type { Grants } from './permissions.ts'
import type { Revocations } from './revocation-feed.ts'

/** The authenticated user or client of a request. Frozen, and the same object for every request with the same credential. */
export interface Principal extends Grants {
  /** A user who acts through a client, or a client that acts on its own behalf. */
  readonly kind: 'user' | 'client'
  /** The `iss` of the token, or `api-key` for a client application with an API key. */
  readonly issuer: string
  /** The client application, if it is known. */
  readonly client: string | undefined
  /** The `sub` of the user; `undefined` for a client that acts on its own behalf. */
  readonly subject: string | undefined
  /** The tenant that the credential names; `undefined` without the option `tenant`. Whether a route has a tenant is in `request.tenant`. */
  readonly tenant: string | undefined
  /** The claims of the token; `undefined` for an API key. */
  readonly claims: Claims | undefined
}

/** The `issuer` of a principal that is authenticated by API key. No token can have it. */
export const apiKeyIssuer = 'api-key'

export function tokenPrincipal(claims: Claims, grants: Grants, isClient: boolean, tenant: string | undefined): Principal {
  const { iss, sub } = claims
  return Object.freeze({
    kind: isClient ? 'client' : 'user',
    issuer: iss,
    client: clientIdOf(claims) ?? (isClient ? sub : undefined),
    subject: isClient ? undefined : sub,
    tenant,
    claims,
    ...grants
  })
}

/** Returns the principal of an API key: a client application, never a user (rule U6). */
export function keyPrincipal(client: string, grants: Grants, tenant: string | undefined): Principal {
  return Object.freeze({ kind: 'client', issuer: apiKeyIssuer, client, subject: undefined, tenant, claims: undefined, ...grants })
}

// Undefined in a context that was created before the plugin was registered, until the plugin has authenticated the request.
type RequestPrincipal = { readonly principal?: Principal | null | undefined }

/** Returns whether the request is authenticated; for the option `isPrivate` of conditional-caching. */
export function isPrivate({ principal }: RequestPrincipal): boolean {
  return principal !== null && principal !== undefined
}

/** Returns issuer, client, subject and tenant of a request as one string, or `undefined` for an anonymous one; for `client` of rate-limiting and `scope` of idempotency. */
export function clientOf({ principal }: RequestPrincipal): string | undefined {
  if (!principal) return undefined
  const known = clientKeys.get(principal)
  if (known !== undefined) return known
  // JSON, so that no name can imitate two names.
  const names = JSON.stringify([principal.issuer, principal.client ?? '', principal.subject ?? ''])
  const key = inTenant(names, principal.tenant)
  clientKeys.set(principal, key)
  return key
}

// A principal is the same object for all requests with a credential.
const clientKeys = new WeakMap<Principal, string>()

/**
 * Returns the issuer and the user, or the client if it acts on its own behalf, as one string, which is the same in all tenants; for the option `owner` of
 * jobs and webhooks, which add the tenant.
 */
export function ownerOf({ principal }: RequestPrincipal): string | undefined {
  if (!principal) return undefined
  const { issuer, kind, subject, client } = principal
  return JSON.stringify([issuer, kind, subject ?? client])
}

/** Returns the tenant for which a request is processed. */
export function tenantOf({ tenant }: { readonly tenant?: string | undefined }): string | undefined {
  return tenant
}

/** Returns the issuer, the client application and the user of a request, or `undefined` for an anonymous one. */
export function identityOf({ principal }: RequestPrincipal): Principal | undefined {
  return principal ?? undefined
}

/** Returns the contract with which other plugins learn that all tokens of a user were revoked, if the source of revocations reports it. */
export function revocationContract(revocations: Revocations | undefined, issuers: readonly string[]): Partial<Contracts> {
  const { onSubjectRevoked } = revocations ?? {}
  // Every owner that `ownerOf` can return for a token with this `sub`.
  const ownersOf = (subject: string) =>
    issuers.flatMap((issuer) => ['user', 'client'].map((kind) => JSON.stringify([issuer, kind, subject])))
  return onSubjectRevoked === undefined
    ? {}
    : { onSubjectRevoked: (listener) => onSubjectRevoked(async (subject) => listener(subject, ownersOf(subject))) }
}
