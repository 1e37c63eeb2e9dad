import { chooseMediaType, notAcceptable } from '@concordat/content-negotiation'
import type { OpenDatabase } from '@concordat/postgres/open'
import { found, statementsOn } from '@concordat/postgres/rows'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { IdPath, projection, transaction } from '../fields.ts'
import { findProduct } from '../products/repository.ts'
import { readImageHeader } from './content.ts'
import { imageErrors } from './errors.ts'
import { createImage, deleteImage, findImage, findImageContent, listImages } from './repository.ts'
import { ImagePath, imageCollection, imageTypes, ProductImage, ProductImageRepresentations } from './schemas.ts'

const maxImageBytes = 1_048_576

export const images: FastifyPluginAsyncTypebox<{ database: OpenDatabase }> = async (app, { database }) => {
  app.get(
    '/products/:id/images',
    {
      config: { public: true, cache: 'no-cache', collection: imageCollection },
      schema: { params: IdPath, response: { 200: Type.Array(ProductImage) } }
    },
    async (request, reply) => {
      const { id } = request.params
      found(await findProduct(database, id))
      reply.link('up', `/products/${id}`)
      return reply.page(await listImages(database, id, request.listQuery(imageCollection)))
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
      const images = statementsOn(request.transaction)
      found(await findProduct(images, id))
      const header = Buffer.isBuffer(request.body) ? readImageHeader(request.body) : undefined
      if (header === undefined || header.mediaType !== request.mediaType) {
        const params = { mediaType: String(request.mediaType) }
        throw imageErrors.create('INVALID_IMAGE', { errors: [{ field: 'body', key: 'notThisType', params }] })
      }
      const image = found(await createImage(images, id, header, request.body as Buffer))
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
        produces: ['application/json', ...imageTypes],
        openapi: { headers: { 'Content-Disposition': 'The name of the image as a file.' } }
      },
      schema: { params: ImagePath, response: { 200: ProductImageRepresentations } }
    },
    async (request, reply) => {
      const { id, imageId } = request.params
      const image = found(await findImage(database, id, imageId))
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
    { config: { permissions: ['products:update'], validator }, schema: { params: ImagePath, response: { 204: Type.Null() } } },
    async (request, reply) => {
      found((await deleteImage(database, request.params.id, request.params.imageId)) || undefined)
      return reply.noContent()
    }
  )

  // An image never changes, so its id is its version.
  async function validator({ params }: FastifyRequest<{ Params: { id: string; imageId: string } }>) {
    const image = await findImage(database, params.id, params.imageId)
    return image === undefined ? { exists: false } : { exists: true, etag: image.id }
  }
}
