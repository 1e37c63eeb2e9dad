import type { OpenDatabase } from '@concordat/postgres/open'
import { found, type Statements, statementsOn } from '@concordat/postgres/rows'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { IdPath } from '../fields.ts'
import { transaction } from '../transaction.ts'
import { emit } from '../webhooks/events.ts'
import { changeItem, createItem, deleteItem, findItem, listItems } from './item-repository.ts'
import { findOrder } from './repository.ts'
import { Item, ItemChanges, ItemPath, itemCollection, NewItem } from './schemas.ts'

export const orderItems: FastifyPluginAsyncTypebox<{ database: OpenDatabase }> = async (app, { database }) => {
  app.get(
    '/orders/:id/items',
    {
      config: { permissions: ['orders:read'], collection: itemCollection },
      schema: { params: IdPath, response: { 200: Type.Array(Item) } }
    },
    async (request, reply) => {
      const { id } = request.params
      request.authorize('orders:read', await findOrder(database, id))
      reply.link('up', `/orders/${id}`)
      return reply.page(await listItems(database, id, request.listQuery(itemCollection)))
    }
  )

  app.post(
    '/orders/:id/items',
    {
      config: {
        permissions: ['orders:update'],
        transaction,
        openapi: { errors: ['ORDER_NOT_PENDING', 'INSUFFICIENT_STOCK', 'PRODUCT_DISCONTINUED', 'UNKNOWN_PRODUCT', 'MIXED_CURRENCIES'] }
      },
      schema: { params: IdPath, body: NewItem, response: { 201: Item } }
    },
    async (request, reply) => {
      const { id } = request.params
      const orders = statementsOn(request.transaction)
      request.authorize('orders:update', await findOrder(orders, id))
      const item = found(await createItem(orders, id, request.body))
      await emitOrder(orders, id)
      return reply.created(`/orders/${id}/items/${item.id}`, linked(reply, id, item))
    }
  )

  app.get(
    '/orders/:id/items/:itemId',
    { config: { permissions: ['orders:read'] }, schema: { params: ItemPath, response: { 200: Item } } },
    async (request, reply) => {
      const { id, itemId } = request.params
      request.authorize('orders:read', await findOrder(database, id))
      return linked(reply, id, found(await findItem(database, id, itemId)))
    }
  )

  app.patch(
    '/orders/:id/items/:itemId',
    {
      config: {
        permissions: ['orders:update'],
        transaction,
        openapi: { errors: ['ORDER_NOT_PENDING', 'INSUFFICIENT_STOCK', 'PRODUCT_DISCONTINUED'] }
      },
      schema: { params: ItemPath, body: ItemChanges, response: { 200: Item } }
    },
    async (request, reply) => {
      const { id, itemId } = request.params
      const orders = statementsOn(request.transaction)
      request.authorize('orders:update', await findOrder(orders, id))
      const item = found(await changeItem(orders, id, itemId, request.body))
      await emitOrder(orders, id)
      return linked(reply, id, item)
    }
  )

  app.delete(
    '/orders/:id/items/:itemId',
    {
      config: { permissions: ['orders:update'], transaction, openapi: { errors: ['ORDER_NOT_PENDING'] } },
      schema: { params: ItemPath, response: { 204: Type.Null() } }
    },
    async (request, reply) => {
      const { id, itemId } = request.params
      const orders = statementsOn(request.transaction)
      request.authorize('orders:update', await findOrder(orders, id))
      found((await deleteItem(orders, id, itemId)) || undefined)
      await emitOrder(orders, id)
      return reply.noContent()
    }
  )

  // An item changes the total of its order.
  async function emitOrder(orders: Statements, id: string) {
    await emit(app, 'order.updated', found(await findOrder(orders, id)))
  }
}

function linked(reply: Pick<FastifyReply, 'link'>, orderId: string, item: Item) {
  reply.link('collection', `/orders/${orderId}/items`)
  reply.link('up', `/orders/${orderId}`)
  reply.link('product', `/products/${item.productId}`)
  return item
}
