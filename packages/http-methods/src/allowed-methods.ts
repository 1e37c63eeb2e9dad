/** Methods that are in no `Allow`: TRACE echoes credentials, CONNECT is for tunnels (RFC 9110 §9.3.6, §9.3.8). */
const never = new Set(['TRACE', 'CONNECT', 'OPTIONS'])

/** The methods that are worth asking the router for. OPTIONS is answered for every URL that has another one. */
export function askableMethods(supported: readonly string[]): readonly string[] {
  return supported.filter((method) => !never.has(method))
}

/** The sorted value of `Allow` for a URL at which `isRouted` finds some of the methods; empty when it finds none. */
export function allowedMethods(askable: readonly string[], isRouted: (method: string) => boolean): readonly string[] {
  const found = askable.filter(isRouted)
  return found.length === 0 ? found : withOptions(found)
}

/** The methods with OPTIONS among them, sorted. */
export function withOptions(methods: Iterable<string>): readonly string[] {
  return [...new Set([...methods, 'OPTIONS'])].toSorted()
}
