import { isIP, isIPv4, isIPv6 } from 'node:net'

/**
 * Returns the IP address of a client in the form that Fastify's `request.ip` should have: without the port that some proxies append to it in
 * `X-Forwarded-For` (`203.0.113.7:5000`, `[2001:db8::1]:5000`), without a zone, and IPv4 also where it is mapped to IPv6. Returns undefined for what is not an
 * address, such as `unknown`. With a port, each connection of a client would be a client of its own.
 */
export function clientAddress(text: string | undefined): string | undefined {
  // Nearly all addresses.
  if (text === undefined || isIPv4(text)) return text
  const [, bracketed = text] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text) ?? []
  const address = bracketed.replace(/%.*$/s, '').replace(/^::ffff:(?=\d+\.)/i, '')
  if (isIP(address) !== 0) return address
  const [, before = ''] = /^([\d.]+):\d{1,5}$/.exec(address) ?? []
  return isIPv4(before) ? before : undefined
}

/**
 * Returns the part of an address that stands for one client: an IPv4 address, or the /64 network of an IPv6 address, because one host can use all 2⁶⁴
 * addresses of its network. Returns `unknown` for what is not an address.
 */
export function clientNetwork(text: string | undefined): string {
  const address = clientAddress(text) ?? 'unknown'
  if (!isIPv6(address)) return address
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after]
  return `${groups.slice(0, 4).join(':')}::/64`
}
