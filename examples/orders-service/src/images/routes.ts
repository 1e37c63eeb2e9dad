import { chooseMediaType, notAcceptable } from '@concordat/content-negotiation'
import { runSql } from '@concordat/pagination-query/sql'
import { found, statementsOn } from '@concordat/postgres/rows'
import { Type } from '@fastify/type-provider-typebox'
import { IdPath, projection, type Resource, transaction } from '../fields.ts'
import { productTable } from '../products/repository.ts'
import { readImageHeader } from './content.ts'
import { imageErrors } from './errors.ts'
import { columns, createImage, findImageContent, imageTable } from './repository.ts'
import { ImagePath, imageCollection, imageTypes, ProductImage, ProductImageRepresentations } from './schemas.ts'

const maxImageBytes = 1_048_576

export const images: Resource = async (app, { database }) => {
  app.get(
    '/products/:id/images',
    {
      config: { public: true, cache: 'no-cache', collection: imageCollection },
      schema: { params: IdPath, response: { 200: Type.Array(ProductImage) } }
    },
    async (request, reply) => {
      const { id } = found(await productTable.find(database, request.params))
      reply.link('up', `/products/${id}`)
      const where = { text: 'product_id = $1', values: [id] }
      return reply.page(await runSql(database.client, request.listQuery(imageCollection), { columns, where }))
    }
  )

  app.post(
    '/products/:id/images',
    {
      config: {
        permissions: ['products:update'],
        idempotency: 'accepted',
        transaction,
        consumes: imageTypes,
        openapi: { errors: ['INVALID_IMAGE'], headers: { ETag: 'ETag of the image.' } }
      },
      bodyLimit: maxImageBytes,
      schema: { params: IdPath, response: { 201: ProductImage } }
    },
    async (request, reply) => {
      const { id } = request.params
      const rows = statementsOn(request.transaction)
      found(await productTable.find(rows, { id }))
      const header = Buffer.isBuffer(request.body) ? readImageHeader(request.body) : undefined
      if (header === undefined || header.mediaType !== request.mediaType) {
        const params = { mediaType: String(request.mediaType) }
        throw imageErrors.create('INVALID_IMAGE', { errors: [{ field: 'body', key: 'notThisType', params }] })
      }
      const image = found(await createImage(rows, id, header, request.body as Buffer))
      reply.entityTag(image.id)
      reply.link('up', `/products/${id}`)
      return reply.created(`/products/${id}/images/${image.id}`, image)
    }
  )

  app.get(
    '/products/:id/images/:imageId',
    {
      config: {
        public: true,
        cache: 'no-cache',
        projection,
        produces: ['application/json', ...imageTypes]
      },
      schema: { params: ImagePath, response: { 200: ProductImageRepresentations } }
    },
    async (request, reply) => {
      const { id, imageId } = request.params
      const image = found(await imageTable.find(database, { productId: id, id: imageId }))
      reply.entityTag(image.id)
      const available = ['application/json', image.mediaType]
      const mediaType = chooseMediaType(request.headers.accept, available)
      if (mediaType === undefined) throw notAcceptable(available)
      if (mediaType === 'application/json') {
        reply.link('up', `/products/${id}`)
        return image
      }
      reply.type(mediaType)
      reply.header('content-disposition', `inline; filename="${image.id}.${mediaType === 'image/png' ? 'png' : 'jpg'}"`)
      return found(await findImageContent(database, imageId))
    }
  )

  app.delete(
    '/products/:id/images/:imageId',
    {
      config: {
        permissions: ['products:update'],
        // An image never changes, so its id is its version.
        async validator({ params }) {
          const { id, imageId } = params as { id: string; imageId: string }
          const image = await imageTable.find(database, { productId: id, id: imageId })
          return { exists: image !== undefined, etag: image?.id }
        }
      },
      schema: { params: ImagePath, response: { 204: Type.Null() } }
    },
    async ({ params: { id, imageId } }, reply) => {
      await imageTable.delete(database, { productId: id, id: imageId })
      return reply.noContent()
    }
  )
}
