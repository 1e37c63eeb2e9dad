import type { OpenDatabase } from '@concordat/postgres/open'
import { changed, expectedVersions, found, statementsOn, type Versioned, validatorOf } from '@concordat/postgres/rows'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { customerOf, mayActFor } from '../access.ts'
import { IdPath, projection, transaction } from '../fields.ts'
import { emit } from '../webhooks/events.ts'
import { orderErrors } from './errors.ts'
import { cancelOrder, changeOrder, createOrder, deleteOrder, findOrder, listOrders } from './repository.ts'
import type { OrderRepresentation } from './representations.ts'
import { Cancellation, NewCancellation, NewOrder, type Order, OrderChanges } from './schemas.ts'

interface OrdersOptions {
  readonly database: OpenDatabase
  readonly representation: OrderRepresentation
}

export const orders: FastifyPluginAsyncTypebox<OrdersOptions> = async (app, { database, representation }) => {
  const { collection, schema: Order, show } = representation

  app.get(
    '/orders',
    { config: { permissions: ['orders:read'], collection }, schema: { response: { 200: Type.Array(Order) } } },
    async (request, reply) => {
      const page = await listOrders(database, request.listQuery(collection), customerOf(request.principal))
      return reply.page({ ...page, rows: page.rows.map(show) })
    }
  )

  app.post(
    '/orders',
    {
      config: {
        permissions: ['orders:create'],
        idempotency: 'required',
        transaction,
        openapi: {
          headers: { ETag: 'ETag of the order.' },
          errors: [
            'INSUFFICIENT_STOCK',
            'PRODUCT_DISCONTINUED',
            'FOREIGN_CUSTOMER',
            'CUSTOMER_MISSING',
            'UNKNOWN_CUSTOMER',
            'UNKNOWN_PRODUCT',
            'MIXED_CURRENCIES'
          ]
        }
      },
      schema: { body: NewOrder, response: { 201: Order } }
    },
    async (request, reply) => {
      const order = await createOrder(statementsOn(request.transaction), ordererOf(request, request.body), request.body)
      await emit(app, 'order.created', order)
      return reply.created(`/orders/${order.id}`, show(linked(reply, order)))
    }
  )

  app.get(
    '/orders/:id',
    { config: { permissions: ['orders:read'], projection }, schema: { params: IdPath, response: { 200: Order } } },
    async (request, reply) => show(linked(reply, request.authorize('orders:read', await findOrder(database, request.params.id))))
  )

  app.patch(
    '/orders/:id',
    {
      config: {
        permissions: ['orders:update'],
        idempotency: 'off',
        validator,
        requireIfMatch: true,
        transaction,
        openapi: { errors: ['STATUS_CHANGE_NOT_ALLOWED'] }
      },
      schema: { params: IdPath, body: OrderChanges, response: { 200: Order } }
    },
    async (request, reply) => {
      const { params, body, preconditions } = request
      const orders = statementsOn(request.transaction)
      const order = request.authorize('orders:update', await findOrder(orders, params.id))
      if (body.status !== undefined) request.authorize('orders:advance', order)
      const now = await changeOrder(orders, params.id, body, expectedVersions(preconditions))
      const changedOrder = await changed(now, preconditions, () => findOrder(orders, params.id))
      if (Object.keys(body).length > 0) await emit(app, 'order.updated', changedOrder)
      return show(linked(reply, changedOrder))
    }
  )

  app.delete(
    '/orders/:id',
    {
      config: {
        permissions: ['orders:delete'],
        validator,
        requireIfMatch: true,
        transaction,
        openapi: { errors: ['ORDER_ALREADY_SHIPPED', 'ORDER_ALREADY_CANCELLED'] }
      },
      schema: { params: IdPath, response: { 204: Type.Null() } }
    },
    async (request, reply) => {
      const { params, preconditions } = request
      const orders = statementsOn(request.transaction)
      request.authorize('orders:delete', await findOrder(orders, params.id))
      const id = await deleteOrder(orders, params.id, expectedVersions(preconditions))
      await changed(id, preconditions, () => findOrder(orders, params.id))
      return reply.noContent()
    }
  )

  app.post(
    '/orders/:id/cancellations',
    {
      config: {
        permissions: ['orders:update'],
        idempotency: 'required',
        transaction,
        openapi: { optionalBody: true, errors: ['ORDER_ALREADY_SHIPPED', 'ORDER_ALREADY_CANCELLED'] }
      },
      preValidation: allowNoBody,
      schema: { params: IdPath, body: NewCancellation, response: { 201: Cancellation } }
    },
    async (request, reply) => {
      const { id } = request.params
      const orders = statementsOn(request.transaction)
      request.authorize('orders:update', await findOrder(orders, id))
      const cancellation = found(await cancelOrder(orders, id, request.body))
      await emit(app, 'order.cancelled', found(await findOrder(orders, id)))
      // A cancellation does not have an address of its own. Its effect is visible in the order.
      return reply.created(`/orders/${id}`, cancellation)
    }
  )
}

// Staff must name the customer that they order for. Customers order for themselves.
function ordererOf({ principal }: FastifyRequest, { customerId }: NewOrder) {
  const own = customerOf(principal)
  if (own !== undefined && customerId !== undefined && customerId.toLowerCase() !== own) throw orderErrors.create('FOREIGN_CUSTOMER')
  const orderer = own ?? customerId
  if (orderer === undefined) {
    throw orderErrors.create('CUSTOMER_MISSING', { errors: [{ field: 'body.customerId', key: 'customerMissing' }] })
  }
  return orderer
}

// To a caller who may not see it, an order does not exist.
async function validator(request: FastifyRequest<{ Params: { id: string } }>) {
  const order = await findOrder(statementsOn(request.transaction), request.params.id)
  return validatorOf(order && mayActFor(request.principal, order.customerId) ? order : undefined)
}

// The reason is optional, so the body may be missing.
async function allowNoBody(request: { body: unknown }) {
  if (request.body === undefined) request.body = {}
}

function linked(reply: Pick<FastifyReply, 'link' | 'entityTag'>, order: Versioned<Order>) {
  reply.entityTag(order.version)
  reply.link('collection', '/orders')
  reply.link('customer', `/customers/${order.customerId}`)
  reply.link('items', `/orders/${order.id}/items`)
  if (order.status === 'pending' || order.status === 'paid') reply.link('cancel', `/orders/${order.id}/cancellations`, 'POST')
  return order
}
