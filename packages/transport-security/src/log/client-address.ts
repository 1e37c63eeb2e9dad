import { isIPv4 } from 'node:net'
import { clientAddress } from '@concordat/plugin-kit/links'

/** The part of a request that contains the client's address: a request of Fastify or of Node.js. */
export interface AddressedRequest {
  readonly ip?: string | undefined
  readonly socket?: { readonly remoteAddress?: string | undefined } | undefined
}

/**
 * Returns the function that reads a client's address for the log, which is personal data (rule S12): nothing, its network (IPv4 /24, IPv6 /48), or
 * the full address. A value that is not an IP address, for example a forwarded name or `unknown`, is left out.
 */
export function addressReader(mode: 'none' | 'truncate' | 'full'): (request: AddressedRequest) => string | undefined {
  if (mode === 'none') return () => undefined
  if (mode === 'full') return addressOf
  return (request) => networkOf(addressOf(request))
}

function addressOf(request: AddressedRequest) {
  try {
    return clientAddress(request.ip ?? request.socket?.remoteAddress)
  } catch {
    // The service's own trustProxy function may throw, and a log line must not crash the process.
    return undefined
  }
}

function networkOf(address: string | undefined) {
  if (address === undefined) return undefined
  if (isIPv4(address)) return `${address.slice(0, address.lastIndexOf('.'))}.0`
  const [head = ''] = address.split('::', 1)
  return `${head.split(':', 3).join(':')}::`
}
