import { hash } from 'node:crypto'
import { isTenant } from '@concordat/plugin-kit/wiring'
import { apiKeyId, isKeyOf } from './api-key.ts'
import type { Claims } from './claims.ts'
import { type Credential, type CredentialPlaces, type CredentialRequest, readCredential } from './credentials.ts'
import { authenticationUnavailable, invalidApiKey, invalidToken, tokenRevoked } from './errors.ts'
import type { Settings } from './options.ts'
import { keyPrincipal, type Principal, tokenPrincipal } from './principal.ts'
import type { Revocations } from './revocation-feed.ts'
import { isJwt, readToken } from './token-form.ts'
import type { TrustedIssuer } from './trusted-issuer.ts'
import { type Verified, VerifiedCache } from './verified-cache.ts'

// A key that was removed from its store may be accepted for this long.
const keyCacheMs = 10_000

// A token whose key its issuer withdrew may be accepted for this long. Revocations take effect immediately.
const tokenCacheMs = 60_000

/**
 * Creates the function that returns the principal of a request, synchronously when its credential is cached. Expiry and revocation are checked on
 * each request (rules S2, U2, U4).
 */
export function authenticator(settings: Settings) {
  const { issuers, revocations, apiKeys, table, tenantClaim } = settings
  // Two caches, so that a key sent in place of a token is not accepted as a token, or a token as a key.
  const tokens = new VerifiedCache<Principal>()
  const keys = new VerifiedCache<Principal>()
  const opaqueIssuer = [...issuers.values()].find(({ verifiesOpaqueTokens }) => verifiesOpaqueTokens)

  function remembered({ kind, text }: Credential, now: number) {
    // Keys and opaque tokens may be valid for months, so memory holds only their digests.
    if (kind === 'token' && opaqueIssuer !== undefined && !isJwt(text)) {
      return tokens.get(hash('sha256', text), now, () => verifyOpaque(text, now, opaqueIssuer))
    }
    if (kind === 'token') return tokens.get(text, now, verifyToken)
    return keys.get(hash('sha256', text), now, () => verifyKey(text, now))
  }

  async function verifyToken(token: string, now: number): Promise<Verified<Principal>> {
    const form = readToken(token, settings.maxTokenLength)
    const { iss } = form.payload
    const issuer = typeof iss === 'string' ? issuers.get(iss) : undefined
    if (issuer === undefined) throw invalidToken('the issuer is not trusted')
    return verified(await issuer.verify(token, form), now, issuer)
  }

  async function verifyOpaque(token: string, now: number, issuer: TrustedIssuer): Promise<Verified<Principal>> {
    if (token.length > settings.maxTokenLength) throw invalidToken('it is too long')
    return verified(await issuer.verify(token), now, issuer)
  }

  function verified(claims: Claims, now: number, issuer: TrustedIssuer): Verified<Principal> {
    const { grantsOf, isClient, cacheSeconds = Number.POSITIVE_INFINITY } = issuer
    const principal = tokenPrincipal(claims, table.grants(grantsOf(claims)), isClient(claims), tokenTenant(claims))
    return { value: principal, expiresAt: Math.min(claims.exp * 1000, now + Math.min(tokenCacheMs, cacheSeconds * 1000)) }
  }

  // Checked here, so that it is a part of SQL, keys and log lines without another check. Without the claim, only routes without a tenant are open.
  function tokenTenant(claims: Claims) {
    const tenant = tenantClaim === undefined ? undefined : (claims[tenantClaim] ?? undefined)
    if (tenant !== undefined && !isTenant(tenant))
      throw invalidToken(`${tenantClaim} is not a tenant: 1 to 64 characters of A-Z a-z 0-9 _ -`)
    return tenant
  }

  async function verifyKey(key: string, now: number): Promise<Verified<Principal>> {
    const id = apiKeyId(key)
    if (apiKeys === undefined || id === undefined) throw invalidApiKey()
    const record = await apiKeys.store.find(id).catch((error: unknown) => {
      throw authenticationUnavailable(1, error)
    })
    if (record === undefined || !isKeyOf(key, record, now)) throw invalidApiKey()
    const tenant = tenantClaim === undefined ? undefined : record.tenant
    if (tenant !== undefined && !isTenant(tenant)) throw invalidApiKey()
    const permissions = record.permissions.filter((name) => apiKeys.permissions.has(name))
    return {
      value: keyPrincipal(record.client, table.grants(permissions), tenant),
      expiresAt: Math.min(record.expiresAt ?? Number.POSITIVE_INFINITY, now + keyCacheMs)
    }
  }

  function requireUnrevoked(principal: Principal): Principal | Promise<Principal> {
    if (revocations === undefined || principal.claims === undefined) return principal
    // This process may not have run since the last read. Only a store that does not respond is a reason to refuse everything.
    if (!isStale(revocations)) return unrevoked(principal, revocations)
    return (revocations.refresh?.() ?? Promise.resolve()).then(() => unrevokedNow(principal, revocations))
  }

  function isStale({ staleMs }: Revocations) {
    return !(staleMs <= settings.maxStalenessMs)
  }

  function unrevokedNow(principal: Principal, known: Revocations): Principal {
    // With outdated revocations, a revoked token could be accepted.
    if (isStale(known)) {
      throw authenticationUnavailable(Math.ceil(settings.maxStalenessMs / 1000), new Error('The revocations are not up to date.'))
    }
    return unrevoked(principal, known)
  }

  return (request: CredentialRequest, places: CredentialPlaces): Principal | Promise<Principal> => {
    const known = remembered(readCredential(request, places), Date.now())
    return known instanceof Promise ? known.then(requireUnrevoked) : requireUnrevoked(known)
  }
}

function unrevoked(principal: Principal, known: Revocations): Principal {
  if (known.isRevoked(principal.claims as Claims)) throw tokenRevoked()
  return principal
}
