import type { OpenDatabase } from '@concordat/postgres/open'
import { changed, expectedVersions, found, statementsOn, type Versioned, validatorOf } from '@concordat/postgres/rows'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { IdPath, projection, transaction } from '../fields.ts'
import { emit } from '../webhooks/events.ts'
import { changeProduct, createProduct, deleteProduct, findProduct, listProducts, putProduct, replaceProduct } from './repository.ts'
import { NewProduct, Product, ProductChanges, productCollection, productDefaults, WholeProduct } from './schemas.ts'

export const products: FastifyPluginAsyncTypebox<{ database: OpenDatabase }> = async (app, { database }) => {
  app.get(
    '/products',
    { config: { public: true, cache: 'no-cache', collection: productCollection }, schema: { response: { 200: Type.Array(Product) } } },
    async (request, reply) => reply.page(await listProducts(database, request.listQuery(productCollection)))
  )

  app.post(
    '/products',
    {
      config: {
        permissions: ['products:create'],
        idempotency: 'accepted',
        transaction,
        openapi: { errors: ['UNKNOWN_CATEGORY'], headers: { ETag: 'ETag of the product.' } }
      },
      schema: { body: NewProduct, response: { 201: Product } }
    },
    async (request, reply) => {
      const product = await createProduct(statementsOn(request.transaction), { ...productDefaults, ...request.body })
      return reply.created(`/products/${product.id}`, linked(reply, product))
    }
  )

  app.get(
    '/products/:id',
    {
      config: {
        public: true,
        cache: 'no-cache',
        projection,
        openapi: { headers: { 'Last-Modified': 'The date of the product.' } }
      },
      schema: { params: IdPath, response: { 200: Product } }
    },
    async (request, reply) => {
      const product = found(await findProduct(database, request.params.id))
      reply.header('last-modified', new Date(product.updatedAt).toUTCString())
      return linked(reply, product)
    }
  )

  app.put(
    '/products/:id',
    {
      config: { permissions: ['products:create', 'products:update'], validator, transaction, openapi: { errors: ['UNKNOWN_CATEGORY'] } },
      schema: { params: IdPath, body: WholeProduct, response: { 200: Product, 201: Product } }
    },
    async (request, reply) => {
      const { params, body, preconditions } = request
      const products = statementsOn(request.transaction)
      const put: (Versioned<Product> & { readonly created?: boolean }) | undefined =
        preconditions.versions() === null || preconditions.createOnly
          ? await putProduct(products, params.id, body, preconditions)
          : await replaceProduct(products, params.id, body, expectedVersions(preconditions))
      const { created, ...product } = await changed(put, preconditions, () => findProduct(products, params.id))
      linked(reply, product)
      if (created) return reply.created(`/products/${product.id}`, product)
      await emit(app, 'product.updated', product)
      return product
    }
  )

  app.patch(
    '/products/:id',
    {
      config: { permissions: ['products:update'], idempotency: 'off', validator, transaction, openapi: { errors: ['UNKNOWN_CATEGORY'] } },
      schema: { params: IdPath, body: ProductChanges, response: { 200: Product } }
    },
    async (request, reply) => {
      const { params, body, preconditions } = request
      const products = statementsOn(request.transaction)
      const changedRow = await changeProduct(products, params.id, body, expectedVersions(preconditions))
      const product = await changed(changedRow, preconditions, () => findProduct(products, params.id))
      if (Object.keys(body).length > 0) await emit(app, 'product.updated', product)
      return linked(reply, product)
    }
  )

  app.delete(
    '/products/:id',
    {
      config: { permissions: ['products:delete'], validator, transaction, openapi: { errors: ['PRODUCT_IN_ORDERS'] } },
      schema: { params: IdPath, response: { 204: Type.Null() } }
    },
    async (request, reply) => {
      const { params, preconditions } = request
      const products = statementsOn(request.transaction)
      const id = await deleteProduct(products, params.id, expectedVersions(preconditions))
      await changed(id, preconditions, () => findProduct(products, params.id))
      return reply.noContent()
    }
  )
}

async function validator(request: FastifyRequest<{ Params: { id: string } }>) {
  const product = await findProduct(statementsOn(request.transaction), request.params.id)
  return { ...validatorOf(product), ...(product && { lastModified: new Date(product.updatedAt) }) }
}

function linked(reply: Pick<FastifyReply, 'link' | 'entityTag'>, product: Versioned<Product>) {
  reply.entityTag(product.version)
  reply.link('collection', '/products')
  reply.link('category', `/categories/${product.categoryId}`)
  reply.link('images', `/products/${product.id}/images`)
  return product
}
