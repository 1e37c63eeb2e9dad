import conditionalCaching from '@concordat/conditional-caching'
import httpMethods from '@concordat/http-methods'
import type { FastifyPluginAsync } from 'fastify'

/** Packages for the routes of this folder. */
const packages: FastifyPluginAsync = async (products) => {
  await products.register(conditionalCaching)
  await products.register(httpMethods)
}

export default packages
