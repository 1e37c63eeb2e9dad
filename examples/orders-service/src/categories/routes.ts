import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Database } from '../database/database.ts'
import { found } from '../found.ts'
import { findCategory, listCategories } from './repository.ts'
import { Category, CategoryPath } from './schemas.ts'

export const categories: FastifyPluginAsyncTypebox<{ database: Database }> = async (app, { database }) => {
  app.get('/categories', { schema: { response: { 200: Type.Array(Category) } } }, () => listCategories(database))

  app.get('/categories/:id', { schema: { params: CategoryPath, response: { 200: Category } } }, async (request, reply) => {
    const category = found(await findCategory(database, request.params.id))
    reply.link('collection', '/categories')
    return category
  })
}
