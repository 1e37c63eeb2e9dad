import type { IncomingHttpHeaders } from 'node:http'
import { isIP, isIPv4 } from 'node:net'
import { clientAddress, markForwarded } from '@concordat/plugin-kit/links'
import { compile } from '@fastify/proxy-addr'

/** Returns whether the peer with this address is a trusted proxy. It returns false for a value that is not an address. */
export type TrustProxy = (address: string, hop: number) => boolean

// Documentation addresses (RFC 5737, RFC 3849), which no host uses: a list that trusts one of them trusts unknown clients.
const strangers = ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1']

// There are few proxies, but clients can put anything into X-Forwarded-For.
const maxRemembered = 1000
// With brackets and a port.
const maxAddressLength = 53

interface InjectedRequest {
  readonly headers: IncomingHttpHeaders
  readonly socket?: { readonly remoteAddress?: string | undefined } | undefined
}

/** Trusts the nearest hop, which has no address of its own: a gateway whose requests are injected, with the address of the client. */
export const trustGateway: TrustProxy = (_address, hop) => hop === 0

/**
 * Makes the address of the event that of the client. The adapter of a gateway injects a request with this address as its peer; what the gateway has in
 * `X-Forwarded-For` can be an edge server in front of it. A load balancer has no address in its event, so the peer is the default of `inject`.
 */
export function useAddressOfEvent(request: InjectedRequest): void {
  const { headers, socket } = request
  markForwarded(request)
  if (socket?.remoteAddress !== '127.0.0.1') delete headers['x-forwarded-for']
}

/**
 * Compiles a list of addresses, CIDR ranges and Fastify's names for ranges (`loopback`, `linklocal`, `uniquelocal`) into a lookup
 * function. Returns {@link trustGateway} for the list `['gateway']`. Throws a `TypeError` for an invalid list, and for a list that trusts unknown
 * clients.
 */
export function trustedProxies(proxies: readonly string[]): TrustProxy {
  if (!Array.isArray(proxies))
    throw new TypeError(
      'transport-security: options.trustProxy must be an array, because a hop count or true would trust every client. List the proxies by address or CIDR range, for example ["10.0.0.0/8"].'
    )
  if (proxies.includes('gateway')) {
    if (proxies.length > 1)
      throw new TypeError("transport-security: options.trustProxy must contain nothing else beside 'gateway'. Remove the other entries.")
    return trustGateway
  }
  const trusts = compiled(proxies)
  const wide = proxies.find((range) => trustsStrangers([range]))
  if (wide !== undefined)
    throw new TypeError(
      `transport-security: options.trustProxy contains "${wide}", a range that includes arbitrary clients. List only the proxies.`
    )
  const results = new Map<string, boolean>()
  return (address, hop) => {
    const cached = results.get(address)
    if (cached !== undefined) return cached
    if (typeof address !== 'string' || address.length > maxAddressLength) return false
    const bare = clientAddress(address)
    const isTrusted = bare !== undefined && trusts(bare, hop)
    if (results.size >= maxRemembered) results.clear()
    results.set(address, isTrusted)
    return isTrusted
  }
}

/** Returns whether a value of Fastify's option `trustProxy` trusts every client. */
export function trustsEveryone(trustProxy: unknown): boolean {
  if (trustProxy === true) return true
  try {
    return typeof trustProxy === 'function' ? trustsAny(trustProxy as TrustProxy) : trustsStrangers(rangesOf(trustProxy))
  } catch {
    // The service's own function may throw; then no peer is trusted.
    return false
  }
}

function trustsAny(trusts: TrustProxy) {
  return strangers.some((address) => trusts(address, 0))
}

function trustsStrangers(ranges: readonly string[]) {
  return trustsAny(compiled(ranges)) || ranges.some(isWide)
}

// The shortest prefixes that one owner can have: for private use (RFC 4193), on one link (RFC 4291), for IPv4 addresses in IPv6, and for all others.
const leastPrefixes: readonly (readonly [start: RegExp, length: number])[] = [
  [/^\d+\./, 8],
  [/^f[cd]/i, 7],
  [/^fe[89ab]/i, 10],
  [/^[0:]/, 104],
  [/^/, 16]
]

function isWide(range: string) {
  const [address = '', size] = range.split('/')
  if (size === undefined) return false
  if (size.includes('.')) return !size.startsWith('255.')
  return (leastPrefixes.find(([start]) => start.test(address))?.[1] as number) > Number(size)
}

// Reads the value like Fastify: a string may contain several ranges. A hop count has no ranges.
function rangesOf(trustProxy: unknown): readonly string[] {
  if (typeof trustProxy === 'string') return trustProxy.split(',').map((range) => range.trim())
  return Array.isArray(trustProxy) ? trustProxy : []
}

function compiled(ranges: readonly string[]): TrustProxy {
  try {
    const wrong = ranges.find((range) => !isRange(range))
    if (wrong !== undefined) throw new TypeError(`invalid IP address: ${wrong}`)
    return compile([...ranges])
  } catch (error) {
    throw new TypeError(
      `transport-security: options.trustProxy contains an ${(error as Error).message}. Use addresses and CIDR ranges, for example "10.0.0.0/8" or "::1".`,
      { cause: error }
    )
  }
}

// The parser also reads other numbers as addresses: 1, a number of hops elsewhere, is 0.0.0.1, and 010.0.0.1 is 8.0.0.1.
function isRange(range: unknown) {
  if (typeof range !== 'string') return false
  const [address = '', size = '1', ...others] = range.split('/')
  if (others.length > 0) return false
  return (
    ['loopback', 'linklocal', 'uniquelocal'].includes(range) || (isIP(address) !== 0 && (/^(?:0|[1-9]\d{0,2})$/.test(size) || isIPv4(size)))
  )
}
