import paginationQuery, { collection } from '@concordat/pagination-query'
import { runSql } from '@concordat/pagination-query/sql'
import type { FastifyInstance } from 'fastify'
import type { Database } from '../database.ts'

const Invoice = {
  type: 'object',
  required: ['id', 'name', 'amount'],
  properties: { id: { type: 'integer' }, name: { type: 'string' }, amount: { type: 'integer' } }
} as const

const invoices = collection(Invoice)({
  name: 'invoices',
  style: 'page',
  id: 'id',
  defaultSort: ['id'],
  sort: { keys: ['id', 'amount'] },
  filter: { amount: ['eq', 'gte', 'lt'] }
})

/** Adds the list of invoices with pages, sorting and filters. The body stays a plain array; the links are in the header `Link`. */
export async function addInvoicePages(context: FastifyInstance, database: Database): Promise<void> {
  await context.register(paginationQuery, { publicUrl: 'https://shop.example' })
  context.get(
    '/invoices',
    { config: { collection: invoices }, schema: { response: { 200: { type: 'array', items: Invoice } } } },
    async (request, reply) => reply.page(await runSql(database, request.listQuery(invoices)))
  )
}
