import { runSql } from '@concordat/pagination-query/sql'
import { Type } from '@fastify/type-provider-typebox'
import type { Resource } from '../fields.ts'
import { OrderSummary, summaryCollection } from './schemas.ts'

export const orderSummaries: Resource = async (app, { database }) => {
  app.get(
    '/order-summaries',
    {
      config: { permissions: ['order-summaries:read'], collection: summaryCollection },
      schema: { response: { 200: Type.Array(OrderSummary) } }
    },
    async (request, reply) => reply.page(await runSql(database.client, request.listQuery(summaryCollection)))
  )
}
