import { runSql } from '@concordat/pagination-query/sql'
import { found } from '@concordat/postgres/rows'
import { table } from '@concordat/postgres/table'
import { Type } from '@fastify/type-provider-typebox'
import { IdPath, projection, type Resource } from '../fields.ts'
import { Category, categoryCollection } from './schemas.ts'

const categoryTable = table(categoryCollection, { hasVersion: false })

export const categories: Resource = async (app, { database }) => {
  app.get(
    '/categories',
    { config: { public: true, cache: 'public', collection: categoryCollection }, schema: { response: { 200: Type.Array(Category) } } },
    async (request, reply) => reply.page(await runSql(database.client, request.listQuery(categoryCollection)))
  )

  app.get(
    '/categories/:id',
    { config: { public: true, cache: 'public', projection }, schema: { params: IdPath, response: { 200: Category } } },
    async ({ params }, reply) => {
      reply.link('collection', '/categories')
      return found(await categoryTable.find(database, params))
    }
  )
}
