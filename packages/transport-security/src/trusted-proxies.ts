import { compile } from '@fastify/proxy-addr'

/** Tells whether the peer with this address may speak for others. It answers no for no address. */
export type TrustProxy = (address: string, hop: number) => boolean

// Addresses of documentation (RFC 5737, RFC 3849), which nobody has: who trusts one of them trusts whoever comes.
const strangers = ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1']

// Proxies are few; what stands in X-Forwarded-For is whatever clients put there.
const maxRemembered = 1000
const maxAddressLength = 45

/**
 * Compiles a list of addresses, CIDR ranges and Fastify's names for ranges (`loopback`, `linklocal`, `uniquelocal`) into one
 * look-up. Throws a `TypeError` for what is no such list, and for one that trusts strangers.
 */
export function trustedProxies(proxies: readonly string[]): TrustProxy {
  if (!Array.isArray(proxies))
    throw new TypeError(
      'transport-security: trustProxy is no list. A hop count or true would believe whoever connects; name the proxies by address or CIDR range, as ["10.0.0.0/8"].'
    )
  const trusts = compiled(proxies)
  if (trustsEveryone(trusts))
    throw new TypeError('transport-security: trustProxy has a range that holds strangers. Name the proxies and no others.')
  const remembered = new Map<string, boolean>()
  return (address, hop) => {
    const known = remembered.get(address)
    if (known !== undefined) return known
    if (typeof address !== 'string' || address.length > maxAddressLength) return false
    const trusted = trusts(address, hop)
    if (remembered.size >= maxRemembered) remembered.clear()
    remembered.set(address, trusted)
    return trusted
  }
}

/** Whether what Fastify was given as `trustProxy` believes whoever connects. */
export function trustsEveryone(trustProxy: unknown): boolean {
  if (trustProxy === true) return true
  try {
    const trusts = typeof trustProxy === 'function' ? (trustProxy as TrustProxy) : compiled(rangesOf(trustProxy))
    return strangers.some((address) => trusts(address, 0))
  } catch {
    // A function of the service's own that throws believes nobody.
    return false
  }
}

// As Fastify reads it: a text may hold several, and a hop count means nobody.
function rangesOf(trustProxy: unknown): readonly string[] {
  if (typeof trustProxy === 'string') return trustProxy.split(',').map((range) => range.trim())
  return Array.isArray(trustProxy) ? trustProxy : []
}

function compiled(ranges: readonly string[]): TrustProxy {
  try {
    return compile([...ranges])
  } catch (error) {
    throw new TypeError(
      `transport-security: trustProxy has an ${(error as Error).message}. Give addresses and CIDR ranges, as "10.0.0.0/8" or "::1".`,
      { cause: error }
    )
  }
}
