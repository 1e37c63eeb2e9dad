import type { IncomingHttpHeaders } from 'node:http'

/**
 * Returns whether the request comes from an allowed page: `Sec-Fetch-Site` (Fetch Metadata) is `same-origin`, or `Origin` is in the
 * list. Without either header, the request is not trusted (rule U12).
 */
export function isSameSite(headers: IncomingHttpHeaders, origins: readonly string[]): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  if (origin !== undefined && origins.includes(origin)) return true
  return site === 'same-origin' && origin !== 'null'
}
