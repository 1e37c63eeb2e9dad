import type { FastifyPluginAsync } from 'fastify'

/** The products. */
const products: FastifyPluginAsync = async (app) => {
  app.get('/', async () => [{ id: 1, name: 'tea' }])
}

export default products
