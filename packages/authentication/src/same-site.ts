import type { IncomingHttpHeaders } from 'node:http'

/**
 * Whether a browser says that the request comes from the service's own pages: by `Sec-Fetch-Site` (Fetch Metadata), else by an
 * `Origin` of the list. Who says neither is not believed (rule U12).
 */
export function isSameSite(headers: IncomingHttpHeaders, origins: readonly string[]): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  if (origin !== undefined && origins.includes(origin)) return true
  return site === 'same-origin' && origin !== 'null'
}
