import { createRequire } from 'node:module'
import { isIP } from 'node:net'

// Required and not imported, since the types of @fastify/rate-limit declare `config.rateLimit` for their own options.
const { normalizeIP } = createRequire(import.meta.url)('@fastify/rate-limit') as {
  /** The address in one form, of IPv6 its network. */
  readonly normalizeIP: (address: string, ipv6PrefixLength: number) => string
}

const remembered = 10_000

/**
 * Makes the function from an address to the key that it is counted under: IPv4 whole, IPv6 its network, since one household has a whole
 * /64 to choose from; IPv4 written as IPv6 is IPv4. Everything that is no address has one key together: a connection over a Unix socket
 * or one that is gone, and what a proxy made up.
 */
export function addressKeys(ipv6PrefixLength: number): (address: string | undefined) => string {
  // Reading an IPv6 address takes about as long as a whole small request, so the last ones are remembered.
  const keys = new Map<string, string>()
  return (address) => {
    if (address === undefined) return 'unknown'
    const known = keys.get(address)
    if (known !== undefined) return known
    if (isIP(address) === 0) return 'unknown'
    const key = normalizeIP(address, ipv6PrefixLength)
    if (keys.size >= remembered) keys.clear()
    keys.set(address, key)
    return key
  }
}
