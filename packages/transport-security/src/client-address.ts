import { isIPv4, isIPv6 } from 'node:net'

/** How much of a client's IP address a log may show: it is personal data (rule S12). */
export type RemoteAddress = 'none' | 'truncate' | 'full'

/** The part of a request that a client's address is read from: Fastify's request, or Node's own. */
export interface AddressedRequest {
  readonly ip?: string | undefined
  readonly socket?: { readonly remoteAddress?: string | undefined } | undefined
}

/**
 * Makes the function that reads a client's address for a log: nothing, its network (IPv4 /24, IPv6 /48), or all of it.
 * What is not an IP address, as a forwarded name or `unknown`, is left out. Throws a `TypeError` for another mode.
 */
export function addressReader(mode: RemoteAddress = 'truncate'): (request: AddressedRequest) => string | undefined {
  if (mode === 'none') return () => undefined
  if (mode === 'full') return (request) => ipOf(addressOf(request))
  if (mode === 'truncate') return (request) => networkOf(ipOf(addressOf(request)))
  throw new TypeError(`transport-security: remoteAddress is "${String(mode)}". Choose 'none', 'truncate' or 'full'.`)
}

function addressOf(request: AddressedRequest) {
  try {
    return request.ip ?? request.socket?.remoteAddress
  } catch {
    // A trustProxy function of the service's own may throw, and a log line must not end the process.
    return undefined
  }
}

function ipOf(address: string | undefined) {
  const bare = address?.replace(/^::ffff:(?=\d+\.)/i, '') ?? ''
  return isIPv4(bare) || isIPv6(bare) ? bare : undefined
}

function networkOf(address: string | undefined) {
  if (address === undefined) return undefined
  if (isIPv4(address)) return `${address.slice(0, address.lastIndexOf('.'))}.0`
  const [head = ''] = address.split('::', 1)
  return `${head.split(':', 3).join(':')}::`
}
