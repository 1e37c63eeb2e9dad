import { runSql } from '@concordat/pagination-query/sql'
import { found, statementsOn, type Versioned, validatorOf } from '@concordat/postgres/rows'
import { Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { v7 } from 'uuid'
import { IdPath, projection, type Resource, transaction } from '../fields.ts'
import { productTable } from './repository.ts'
import { NewProduct, Product, ProductChanges, productCollection, productDefaults, productsWithCategory, WholeProduct } from './schemas.ts'

export const products: Resource<{ version: number }> = async (app, { database, version }) => {
  const collection = version > 1 ? productsWithCategory : productCollection
  const projected = version > 1 ? { ...projection, relationsOf: collection } : projection

  app.get(
    '/products',
    { config: { public: true, cache: 'no-cache', collection }, schema: { response: { 200: Type.Array(Product) } } },
    async (request, reply) => reply.page(await runSql(database.client, request.listQuery(collection)))
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
      const values = { id: v7(), ...productDefaults, ...request.body }
      const product = await productTable.insert(statementsOn(request.transaction), values)
      return reply.created(`/products/${product.id}`, linked(reply, product))
    }
  )

  app.get(
    '/products/:id',
    {
      config: {
        public: true,
        cache: 'no-cache',
        projection: projected,
        openapi: { headers: { 'Last-Modified': 'The date of the product.' } }
      },
      schema: { params: IdPath, response: { 200: Product } }
    },
    async (request, reply) => {
      const product = found(await productTable.find(database, request.params))
      reply.header('last-modified', new Date(product.updatedAt).toUTCString())
      return linked(reply, await request.withIncluded(database.client, product))
    }
  )

  app.put(
    '/products/:id',
    {
      config: {
        permissions: ['products:create', 'products:update'],
        idempotency: 'accepted',
        validator,
        transaction,
        openapi: { errors: ['UNKNOWN_CATEGORY'] }
      },
      schema: { params: IdPath, body: WholeProduct, response: { 200: Product, 201: Product } }
    },
    async (request, reply) => {
      const { params, preconditions } = request
      // A product is put as it was read, with the fields that only the service sets.
      const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...whole } = request.body
      const values = { description: null, ...whole }
      const { row, isCreated } = await productTable.put(statementsOn(request.transaction), params, values, preconditions)
      linked(reply, row)
      if (isCreated) return reply.created(`/products/${row.id}`, row)
      await app.webhooks.emit('product.updated', row)
      return row
    }
  )

  app.patch(
    '/products/:id',
    {
      config: {
        permissions: ['products:update'],
        idempotency: 'accepted',
        validator,
        transaction,
        openapi: { errors: ['UNKNOWN_CATEGORY'] }
      },
      schema: { params: IdPath, body: ProductChanges, response: { 200: Product } }
    },
    async (request, reply) => {
      const { params, body, preconditions } = request
      const product = await productTable.update(statementsOn(request.transaction), params, body, preconditions)
      if (Object.keys(body).length > 0) await app.webhooks.emit('product.updated', product)
      return linked(reply, product)
    }
  )

  app.delete(
    '/products/:id',
    {
      config: {
        permissions: ['products:delete'],
        idempotency: 'accepted',
        validator,
        transaction,
        openapi: { errors: ['PRODUCT_IN_ORDERS'] }
      },
      schema: { params: IdPath, response: { 204: Type.Null() } }
    },
    async ({ transaction, params, preconditions }, reply) => {
      await productTable.delete(statementsOn(transaction), params, preconditions)
      return reply.noContent()
    }
  )
}

async function validator(request: FastifyRequest<{ Params: { id: string } }>) {
  const product = await productTable.find(statementsOn(request.transaction), request.params)
  return { ...validatorOf(product), ...(product && { lastModified: new Date(product.updatedAt) }) }
}

function linked(reply: Pick<FastifyReply, 'link' | 'entityTag'>, product: Versioned<Product>) {
  reply.entityTag(product.version)
  reply.link('collection', '/products')
  reply.link('category', `/categories/${product.categoryId}`)
  reply.link('images', `/products/${product.id}/images`)
  return product
}
