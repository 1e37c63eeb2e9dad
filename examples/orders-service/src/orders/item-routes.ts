import { runSql } from '@concordat/pagination-query/sql'
import { found, statementsOn, type Versioned, validatorOf } from '@concordat/postgres/rows'
import { Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { IdPath, projection, type Resource, transaction } from '../fields.ts'
import { orderErrors } from './errors.ts'
import { addItem, itemTable, orderTable, writeTotal } from './repository.ts'
import { Item, ItemChanges, ItemPath, itemCollection, NewItem } from './schemas.ts'
import { returnStock, takeStock } from './stock.ts'

type OfItem = FastifyRequest<{ Params: { id: string; itemId: string } }>

export const orderItems: Resource = async (app, { database }) => {
  app.get(
    '/orders/:id/items',
    {
      config: { permissions: ['orders:read'], collection: itemCollection },
      schema: { params: IdPath, response: { 200: Type.Array(Item) } }
    },
    async (request, reply) => {
      const { id } = request.authorize('orders:read', await orderTable.find(database, request.params))
      reply.link('up', `/orders/${id}`)
      const where = { text: 'order_id = $1', values: [id] }
      return reply.page(await runSql(database.client, request.listQuery(itemCollection), { where }))
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
      const { id, currency } = await pendingOrder(request)
      const rows = statementsOn(request.transaction)
      const productId = request.body.productId.toLowerCase()
      await takeStock(rows, [{ ...request.body, productId, pointer: '/productId' }], currency)
      const item = await addItem(rows, id, request.body)
      await app.webhooks.emit('order.updated', await writeTotal(rows, id))
      return reply.created(`/orders/${id}/items/${item.id}`, linked(reply, id, item))
    }
  )

  app.get(
    '/orders/:id/items/:itemId',
    { config: { permissions: ['orders:read'], projection }, schema: { params: ItemPath, response: { 200: Item } } },
    async (request, reply) => {
      const { id, itemId } = request.params
      request.authorize('orders:read', await orderTable.find(database, { id }))
      return linked(reply, id, found(await itemTable.find(database, { id: itemId, orderId: id })))
    }
  )

  app.patch(
    '/orders/:id/items/:itemId',
    {
      config: {
        permissions: ['orders:update'],
        idempotency: 'accepted',
        validator,
        transaction,
        openapi: { errors: ['ORDER_NOT_PENDING', 'INSUFFICIENT_STOCK', 'PRODUCT_DISCONTINUED'] }
      },
      schema: { params: ItemPath, body: ItemChanges, response: { 200: Item } }
    },
    async (request, reply) => {
      const { id } = await pendingOrder(request)
      const rows = statementsOn(request.transaction)
      const { quantity, productId, ...item } = await expectedItem(request)
      const more = (request.body.quantity ?? quantity) - quantity
      if (more > 0) await takeStock(rows, [{ productId, quantity: more, pointer: '/quantity' }])
      if (more < 0) await returnStock(rows, [{ productId, quantity: -more }])
      // The price stays the price at which the item was ordered.
      const changed = await itemTable.update(rows, { id: item.id }, request.body)
      if (more !== 0) await app.webhooks.emit('order.updated', await writeTotal(rows, id))
      return linked(reply, id, changed)
    }
  )

  app.delete(
    '/orders/:id/items/:itemId',
    {
      config: { permissions: ['orders:update'], validator, transaction, openapi: { errors: ['ORDER_NOT_PENDING'] } },
      schema: { params: ItemPath, response: { 204: Type.Null() } }
    },
    async (request, reply) => {
      const { id } = await pendingOrder(request)
      const rows = statementsOn(request.transaction)
      const item = await expectedItem(request)
      await returnStock(rows, [item])
      await itemTable.delete(rows, { id: item.id })
      // The last item can be deleted too; the total is then zero.
      await app.webhooks.emit('order.updated', await writeTotal(rows, id))
      return reply.noContent()
    }
  )
}

/** Returns the order, locked. While it is, its items do not change. */
async function pendingOrder(request: FastifyRequest<{ Params: { id: string } }>) {
  const { id } = request.params
  const order = request.authorize('orders:update', await orderTable.lock(statementsOn(request.transaction), { id }))
  if (order.status !== 'pending') throw orderErrors.create('ORDER_NOT_PENDING', { params: { status: order.status } })
  return order
}

function expectedItem({ transaction, params, preconditions }: OfItem) {
  return itemTable.lock(statementsOn(transaction), { id: params.itemId, orderId: params.id }, preconditions)
}

// To a caller who may not see the order, its item does not exist.
async function validator(request: OfItem) {
  const { id, itemId } = request.params
  const rows = statementsOn(request.transaction)
  request.authorize('orders:update', await orderTable.find(rows, { id }))
  return validatorOf(await itemTable.find(rows, { id: itemId, orderId: id }))
}

function linked(reply: Pick<FastifyReply, 'link' | 'entityTag'>, orderId: string, item: Versioned<Item>) {
  reply.entityTag(item.version)
  reply.link('collection', `/orders/${orderId}/items`)
  reply.link('up', `/orders/${orderId}`)
  reply.link('product', `/products/${item.productId}`)
  return item
}
