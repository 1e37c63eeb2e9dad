import { createRequire } from 'node:module'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'

/** One request counted. `ttl` are the milliseconds until the window ends. */
interface Hit {
  readonly isExceeded: boolean
  readonly remaining: number
  readonly ttl: number
}

/** Options of `createRateLimit`; `timeWindow` in milliseconds. */
interface LimitSettings {
  readonly max: number
  readonly timeWindow: number
  readonly keyGenerator: (request: FastifyRequest) => string
}

/** Where it counts: in the memory of this process, with so many keys a limit, or in Redis. */
export type OfficialStore = { readonly cache: number } | { readonly redis: object; readonly nameSpace: string }

type OfficialLimiter = (settings: LimitSettings) => (request: FastifyRequest) => Promise<Hit>

interface Official extends FastifyPluginAsync<OfficialStore & { readonly global: false }> {
  /** The address, of IPv6 its network, in one form. */
  normalizeIP(address: string, ipv6PrefixLength: number): string
}

// Required and not imported, since the types of @fastify/rate-limit declare `config.rateLimit` for their own options.
const official = createRequire(import.meta.url)('@fastify/rate-limit') as Official

export const normalizeAddress: Official['normalizeIP'] = official.normalizeIP

/**
 * Registers `@fastify/rate-limit` where it sees no route, and answers what it counts with. It would read `config.rateLimit` as its own,
 * count no unknown URLs and send other fields.
 */
export async function officialLimiter(app: FastifyInstance, store: OfficialStore): Promise<OfficialLimiter> {
  let limiter: OfficialLimiter | undefined
  await app.register(async (child) => {
    await child.register(official, { global: false, ...store })
    limiter = (child as unknown as { createRateLimit: OfficialLimiter }).createRateLimit
  })
  return limiter as OfficialLimiter
}
