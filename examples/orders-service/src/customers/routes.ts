import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Database } from '../database/database.ts'
import { found } from '../found.ts'
import { changeCustomer, createCustomer, findCustomer, listCustomers } from './repository.ts'
import { Customer, CustomerChanges, CustomerPath, customerCollection, NewCustomer } from './schemas.ts'

export const customers: FastifyPluginAsyncTypebox<{ database: Database }> = async (app, { database }) => {
  app.get(
    '/customers',
    { config: { collection: customerCollection }, schema: { response: { 200: Type.Array(Customer) } } },
    async (request, reply) => reply.page(await listCustomers(database, request.listQuery(customerCollection)))
  )

  app.post('/customers', { schema: { body: NewCustomer, response: { 201: Customer } } }, async (request, reply) => {
    const customer = await createCustomer(database, request.body)
    reply.link('collection', '/customers')
    return reply.created(`/customers/${customer.id}`, customer)
  })

  app.get('/customers/:id', { schema: { params: CustomerPath, response: { 200: Customer } } }, async (request, reply) => {
    const customer = found(await findCustomer(database, request.params.id))
    reply.link('collection', '/customers')
    return customer
  })

  app.patch(
    '/customers/:id',
    { schema: { params: CustomerPath, body: CustomerChanges, response: { 200: Customer } } },
    async (request, reply) => {
      const customer = found(await changeCustomer(database, request.params.id, request.body))
      reply.link('collection', '/customers')
      return customer
    }
  )
}
