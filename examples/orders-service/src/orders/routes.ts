import { statementsOn, type Versioned, validatorOf } from '@concordat/postgres/rows'
import { table } from '@concordat/postgres/table'
import { Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { customerOf } from '../access.ts'
import { IdPath, type Resource, transaction } from '../fields.ts'
import { orderErrors } from './errors.ts'
import { createOrder, listOrders, orderTable, releaseStock } from './repository.ts'
import type { OrderRepresentation } from './representations.ts'
import { Cancellation, NewCancellation, NewOrder, type Order, OrderChanges, type OrderStatus } from './schemas.ts'

type OfOrder = FastifyRequest<{ Params: { id: string } }>

const nextStatus: Readonly<Partial<Record<OrderStatus, OrderStatus>>> = { pending: 'paid', paid: 'shipped' }
const cancellationFields = new Set(Object.keys(Cancellation.properties))
const cancellationTable = table<Cancellation>({ name: 'order-cancellations', fields: cancellationFields }, { hasVersion: false })

export const orders: Resource<{ representation: OrderRepresentation }> = async (app, { database, representation }) => {
  const { collection, projection, schema: Order, show } = representation

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
      await app.webhooks.emit('order.created', order)
      return reply.created(`/orders/${order.id}`, show(linked(reply, order)))
    }
  )

  app.get(
    '/orders/:id',
    { config: { permissions: ['orders:read'], projection }, schema: { params: IdPath, response: { 200: Order } } },
    async (request, reply) => {
      const order = request.authorize('orders:read', await orderTable.find(database, request.params))
      return show(linked(reply, await request.withIncluded(database.client, order)))
    }
  )

  app.patch(
    '/orders/:id',
    {
      config: {
        permissions: ['orders:update'],
        idempotency: 'accepted',
        validator,
        requireIfMatch: true,
        transaction,
        openapi: { errors: ['STATUS_CHANGE_NOT_ALLOWED'] }
      },
      schema: { params: IdPath, body: OrderChanges, response: { 200: Order } }
    },
    async (request, reply) => {
      const { params, body, preconditions } = request
      const rows = statementsOn(request.transaction)
      const order = request.authorize('orders:update', await orderTable.lock(rows, params, preconditions))
      const { status } = body
      if (status !== undefined) {
        request.authorize('orders:advance', order)
        if (nextStatus[order.status] !== status)
          throw orderErrors.create('STATUS_CHANGE_NOT_ALLOWED', { params: { from: order.status, to: status } })
      }
      const shipping = status === 'shipped' && { shippedAt: new Date().toISOString() }
      const changed = await orderTable.update(rows, params, { ...body, ...shipping })
      if (Object.keys(body).length > 0) await app.webhooks.emit('order.updated', changed)
      return show(linked(reply, changed))
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
      const rows = statementsOn(request.transaction)
      const order = request.authorize('orders:delete', await orderTable.lock(rows, params, preconditions))
      await releaseStock(rows, order)
      await orderTable.delete(rows, params)
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
      const rows = statementsOn(request.transaction)
      const order = request.authorize('orders:update', await orderTable.lock(rows, request.params))
      await releaseStock(rows, order)
      const cancellation = await cancellationTable.insert(rows, { orderId: order.id, ...request.body })
      await app.webhooks.emit('order.cancelled', await orderTable.update(rows, request.params, { status: 'cancelled' }))
      // A cancellation does not have an address of its own. Its effect is visible in the order.
      return reply.created(`/orders/${order.id}`, cancellation)
    }
  )
}

// Staff must name the customer that they order for. Customers order for themselves.
function ordererOf({ principal }: FastifyRequest, { customerId }: NewOrder) {
  const own = customerOf(principal)
  if (own !== undefined && customerId !== undefined && customerId.toLowerCase() !== own) throw orderErrors.create('FOREIGN_CUSTOMER')
  const orderer = own ?? customerId
  if (orderer === undefined) {
    throw orderErrors.create('CUSTOMER_MISSING', { errors: [{ field: 'body.customerId', pointer: '/customerId', key: 'customerMissing' }] })
  }
  return orderer
}

// To a caller who may not see it, an order does not exist.
async function validator(request: OfOrder) {
  const order = await orderTable.find(statementsOn(request.transaction), request.params)
  return validatorOf(request.authorize('orders:read', order))
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
