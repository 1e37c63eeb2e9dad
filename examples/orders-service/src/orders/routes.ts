import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import type { Database } from '../database/database.ts'
import { found } from '../found.ts'
import { cancelOrder, changeOrder, createOrder, deleteOrder, findOrder, listOrders } from './repository.ts'
import { Cancellation, NewCancellation, NewOrder, Order, OrderChanges, OrderPath, orderCollection } from './schemas.ts'

export const orders: FastifyPluginAsyncTypebox<{ database: Database }> = async (app, { database }) => {
  app.get(
    '/orders',
    { config: { collection: orderCollection }, schema: { response: { 200: Type.Array(Order) } } },
    async (request, reply) => reply.page(await listOrders(database, request.listQuery(orderCollection)))
  )

  app.post('/orders', { schema: { body: NewOrder, response: { 201: Order } } }, async (request, reply) => {
    const order = await createOrder(database, request.body)
    return reply.created(`/orders/${order.id}`, linked(reply, order))
  })

  app.get('/orders/:id', { schema: { params: OrderPath, response: { 200: Order } } }, async (request, reply) =>
    linked(reply, found(await findOrder(database, request.params.id)))
  )

  app.patch('/orders/:id', { schema: { params: OrderPath, body: OrderChanges, response: { 200: Order } } }, async (request, reply) =>
    linked(reply, found(await changeOrder(database, request.params.id, request.body)))
  )

  app.delete('/orders/:id', { schema: { params: OrderPath, response: { 204: Type.Null() } } }, async (request, reply) => {
    found((await deleteOrder(database, request.params.id)) || undefined)
    return reply.noContent()
  })

  app.post(
    '/orders/:id/cancellations',
    { preValidation: allowNoBody, schema: { params: OrderPath, body: NewCancellation, response: { 201: Cancellation } } },
    async (request, reply) => {
      const { id } = request.params
      const cancellation = found(await cancelOrder(database, id, request.body))
      // A cancellation has no address of its own: what it did is seen at the order.
      return reply.created(`/orders/${id}`, cancellation)
    }
  )
}

// A reason may be given and need not be: then there is nothing to send.
async function allowNoBody(request: { body: unknown }) {
  if (request.body === undefined) request.body = {}
}

function linked(reply: Pick<FastifyReply, 'link'>, order: Order) {
  reply.link('collection', '/orders')
  reply.link('customer', `/customers/${order.customerId}`)
  reply.link('items', `/orders/${order.id}/items`)
  if (order.status === 'pending' || order.status === 'paid') reply.link('cancel', `/orders/${order.id}/cancellations`, 'POST')
  return order
}
