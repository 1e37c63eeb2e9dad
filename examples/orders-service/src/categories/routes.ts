import type { OpenDatabase } from '@concordat/postgres/open'
import { found } from '@concordat/postgres/rows'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { IdPath, projection } from '../fields.ts'
import { findCategory, listCategories } from './repository.ts'
import { Category, categoryCollection } from './schemas.ts'

export const categories: FastifyPluginAsyncTypebox<{ database: OpenDatabase }> = async (app, { database }) => {
  app.get(
    '/categories',
    { config: { public: true, cache: 'public', collection: categoryCollection }, schema: { response: { 200: Type.Array(Category) } } },
    async (request, reply) => reply.page(await listCategories(database, request.listQuery(categoryCollection)))
  )

  app.get(
    '/categories/:id',
    { config: { public: true, cache: 'public', projection }, schema: { params: IdPath, response: { 200: Category } } },
    async (request, reply) => {
      const category = found(await findCategory(database, request.params.id))
      reply.link('collection', '/categories')
      return category
    }
  )
}
