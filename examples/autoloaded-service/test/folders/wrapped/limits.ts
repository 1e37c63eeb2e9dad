import rateLimiting from '@concordat/rate-limiting'
import fp from 'fastify-plugin'

/** The limits apply to all routes. */
export default fp(async (app) => {
  await app.register(rateLimiting)
})
