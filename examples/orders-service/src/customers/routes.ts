import { runSql } from '@concordat/pagination-query/sql'
import { statementsOn, type Versioned, validatorOf } from '@concordat/postgres/rows'
import { table } from '@concordat/postgres/table'
import { Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { v7 } from 'uuid'
import { IdPath, projection, type Resource, transaction } from '../fields.ts'
import { Customer, CustomerChanges, customerCollection, NewCustomer } from './schemas.ts'

const customerTable = table(customerCollection)

export const customers: Resource = async (app, { database }) => {
  app.get(
    '/customers',
    { config: { permissions: ['customers:list'], collection: customerCollection }, schema: { response: { 200: Type.Array(Customer) } } },
    async (request, reply) => reply.page(await runSql(database.client, request.listQuery(customerCollection)))
  )

  app.post(
    '/customers',
    {
      config: {
        permissions: ['customers:create'],
        idempotency: 'accepted',
        transaction,
        openapi: { headers: { ETag: 'ETag of the customer.' } }
      },
      schema: { body: NewCustomer, response: { 201: Customer } }
    },
    async (request, reply) => {
      const customer = await customerTable.insert(statementsOn(request.transaction), { id: v7(), ...request.body })
      return reply.created(`/customers/${customer.id}`, linked(reply, customer))
    }
  )

  app.get(
    '/customers/:id',
    { config: { permissions: ['customers:read'], projection }, schema: { params: IdPath, response: { 200: Customer } } },
    async (request, reply) => linked(reply, request.authorize('customers:read', await customerTable.find(database, request.params)))
  )

  app.patch(
    '/customers/:id',
    {
      config: { permissions: ['customers:update'], idempotency: 'accepted', validator, transaction },
      schema: { params: IdPath, body: CustomerChanges, response: { 200: Customer } }
    },
    async (request, reply) => {
      await authorized(request)
      const { params, body, preconditions } = request
      return linked(reply, await customerTable.update(statementsOn(request.transaction), params, body, preconditions))
    }
  )
}

// To a caller who may not change it, a customer does not exist.
async function authorized(request: FastifyRequest<{ Params: { id: string } }>) {
  return request.authorize('customers:update', await customerTable.find(statementsOn(request.transaction), request.params))
}

async function validator(request: FastifyRequest<{ Params: { id: string } }>) {
  return validatorOf(await authorized(request))
}

function linked(reply: Pick<FastifyReply, 'link' | 'entityTag'>, customer: Versioned<Customer>) {
  reply.entityTag(customer.version)
  reply.link('collection', '/customers')
  return customer
}
