/** Methods for which the router is never queried: TRACE echoes credentials, CONNECT is for tunnels (RFC 9110 §9.3.6, §9.3.8). */
const never = new Set(['TRACE', 'CONNECT', 'OPTIONS'])

/** Returns the methods to look up in the router. OPTIONS is supported for every URL that has another method. */
export function routableMethods(supported: readonly string[]): readonly string[] {
  return supported.filter((method) => !never.has(method))
}

/** Returns the sorted methods of `Allow` for a URL, of which `isRouted` finds at least one; empty if it finds none. */
export function allowedMethods(routable: readonly string[], isRouted: (method: string) => boolean): readonly string[] {
  const found = routable.filter(isRouted)
  return found.length === 0 ? found : withOptions(found)
}

/** Returns the methods and OPTIONS, sorted. */
export function withOptions(methods: Iterable<string>): readonly string[] {
  return [...new Set([...methods, 'OPTIONS'])].toSorted()
}
