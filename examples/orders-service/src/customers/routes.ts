import type { OpenDatabase } from '@concordat/postgres/open'
import { changed, expectedVersions, statementsOn, type Versioned, validatorOf } from '@concordat/postgres/rows'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { mayActFor } from '../access.ts'
import { IdPath, projection, transaction } from '../fields.ts'
import { changeCustomer, createCustomer, findCustomer, listCustomers } from './repository.ts'
import { Customer, CustomerChanges, customerCollection, NewCustomer } from './schemas.ts'

export const customers: FastifyPluginAsyncTypebox<{ database: OpenDatabase }> = async (app, { database }) => {
  app.get(
    '/customers',
    { config: { permissions: ['customers:list'], collection: customerCollection }, schema: { response: { 200: Type.Array(Customer) } } },
    async (request, reply) => reply.page(await listCustomers(database, request.listQuery(customerCollection)))
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
      const customer = await createCustomer(statementsOn(request.transaction), request.body)
      return reply.created(`/customers/${customer.id}`, linked(reply, customer))
    }
  )

  app.get(
    '/customers/:id',
    { config: { permissions: ['customers:read'], projection }, schema: { params: IdPath, response: { 200: Customer } } },
    async (request, reply) => linked(reply, request.authorize('customers:read', await findCustomer(database, request.params.id)))
  )

  app.patch(
    '/customers/:id',
    {
      config: { permissions: ['customers:update'], idempotency: 'off', validator, transaction },
      schema: { params: IdPath, body: CustomerChanges, response: { 200: Customer } }
    },
    async (request, reply) => {
      const { params, body, preconditions } = request
      const customers = statementsOn(request.transaction)
      request.authorize('customers:update', await findCustomer(customers, params.id))
      const customer = await changeCustomer(customers, params.id, body, expectedVersions(preconditions))
      return linked(reply, await changed(customer, preconditions, () => findCustomer(customers, params.id)))
    }
  )
}

// To a caller who may not see it, a customer does not exist.
async function validator(request: FastifyRequest<{ Params: { id: string } }>) {
  const customer = await findCustomer(statementsOn(request.transaction), request.params.id)
  return validatorOf(customer && mayActFor(request.principal, customer.id) ? customer : undefined)
}

function linked(reply: Pick<FastifyReply, 'link' | 'entityTag'>, customer: Versioned<Customer>) {
  reply.entityTag(customer.version)
  reply.link('collection', '/customers')
  return customer
}
