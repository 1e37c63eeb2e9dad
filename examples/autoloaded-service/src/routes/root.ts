import type { FastifyPluginAsync } from 'fastify'

/** Routes without a prefix. */
const root: FastifyPluginAsync = async (app) => {
  app.get('/health', async () => 'well')
  app.get('/', async (_request, reply) => reply.type('text/html').send('<h1>Tasks</h1>'))
  app.get('/failing', async () => {
    throw new Error('the disk is full')
  })
}

export default root
