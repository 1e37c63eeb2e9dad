import { collection } from '@concordat/pagination-query'
import { type Static, Type } from '@sinclair/typebox'
import { Id, Timestamp } from '../fields.ts'

export const imageTypes = ['image/png', 'image/jpeg'] as const

/** The metadata of an image. Its bytes are another representation of the same resource. */
export const ProductImage = Type.Object({
  id: Id,
  productId: Id,
  mediaType: Type.Union(imageTypes.map((type) => Type.Literal(type))),
  width: Type.Integer({ examples: [800] }),
  height: Type.Integer({ examples: [600] }),
  sizeBytes: Type.Integer({ examples: [48_213] }),
  createdAt: Timestamp
})
export type ProductImage = Static<typeof ProductImage>

export const imageCollection = collection(ProductImage)({
  name: 'product-images',
  style: 'page',
  id: 'id',
  defaultSort: ['createdAt'],
  sort: { keys: ['createdAt'] }
})

const Bytes = Type.Unsafe<Buffer>({ type: 'string', format: 'binary' })

/** The representations of an image: JSON, or the bytes with their own media type. */
export const ProductImageRepresentations = {
  description: 'The metadata of the image, or the image itself',
  headers: {
    'Content-Disposition': Type.String({
      description: 'The name of the image as a file.',
      pattern: '^inline; filename="[\\w.-]{1,64}"$'
    })
  },
  content: {
    'application/json': { schema: ProductImage },
    'image/png': { schema: Bytes },
    'image/jpeg': { schema: Bytes }
  }
}

export const ImagePath = Type.Object({ id: Id, imageId: Id })
