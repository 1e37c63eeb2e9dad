import type { Claims } from './claims.ts'
import type { Grants } from './permissions.ts'

/** The authenticated user or client of a request. Frozen, and the same object for every request with the same credential. */
export interface Principal extends Grants {
  /** Whether the principal is a user, through a client, or a client on its own behalf. */
  readonly kind: 'user' | 'client'
  /** The `iss` of the token, or `api-key` for a client application with an API key. */
  readonly issuer: string
  /** The client application, if it is known. */
  readonly client: string | undefined
  /** The user; `undefined` for a client on its own behalf. */
  readonly subject: string | undefined
  /** The claims of the token; `undefined` for an API key. */
  readonly claims: Claims | undefined
}

/** The issuer of principals with an API key. No token can have it. */
export const apiKeyIssuer = 'api-key'

/** Returns the principal of a token. A token whose subject is its client was issued to the client itself (RFC 9068 §2.2). */
export function tokenPrincipal(claims: Claims, grants: Grants): Principal {
  const { iss, sub, client_id } = claims
  const forItself = sub === client_id
  return Object.freeze({
    kind: forItself ? 'client' : 'user',
    issuer: iss,
    client: client_id,
    subject: forItself ? undefined : sub,
    claims,
    ...grants
  })
}

/** Returns the principal of an API key: a client application, never a user (rule U6). */
export function keyPrincipal(client: string, grants: Grants): Principal {
  return Object.freeze({ kind: 'client', issuer: apiKeyIssuer, client, subject: undefined, claims: undefined, ...grants })
}

interface MaybeKnown {
  readonly principal: Principal | null
}

/** Returns whether the response is for one client only: for `isPrivate` of conditional-caching. */
export function isPrivate({ principal }: MaybeKnown): boolean {
  return principal !== null
}

/**
 * Returns issuer, client and subject as one string, or `undefined` for anonymous requests: for `client` of rate-limiting, which then
 * counts by address, and for `scope` of idempotency, which then rejects the request.
 */
export function clientOf({ principal }: MaybeKnown): string | undefined {
  // JSON, so that no name can imitate two names.
  return principal === null ? undefined : JSON.stringify([principal.issuer, principal.client ?? '', principal.subject ?? ''])
}

/** Returns issuer and user, whatever the client, or the client on its own behalf: for `owner` of jobs and webhooks. */
export function ownerOf({ principal }: MaybeKnown): string | undefined {
  if (principal === null) return undefined
  const { issuer, kind, subject, client } = principal
  return JSON.stringify([issuer, kind, subject ?? client])
}
