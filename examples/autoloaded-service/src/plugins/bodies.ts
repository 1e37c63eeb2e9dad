import formbody from '@fastify/formbody'
import multipart from '@fastify/multipart'
import fp from 'fastify-plugin'

/** Forms and uploads. */
export default fp(async (app) => {
  await app.register(formbody)
  await app.register(multipart)
})
