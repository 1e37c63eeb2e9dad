// Follows every link of a service: those in bodies and in the headers of successful responses.

/** A link that a response has. */
export interface Target {
  readonly href: string
  readonly method: string
  /** The request whose response has the link. */
  readonly from: string
}

/** What the crawler reads of a response. */
export interface LinkedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  // oxlint-disable-next-line typescript/no-explicit-any -- any resource
  readonly body: any
}

/** Returns the targets in the links of a response and of its items, and in its headers. */
export function targetsIn({ status, headers, body }: LinkedResponse, from: string): Target[] {
  if (status >= 300) return []
  const links: { href: string; method: string }[] = [body, body?.data].flat().flatMap((one) => one?._links ?? [])
  const inHeader = [...(headers['link'] ?? '').matchAll(/<([^>]+)>; rel="(?!deprecation|sunset)/g)].map(([, href]) => href as string)
  const location = headers['location'] === undefined ? [] : [headers['location']]
  const listed: { href: string }[] = body?.data?.versions ?? []
  const gets = [...inHeader, ...location, ...listed.map(({ href }) => href)].map((href) => ({ href, method: 'GET' }))
  return [...links, ...gets].map(({ href, method }) => ({ href, method, from }))
}

/** Returns where a crawler starts: the versions, and every list of a description. */
export function startingPoints(origin: string, version: string, paths: Readonly<Record<string, object>>): Target[] {
  const lists = Object.keys(paths).filter((path) => 'get' in (paths[path] as object) && !path.includes('{'))
  return ['/', `/${version}`, ...lists].map((path) => ({ href: origin + path, method: 'GET', from: 'the description' }))
}

// Requests of the same kind lead to responses of the same kind, so some of each kind are enough.
const perKind = 3

function kindOf({ href, method }: Target) {
  const { pathname, searchParams } = new URL(href)
  return [method, pathname.replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, '{id}'), ...[...searchParams.keys()].toSorted()].join(' ')
}

/**
 * Reads every target of the method GET, and follows the links of the responses; for another method, requests whether it is allowed. Returns the links
 * that lead nowhere, and the kinds of targets.
 */
export async function crawl(
  send: (method: 'GET' | 'OPTIONS', path: string) => Promise<LinkedResponse>,
  origin: string,
  start: readonly Target[]
): Promise<{ readonly problems: string[]; readonly kinds: string[] }> {
  const waiting = [...start]
  const seen = new Set<string>()
  const kinds = new Map<string, number>()
  const problems: string[] = []
  for (let target = waiting.pop(); target !== undefined; target = waiting.pop()) {
    const { href, method, from } = target
    const kind = kindOf(target)
    const count = kinds.get(kind) ?? 0
    if (seen.has(`${method} ${href}`) || count >= perKind) continue
    seen.add(`${method} ${href}`)
    kinds.set(kind, count + 1)
    if (new URL(href).origin !== origin) problems.push(`${from} links to ${href}, of another origin`)
    const path = href.slice(origin.length)
    if (method !== 'GET') {
      const { headers } = await send('OPTIONS', path)
      if (!String(headers['allow']).split(', ').includes(method))
        problems.push(`${from} links to ${method} ${path}, which allows ${headers['allow']}`)
      continue
    }
    const received = await send('GET', path)
    // 403: the user lacks the permission.
    if (received.status >= 400 && received.status !== 403) problems.push(`${from} links to ${path}, which responds with ${received.status}`)
    waiting.push(...targetsIn(received, path))
  }
  return { problems, kinds: [...kinds.keys()] }
}
