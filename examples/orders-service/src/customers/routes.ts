import type { OpenDatabase } from '@concordat/postgres/open'
import { found } from '@concordat/postgres/rows'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { IdPath } from '../fields.ts'
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
      config: { permissions: ['customers:create'], openapi: { errors: ['EMAIL_IN_USE'] } },
      schema: { body: NewCustomer, response: { 201: Customer } }
    },
    async (request, reply) => {
      const customer = await createCustomer(database, request.body)
      reply.link('collection', '/customers')
      return reply.created(`/customers/${customer.id}`, customer)
    }
  )

  app.get(
    '/customers/:id',
    { config: { permissions: ['customers:read'] }, schema: { params: IdPath, response: { 200: Customer } } },
    async (request, reply) => {
      const customer = request.authorize('customers:read', await findCustomer(database, request.params.id))
      reply.link('collection', '/customers')
      return customer
    }
  )

  app.patch(
    '/customers/:id',
    {
      config: { permissions: ['customers:update'], openapi: { errors: ['EMAIL_IN_USE'] } },
      schema: { params: IdPath, body: CustomerChanges, response: { 200: Customer } }
    },
    async (request, reply) => {
      const { id } = request.params
      request.authorize('customers:update', await findCustomer(database, id))
      const customer = found(await changeCustomer(database, id, request.body))
      reply.link('collection', '/customers')
      return customer
    }
  )
}
