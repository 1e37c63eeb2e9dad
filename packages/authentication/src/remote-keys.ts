import type { FetchImplementation, JWTVerifyGetKey } from 'jose'
import { authenticationUnavailable } from './errors.ts'
import { sortKeys } from './key-set.ts'
import { type Fetch, fetchJson, requireSecureUrl } from './remote-json.ts'

const pauseMs = 5000
const maxReported = 100
// Faults of the token: it names a key that the set does not contain, or contains twice.
const tokenFaults = new Set<unknown>(['ERR_JWKS_NO_MATCHING_KEY', 'ERR_JWKS_MULTIPLE_MATCHING_KEYS'])

/**
 * Creates a function that finds the key for a token in the issuer's key set. The key set is fetched once for all concurrent requests and cached
 * for 10 minutes. It is fetched again at most every 30 seconds for an unknown `kid`, and at most every 5 seconds after a failure. Without
 * `jwksUrl`, each fetch begins with the discovery document of the issuer. A key that cannot be used is left out and passed to `report`, once. Throws
 * AUTHENTICATION_UNAVAILABLE when the fetch fails or no key can be used. Throws a `TypeError` of one line for a URL that is not https.
 */
export function remoteKeys(
  issuer: string,
  jwksUrl: string | undefined,
  fetchResponse: Fetch,
  report: (fault: string) => void
): JWTVerifyGetKey {
  const reported = new Set<string>()
  const url = jwksUrl ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  requireSecureUrl(jwksUrl === undefined ? `options.issuer ${issuer} without jwksUrl` : `options.jwksUrl of the issuer ${issuer}`, url)

  async function fetchKeys(_url: string, init: RequestInit) {
    const keySet = await fetchJson(fetchResponse, jwksUrl ?? (await discoveredUrl(init)), init)
    // Checked here too, so that an invalid key set counts as a failure.
    const { keys } = (keySet ?? {}) as { readonly keys?: unknown }
    if (!Array.isArray(keys)) throw new Error('The key set has no keys.')
    const { usable, faults } = sortKeys(keys)
    if (usable.length === 0 && faults.length > 0) throw new Error(`The key set has no usable key: ${faults[0]}.`)
    reportOnce(faults)
    return Response.json({ keys: usable })
  }

  function reportOnce(faults: readonly string[]) {
    const news = faults.filter((fault) => !reported.has(fault)).slice(0, maxReported - reported.size)
    for (const fault of news) reported.add(fault)
    if (news.length > 0)
      report(
        `authentication: the key set of ${issuer} has keys that cannot be used: ${news.join('; ')}. Tokens that they sign are rejected; the issuer must correct or remove them.`
      )
  }

  async function discoveredUrl(init: RequestInit) {
    const metadata = (await fetchJson(fetchResponse, url, init)) as { issuer?: unknown; jwks_uri?: unknown } | null
    // OpenID Connect Discovery §4.3: otherwise, one issuer could supply keys for another.
    if (metadata?.issuer !== issuer) throw new Error('The discovery document is of another issuer.')
    const { jwks_uri: found } = metadata
    if (typeof found !== 'string') throw new Error('The discovery document has no jwks_uri.')
    requireSecureUrl('jwks_uri of the discovery document', found)
    return found
  }

  const keys = import('jose').then(({ createRemoteJWKSet, customFetch }) =>
    createRemoteJWKSet(new URL(url), { timeoutDuration: 5000, [customFetch]: pausing(fetchKeys) })
  )
  return async (header, token) => {
    try {
      return await (await keys)(header, token)
    } catch (error) {
      if (tokenFaults.has((error as { code?: unknown }).code)) throw error
      throw authenticationUnavailable(pauseMs / 1000, error)
    }
  }
}

// jose waits only between successful fetches: without this, every request would call an issuer that is down.
function pausing(fetchKeys: FetchImplementation): FetchImplementation {
  let failedAt = Number.NEGATIVE_INFINITY
  return async (url, init) => {
    if (performance.now() - failedAt < pauseMs) throw new Error('The last fetch of the key set failed a moment ago.')
    try {
      return await fetchKeys(url, init)
    } catch (error) {
      failedAt = performance.now()
      throw error
    }
  }
}
