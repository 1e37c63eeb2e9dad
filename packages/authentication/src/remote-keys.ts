import { createRemoteJWKSet, customFetch, type FetchImplementation, type JWTVerifyGetKey } from 'jose'
import { authenticationUnavailable } from './errors.ts'

/** Fetches a key set, like `fetch`, with the arguments that `jose` passes. */
export type FetchKeys = (
  url: string,
  init: { readonly headers: Headers; readonly method: 'GET'; readonly redirect: 'manual'; readonly signal: AbortSignal }
) => Promise<Response>

const maxBytes = 262_144
const pauseMs = 5000
// Faults of the token: it names a key that the set does not contain, or contains twice.
const tokenFaults = new Set<unknown>(['ERR_JWKS_NO_MATCHING_KEY', 'ERR_JWKS_MULTIPLE_MATCHING_KEYS'])

/**
 * Creates a function that finds the key for a token in the issuer's key set. The key set is fetched once for all concurrent requests and cached
 * for 10 minutes. It is fetched again at most every 30 seconds for an unknown `kid`, and at most every 5 seconds after a failure. Throws
 * AUTHENTICATION_UNAVAILABLE when the fetch fails. Throws a `TypeError` of one line for a URL that is not https.
 */
export function remoteKeys(issuer: string, jwksUrl: string, fetchKeys: FetchKeys = fetch): JWTVerifyGetKey {
  const url = URL.parse(jwksUrl)
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    throw new TypeError(`authentication: options.jwksUrl of the issuer ${issuer} must be an https URL without credentials.`)
  }
  const keys = createRemoteJWKSet(url, { timeoutDuration: 5000, [customFetch]: pausing(bounded(fetchKeys)) })
  return async (header, token) => {
    try {
      return await keys(header, token)
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

function bounded(fetchKeys: FetchKeys): FetchImplementation {
  return async (url, init) => {
    const { status, body } = await fetchKeys(url, init)
    if (status !== 200) {
      await body?.cancel()
      throw new Error(`The request for the key set returned status code ${status}.`)
    }
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of body ?? []) {
      size += chunk.length
      if (size > maxBytes) throw new Error(`The key set is larger than ${maxBytes} bytes.`)
      chunks.push(chunk)
    }
    const text = Buffer.concat(chunks).toString()
    // Parsed here too, so that an invalid key set counts as a failure.
    if (!Array.isArray((JSON.parse(text) as { keys?: unknown } | null)?.keys)) throw new Error('The key set has no keys.')
    return new Response(text)
  }
}
