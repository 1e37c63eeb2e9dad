import { createRequire } from 'node:module'
import { isIP } from 'node:net'

// Required, not imported, because the types of @fastify/rate-limit declare `config.rateLimit` with their own options.
const { normalizeIP } = createRequire(import.meta.url)('@fastify/rate-limit') as {
  /** Returns the address in canonical form, or the network of an IPv6 address. */
  readonly normalizeIP: (address: string, ipv6PrefixLength: number) => string
}

const remembered = 10_000

/**
 * Creates the function that returns the key of an address: an IPv4 address, or the network of an IPv6 address, because a single
 * household has a whole /64. IPv4-mapped IPv6 addresses count as IPv4. Everything that is not an address shares one key: a Unix
 * socket, a closed connection, and an invalid value from a proxy.
 */
export function addressKeys(ipv6PrefixLength: number): (address: string | undefined) => string {
  // Parsing an IPv6 address takes about as long as a small request, so recent addresses are cached.
  const keys = new Map<string, string>()
  return (address) => {
    if (address === undefined) return 'unknown'
    const cached = keys.get(address)
    if (cached !== undefined) return cached
    if (isIP(address) === 0) return 'unknown'
    const key = normalizeIP(address, ipv6PrefixLength)
    if (keys.size >= remembered) keys.clear()
    keys.set(address, key)
    return key
  }
}
