import rateLimiting from '@concordat/rate-limiting'
import type { FastifyInstance } from 'fastify'

/** Limits the requests of each address to the routes of a context. */
export async function adoptRateLimiting(context: FastifyInstance): Promise<void> {
  await context.register(rateLimiting, { addressLimit: { limit: 100, windowSeconds: 60 } })
}
