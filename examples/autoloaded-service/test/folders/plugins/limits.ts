import rateLimiting from '@concordat/rate-limiting'
import type { FastifyPluginAsync } from 'fastify'

/** Without fastify-plugin, this file is a context of its own, without routes. */
const limits: FastifyPluginAsync = async (app) => {
  await app.register(rateLimiting)
}

export default limits
