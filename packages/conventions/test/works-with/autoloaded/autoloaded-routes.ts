import type { FastifyPluginAsync } from 'fastify'

const routes: FastifyPluginAsync = async (app) => {
  app.get('/autoloaded', async () => 'autoloaded')
}
export default routes
