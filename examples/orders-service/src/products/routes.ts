import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import type { Database } from '../database/database.ts'
import { found } from '../found.ts'
import { changeProduct, createProduct, deleteProduct, findProduct, listProducts, putProduct } from './repository.ts'
import { NewProduct, Product, ProductChanges, ProductPath, productCollection, productDefaults, WholeProduct } from './schemas.ts'

export const products: FastifyPluginAsyncTypebox<{ database: Database }> = async (app, { database }) => {
  app.get(
    '/products',
    { config: { public: true, collection: productCollection }, schema: { response: { 200: Type.Array(Product) } } },
    async (request, reply) => reply.page(await listProducts(database, request.listQuery(productCollection)))
  )

  app.post(
    '/products',
    { config: { permissions: ['products:create'] }, schema: { body: NewProduct, response: { 201: Product } } },
    async (request, reply) => {
      const product = await createProduct(database, { ...productDefaults, ...request.body })
      return reply.created(`/products/${product.id}`, linked(reply, product))
    }
  )

  app.get(
    '/products/:id',
    { config: { public: true }, schema: { params: ProductPath, response: { 200: Product } } },
    async (request, reply) => linked(reply, found(await findProduct(database, request.params.id)))
  )

  app.put(
    '/products/:id',
    {
      config: { permissions: ['products:create', 'products:update'] },
      schema: { params: ProductPath, body: WholeProduct, response: { 200: Product, 201: Product } }
    },
    async (request, reply) => {
      const { product, created } = await putProduct(database, request.params.id, request.body)
      linked(reply, product)
      return created ? reply.created(`/products/${product.id}`, product) : product
    }
  )

  app.patch(
    '/products/:id',
    { config: { permissions: ['products:update'] }, schema: { params: ProductPath, body: ProductChanges, response: { 200: Product } } },
    async (request, reply) => linked(reply, found(await changeProduct(database, request.params.id, request.body)))
  )

  app.delete(
    '/products/:id',
    { config: { permissions: ['products:delete'] }, schema: { params: ProductPath, response: { 204: Type.Null() } } },
    async (request, reply) => {
      found((await deleteProduct(database, request.params.id)) || undefined)
      return reply.noContent()
    }
  )
}

function linked(reply: Pick<FastifyReply, 'link'>, product: Product) {
  reply.link('collection', '/products')
  reply.link('category', `/categories/${product.categoryId}`)
  reply.link('images', `/products/${product.id}/images`)
  return product
}
