import type { FastifyPluginAsync } from 'fastify'

const Order = { type: 'object', required: ['id'], properties: { id: { type: 'string', format: 'uuid' } } }

/** The orders of version 1. */
const orders: FastifyPluginAsync = async (app) => {
  app.get('/:id', { schema: { response: { 200: Order } } }, async () => ({ id: '018f4e2a-7c1b-7d3e-9a5f-0123456789ab' }))
  app.post('', { config: { idempotency: 'off' }, schema: { body: Order, response: { 201: Order } } }, async (request, reply) =>
    reply.created('/orders/1', request.body as object)
  )
}

export default orders
