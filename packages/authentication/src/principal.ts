import type { Claims } from './claims.ts'
import type { Grants } from './permissions.ts'

/** Who a request speaks for. Frozen, and the same object for every request with the same credential. */
export interface Principal extends Grants {
  /** A user through a client, or the client for itself. */
  readonly kind: 'user' | 'client'
  /** Who vouches: the `iss` of the token; `api-key` for a client application known by its key. */
  readonly issuer: string
  /** The client application, when it is known. */
  readonly client: string | undefined
  /** The user; `undefined` for a client that speaks for itself. */
  readonly subject: string | undefined
  /** The claims of the token; `undefined` for an API key. */
  readonly claims: Claims | undefined
}

/** The issuer of principals that an API key names. No token can have it. */
export const apiKeyIssuer = 'api-key'

/** A token whose subject is its client was issued to the client for itself (RFC 9068 §2.2). */
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

/** An API key names a client application and never a user (rule U6). */
export function keyPrincipal(client: string, grants: Grants): Principal {
  return Object.freeze({ kind: 'client', issuer: apiKeyIssuer, client, subject: undefined, claims: undefined, ...grants })
}

interface MaybeKnown {
  readonly principal: Principal | null
}

/** Whether the answer is for one caller only: for `isPrivate` of conditional-caching. */
export function isPrivate({ principal }: MaybeKnown): boolean {
  return principal !== null
}

/**
 * Issuer, client and subject as one text, or `undefined` for nobody: for `client` of rate-limiting, which then counts addresses, and for
 * `scope` of idempotency, which then refuses.
 */
export function clientOf({ principal }: MaybeKnown): string | undefined {
  // As JSON, so that no name can be made to look like two.
  return principal === null ? undefined : JSON.stringify([principal.issuer, principal.client ?? '', principal.subject ?? ''])
}

/** Issuer and user, whatever client the user came through; the client when it speaks for itself: for `owner` of jobs and webhooks. */
export function ownerOf({ principal }: MaybeKnown): string | undefined {
  if (principal === null) return undefined
  const { issuer, kind, subject, client } = principal
  return JSON.stringify([issuer, kind, subject ?? client])
}
