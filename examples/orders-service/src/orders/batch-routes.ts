import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

/** Many operations on orders in one request, each with the permissions that it needs by itself. */
export const orderBatches: FastifyPluginAsyncTypebox = async (app) => {
  app.batch('/order-batches', {
    paths: ['/orders'],
    atomic: 'byRequest',
    config: {
      permissions: ['orders:read'],
      // What was done under the key of the batch is not done again, so a batch that failed as a whole may be.
      idempotency: { key: 'required', serverErrors: 'release' }
    }
  })
}
