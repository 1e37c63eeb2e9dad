import { createRequire } from 'node:module'
import { clientAddress } from '@concordat/plugin-kit/links'

// Required, not imported, because the types of @fastify/rate-limit declare `config.rateLimit` with their own options.
const require = createRequire(import.meta.url)
const { normalizeIP } = require('@fastify/rate-limit') as {
  /** Returns the address in canonical form, or the network of an IPv6 address. */
  readonly normalizeIP: (address: string, ipv6PrefixLength: number) => string
}

// A single household has a whole /64.
const ipv6PrefixLength = 64
const maxKeys = 10_000

// Parsing an IPv6 address takes about as long as a small request, so recent addresses are cached.
const keys = new Map<string, string>()

/**
 * Returns the key of an address: an IPv4 address, also if it is mapped to IPv6, or the network of an IPv6 address, without a port. Everything else shares one key: a
 * Unix socket, a closed connection, and an invalid value from a proxy.
 */
export function addressKey(address: string | undefined): string {
  if (address === undefined) return 'unknown'
  const cached = keys.get(address)
  if (cached !== undefined) return cached
  const bare = clientAddress(address)
  if (bare === undefined) return 'unknown'
  const key = normalizeIP(bare, ipv6PrefixLength)
  if (keys.size >= maxKeys) keys.clear()
  keys.set(address, key)
  return key
}
