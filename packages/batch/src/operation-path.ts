import type { Problem } from './errors.ts'
import type { RouteSettings } from './options.ts'

/** The maximum length of a path and its query, in characters. */
export const maxPathLength = 8192
// A path and an optional query (RFC 3986 §3.3 and §3.4), with brackets, which are common in queries.
const target = /^\/(?:[\w\-.~!$&'()*+,;=:@/]|%[\da-f]{2})*(?:\?(?:[\w\-.~!$&'()*+,;=:@/?[\]]|%[\da-f]{2})*)?$/i

/** Returns the problem with an operation's path, or `undefined`. A path that could mean another path after decoding is rejected. */
export function pathProblem(path: unknown, field: string, { paths, batches }: RouteSettings): Problem | undefined {
  if (typeof path !== 'string' || path.length > maxPathLength || !target.test(path)) return { field, key: 'path' }
  const [place = ''] = path.split('?', 1)
  // The router decodes once and then compares, so encoded dots and slashes are not allowed. `;` starts a query in some routers.
  if (/\/\/|;|\/\.{1,2}(?:\/|$)|%(?:2e|2f|5c|25|00|3b|3f|23)/i.test(place)) return { field, key: 'path' }
  if (batches.has(decodeAll(place).replace(/\/$/, '').toLowerCase())) return { field, key: 'pathNested' }
  if (paths.some((allowed) => place === allowed || place.startsWith(`${allowed}/`))) return undefined
  return { field, key: 'pathForeign', params: { paths: paths.join(', ') } }
}

function decodeAll(place: string) {
  if (!place.includes('%')) return place
  return place.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
