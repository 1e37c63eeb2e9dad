import type { OpenDatabase } from '@concordat/postgres/open'
import { changed, expectedVersions, found, type Statements, statementsOn, type Versioned, validatorOf } from '@concordat/postgres/rows'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { mayActFor } from '../access.ts'
import { IdPath, projection, transaction } from '../fields.ts'
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
        idempotency: 'accepted',
        transaction,
        openapi: {
          errors: ['ORDER_NOT_PENDING', 'INSUFFICIENT_STOCK', 'PRODUCT_DISCONTINUED', 'UNKNOWN_PRODUCT', 'MIXED_CURRENCIES'],
          headers: { ETag: 'ETag of the item.' }
        }
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
    { config: { permissions: ['orders:read'], projection }, schema: { params: ItemPath, response: { 200: Item } } },
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
        idempotency: 'off',
        validator,
        transaction,
        openapi: { errors: ['ORDER_NOT_PENDING', 'INSUFFICIENT_STOCK', 'PRODUCT_DISCONTINUED'] }
      },
      schema: { params: ItemPath, body: ItemChanges, response: { 200: Item } }
    },
    async (request, reply) => {
      const { params, preconditions } = request
      const { id, itemId } = params
      const orders = statementsOn(request.transaction)
      request.authorize('orders:update', await findOrder(orders, id))
      const changedItem = await changeItem(orders, id, itemId, request.body, expectedVersions(preconditions))
      const item = await changed(changedItem, preconditions, () => findItem(orders, id, itemId))
      await emitOrder(orders, id)
      return linked(reply, id, item)
    }
  )

  app.delete(
    '/orders/:id/items/:itemId',
    {
      config: { permissions: ['orders:update'], validator, transaction, openapi: { errors: ['ORDER_NOT_PENDING'] } },
      schema: { params: ItemPath, response: { 204: Type.Null() } }
    },
    async (request, reply) => {
      const { params, preconditions } = request
      const { id, itemId } = params
      const orders = statementsOn(request.transaction)
      request.authorize('orders:update', await findOrder(orders, id))
      const deleted = await deleteItem(orders, id, itemId, expectedVersions(preconditions))
      await changed(deleted, preconditions, () => findItem(orders, id, itemId))
      await emitOrder(orders, id)
      return reply.noContent()
    }
  )

  // An item changes the total of its order.
  async function emitOrder(orders: Statements, id: string) {
    await emit(app, 'order.updated', found(await findOrder(orders, id)))
  }
}

// To a caller who may not see the order, its item does not exist.
async function validator(request: FastifyRequest<{ Params: { id: string; itemId: string } }>) {
  const { id, itemId } = request.params
  const orders = statementsOn(request.transaction)
  const order = await findOrder(orders, id)
  return validatorOf(order && mayActFor(request.principal, order.customerId) ? await findItem(orders, id, itemId) : undefined)
}

function linked(reply: Pick<FastifyReply, 'link' | 'entityTag'>, orderId: string, item: Versioned<Item>) {
  reply.entityTag(item.version)
  reply.link('collection', `/orders/${orderId}/items`)
  reply.link('up', `/orders/${orderId}`)
  reply.link('product', `/products/${item.productId}`)
  return item
}
