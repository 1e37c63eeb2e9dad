import { isIPv4, isIPv6 } from 'node:net'
import { optionChecks } from '@concordat/plugin-options'

/** How much of a client's IP address the log shows. The address is personal data (rule S12). */
export type RemoteAddress = 'none' | 'truncate' | 'full'

/** The part of a request that contains the client's address: a request of Fastify or of Node.js. */
export interface AddressedRequest {
  readonly ip?: string | undefined
  readonly socket?: { readonly remoteAddress?: string | undefined } | undefined
}

const { oneOf } = optionChecks('transport-security')

/**
 * Returns the function that reads a client's address for the log: nothing, its network (IPv4 /24, IPv6 /48), or the full address.
 * A value that is not an IP address, for example a forwarded name or `unknown`, is left out. Throws a `TypeError` for an invalid mode.
 */
export function addressReader(mode: RemoteAddress = 'truncate'): (request: AddressedRequest) => string | undefined {
  oneOf('options.remoteAddress', mode, ['none', 'truncate', 'full'])
  if (mode === 'none') return () => undefined
  if (mode === 'full') return (request) => ipOf(addressOf(request))
  return (request) => networkOf(ipOf(addressOf(request)))
}

function addressOf(request: AddressedRequest) {
  try {
    return request.ip ?? request.socket?.remoteAddress
  } catch {
    // The service's own trustProxy function may throw, and a log line must not crash the process.
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
