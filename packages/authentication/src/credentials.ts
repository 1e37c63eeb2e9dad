import type { IncomingHttpHeaders } from 'node:http'
import { cookieValues } from './cookie.ts'
import { authenticationRequired, crossSiteRequest, invalidAuthorization } from './errors.ts'
import { isSameSite } from './same-site.ts'

/** The one credential that a request brings. */
export interface Credential {
  readonly kind: 'token' | 'key'
  readonly text: string
}

/** Where credentials are looked for, besides `Authorization: Bearer`. */
export interface CredentialPlaces {
  /** In lower case; `authorization` means the scheme `ApiKey`. */
  readonly apiKeyHeader?: string | undefined
  readonly cookie?: { readonly name: string; readonly origins: readonly string[] } | undefined
}

/** What of a request is read. */
export interface CredentialRequest {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly raw: { readonly rawHeaders: readonly string[] }
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Finds the request's credential. Raises AUTHENTICATION_REQUIRED when there is none or only one of a kind that is not accepted,
 * Basic above all (rule U5), INVALID_AUTHORIZATION for two, and CROSS_SITE_REQUEST for a cookie from elsewhere (rule U12).
 */
export function readCredential(request: CredentialRequest, { apiKeyHeader, cookie }: CredentialPlaces): Credential {
  const { authorization, cookie: cookieHeader } = request.headers
  const values = cookie === undefined || cookieHeader === undefined ? [] : cookieValues(cookieHeader, cookie.name)
  const keys = apiKeyHeader === undefined || apiKeyHeader === 'authorization' ? [] : [request.headers[apiKeyHeader] ?? []].flat()
  // Node keeps the first Authorization and drops the others: what stands before this service may have believed another.
  const authorizations = authorization === undefined ? 0 : timesSent(request.raw.rawHeaders, 'authorization')
  if (authorizations + values.length + keys.length > 1) throw invalidAuthorization()

  if (authorization !== undefined) return fromAuthorization(authorization, apiKeyHeader === 'authorization')
  if (keys.length === 1) return { kind: 'key', text: keys[0] as string }
  if (cookie !== undefined && values.length === 1) {
    if (!safeMethods.has(request.method) && !isSameSite(request.headers, cookie.origins)) throw crossSiteRequest()
    return { kind: 'token', text: values[0] as string }
  }
  throw authenticationRequired()
}

function fromAuthorization(value: string, takesKeys: boolean): Credential {
  const [, scheme = '', text = ''] = /^([^ ]*) *(.*)$/.exec(value) ?? []
  const kind = scheme.toLowerCase() === 'bearer' ? 'token' : takesKeys && scheme.toLowerCase() === 'apikey' ? 'key' : undefined
  if (kind === undefined) throw authenticationRequired()
  // A comma and another scheme begin a second credential; without any text there is not even one.
  if (text === '' || /, *[\w-]+ /.test(text)) throw invalidAuthorization()
  return { kind, text }
}

function timesSent(rawHeaders: readonly string[], name: string) {
  let times = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index] as string
    if (header.length === name.length && header.toLowerCase() === name) times += 1
  }
  return times
}
