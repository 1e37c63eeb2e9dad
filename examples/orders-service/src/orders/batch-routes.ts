import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

/** Runs many operations on orders in one request, each with the permissions of its own route. */
export const orderBatches: FastifyPluginAsyncTypebox = async (app) => {
  app.batch('/order-batches', {
    paths: ['/orders'],
    atomic: 'byRequest',
    config: { permissions: ['orders:read'], idempotency: 'required' }
  })
}
