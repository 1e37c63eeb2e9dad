import type { Problem } from './errors.ts'

/** Which paths operations may name. */
export interface PathRules {
  /** From the root, without a slash at the end. */
  readonly paths: readonly string[]
  /** The paths of all batches of the service. */
  readonly batches: ReadonlySet<string>
}

const longest = 8192
// A path and perhaps a query, as RFC 3986 §3.3 and §3.4 have them; brackets are usual in queries.
const target = /^\/(?:[\w\-.~!$&'()*+,;=:@/]|%[\da-f]{2})*(?:\?(?:[\w\-.~!$&'()*+,;=:@/?[\]]|%[\da-f]{2})*)?$/i

/** What is wrong with the path of an operation. Each is read as it stands: one that could mean another after decoding is refused. */
export function pathProblem(path: unknown, field: string, { paths, batches }: PathRules): Problem | undefined {
  if (typeof path !== 'string' || path.length > longest || !target.test(path)) return { field, key: 'path' }
  const [place = ''] = path.split('?', 1)
  // The router decodes once and then compares, so neither dots nor slashes may come in disguise; `;` begins a query in some routers.
  if (/\/\/|;|\/\.{1,2}(?:\/|$)|%(?:2e|2f|5c|25|00|3b|3f|23)/i.test(place)) return { field, key: 'path' }
  if (batches.has(decodeAll(place).replace(/\/$/, '').toLowerCase())) return { field, key: 'pathNested' }
  if (paths.some((allowed) => place === allowed || place.startsWith(`${allowed}/`))) return undefined
  return { field, key: 'pathForeign', params: { paths: paths.join(', ') } }
}

function decodeAll(place: string) {
  if (!place.includes('%')) return place
  return place.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
