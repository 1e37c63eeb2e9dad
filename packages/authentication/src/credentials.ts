import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { authenticationRequired, crossSiteRequest, invalidAuthorization } from './errors.ts'

export interface Credential {
  readonly kind: 'token' | 'key'
  readonly text: string
}

/** The places, besides `Authorization: Bearer`, where a request may contain credentials. */
export interface CredentialPlaces {
  /** The header that contains an API key, in lower case; `authorization` means the scheme `ApiKey`. */
  readonly apiKeyHeader?: string | undefined
  readonly cookie?: { readonly name: string; readonly origins: readonly string[] } | undefined
}

/** The parts of a request from which its credential is read. */
export type CredentialRequest = Pick<FastifyRequest, 'method' | 'headers'> & { readonly raw: Pick<FastifyRequest['raw'], 'rawHeaders'> }

const none: readonly string[] = []
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Returns the credential of the request. Throws AUTHENTICATION_REQUIRED when it is missing or its scheme is not accepted, such as
 * Basic (rule U5), INVALID_AUTHORIZATION for two, and CROSS_SITE_REQUEST for a cookie sent from another site (rule U12).
 */
export function readCredential(request: CredentialRequest, { apiKeyHeader, cookie }: CredentialPlaces): Credential {
  let authorization: string | undefined
  let key: string | undefined
  let cookies = none
  let brought = 0
  // Raw headers, since Node keeps the first of two Authorization fields, and a proxy in front may have trusted the other.
  const { rawHeaders } = request.raw
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] as string).toLowerCase()
    const value = rawHeaders[index + 1] as string
    if (name === 'authorization') {
      authorization = value
      brought += 1
    } else if (name === apiKeyHeader) {
      key = value
      brought += 1
    } else if (cookie !== undefined && name === 'cookie') cookies = [...cookies, ...cookieValues(value, cookie.name)]
  }
  if (brought + cookies.length > 1) throw invalidAuthorization()

  if (authorization !== undefined) return fromAuthorization(authorization, apiKeyHeader === 'authorization')
  if (key !== undefined) return { kind: 'key', text: key }
  const [token] = cookies
  if (token === undefined) throw authenticationRequired()
  if (!safeMethods.has(request.method) && !isSameSite(request.headers, cookie?.origins ?? none)) throw crossSiteRequest()
  return { kind: 'token', text: token }
}

/** Returns whether the request has a credential, valid or not, in a header other than `Cookie`, which browsers send without being asked. */
export function sendsCredential({ headers }: CredentialRequest, { apiKeyHeader }: CredentialPlaces): boolean {
  return headers.authorization !== undefined || (apiKeyHeader !== undefined && headers[apiKeyHeader] !== undefined)
}

/** Returns the names of the request headers that identify a client. A cookie is accepted depending on the origin of the page. */
export function credentialHeaders({ apiKeyHeader, cookie }: CredentialPlaces): readonly string[] {
  return ['authorization', ...(apiKeyHeader ? [apiKeyHeader] : []), ...(cookie ? ['cookie', 'origin', 'sec-fetch-site'] : [])]
}

function fromAuthorization(value: string, takesKeys: boolean): Credential {
  const blank = value.indexOf(' ')
  const scheme = (blank === -1 ? value : value.slice(0, blank)).toLowerCase()
  const text = blank === -1 ? '' : value.slice(blank).trimStart()
  const kind = scheme === 'bearer' ? 'token' : takesKeys && scheme === 'apikey' ? 'key' : undefined
  if (kind === undefined) throw authenticationRequired()
  // A comma and another scheme begin a second credential; an empty value is not a credential.
  if (text === '' || (text.includes(',') && /, *[\w-]+ /.test(text))) throw invalidAuthorization()
  return { kind, text }
}

// More than one value: another site may have set the cookie (RFC 6265 §5.4).
function cookieValues(header: string, name: string) {
  return header.split(';').flatMap((pair) => {
    const [key, ...rest] = pair.split('=')
    return (key as string).trim() === name ? [rest.join('=').trim()] : []
  })
}

// Without Sec-Fetch-Site (Fetch Metadata) and Origin, a request is not trusted.
function isSameSite({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders, origins: readonly string[]) {
  if (origin !== undefined && origins.includes(origin)) return true
  return site === 'same-origin' && origin !== 'null'
}
