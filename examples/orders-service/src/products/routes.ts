import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Database } from '../database/database.ts'
import { changed, expectedBy, type Versioned, validatorOf } from '../database/row-version.ts'
import { found } from '../found.ts'
import { changeProduct, createProduct, deleteProduct, findProduct, listProducts, putProduct, replaceProduct } from './repository.ts'
import { NewProduct, Product, ProductChanges, ProductPath, productCollection, productDefaults, WholeProduct } from './schemas.ts'

export const products: FastifyPluginAsyncTypebox<{ database: Database }> = async (app, { database }) => {
  app.get(
    '/products',
    { config: { public: true, cache: 'no-cache', collection: productCollection }, schema: { response: { 200: Type.Array(Product) } } },
    async (request, reply) => reply.page(await listProducts(database, request.listQuery(productCollection)))
  )

  app.post(
    '/products',
    {
      config: { permissions: ['products:create'], openapi: { errors: ['UNKNOWN_CATEGORY'], headers: { ETag: 'The tag of the product.' } } },
      schema: { body: NewProduct, response: { 201: Product } }
    },
    async (request, reply) => {
      const product = await createProduct(database, { ...productDefaults, ...request.body })
      return reply.created(`/products/${product.id}`, linked(reply, product))
    }
  )

  app.get(
    '/products/:id',
    { config: { public: true, cache: 'no-cache' }, schema: { params: ProductPath, response: { 200: Product } } },
    async (request, reply) => linked(reply, found(await findProduct(database, request.params.id)))
  )

  app.put(
    '/products/:id',
    {
      config: { permissions: ['products:create', 'products:update'], validator, openapi: { errors: ['UNKNOWN_CATEGORY'] } },
      schema: { params: ProductPath, body: WholeProduct, response: { 200: Product, 201: Product } }
    },
    async (request, reply) => {
      const { params, body, preconditions } = request
      const put =
        preconditions.versions() === null || preconditions.createOnly
          ? await putProduct(database, params.id, body, preconditions)
          : await replaceProduct(database, params.id, body, expectedBy(preconditions))
      const product = linked(reply, await changed(put, preconditions, () => findProduct(database, params.id)))
      return product.version === 1 ? reply.created(`/products/${product.id}`, product) : product
    }
  )

  app.patch(
    '/products/:id',
    {
      config: { permissions: ['products:update'], validator, openapi: { errors: ['UNKNOWN_CATEGORY'] } },
      schema: { params: ProductPath, body: ProductChanges, response: { 200: Product } }
    },
    async ({ params, body, preconditions }, reply) => {
      const product = await changeProduct(database, params.id, body, expectedBy(preconditions))
      return linked(reply, await changed(product, preconditions, () => findProduct(database, params.id)))
    }
  )

  app.delete(
    '/products/:id',
    {
      config: { permissions: ['products:delete'], validator, openapi: { errors: ['PRODUCT_IN_ORDERS'] } },
      schema: { params: ProductPath, response: { 204: Type.Null() } }
    },
    async ({ params, preconditions }, reply) => {
      const id = await deleteProduct(database, params.id, expectedBy(preconditions))
      await changed(id, preconditions, () => findProduct(database, params.id))
      return reply.noContent()
    }
  )

  async function validator({ params }: FastifyRequest<{ Params: { id: string } }>) {
    return validatorOf(await findProduct(database, params.id))
  }
}

function linked(reply: Pick<FastifyReply, 'link' | 'entityTag'>, product: Versioned<Product>) {
  reply.entityTag(product.version)
  reply.link('collection', '/products')
  reply.link('category', `/categories/${product.categoryId}`)
  reply.link('images', `/products/${product.id}/images`)
  return product
}
