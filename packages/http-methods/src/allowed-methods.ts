/**
 * Methods that are never looked up in the router: TRACE echoes credentials, CONNECT is for tunnels (RFC 9110 §9.3.6, §9.3.8), and OPTIONS needs no
 * route.
 */
const never = new Set(['TRACE', 'CONNECT', 'OPTIONS'])

/** Returns the methods to look up in the router. OPTIONS is supported for every URL that has another method. */
export function routableMethods(supported: readonly string[]): readonly string[] {
  return supported.filter((method) => !never.has(method))
}

/** Returns the methods for the `Allow` header of a URL, sorted, or an empty array if `isRouted` returns false for every method. */
export function allowedMethods(routable: readonly string[], isRouted: (method: string) => boolean): readonly string[] {
  const found = routable.filter(isRouted)
  return found.length === 0 ? found : withOptions(found)
}

/** Returns the methods and OPTIONS, sorted. */
export function withOptions(methods: Iterable<string>): readonly string[] {
  return [...new Set([...methods, 'OPTIONS'])].toSorted()
}
