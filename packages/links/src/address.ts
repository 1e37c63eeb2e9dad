import { isIP, isIPv4 } from 'node:net'

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
