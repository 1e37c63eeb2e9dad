import type { Statements } from '@concordat/postgres/rows'
import { table } from '@concordat/postgres/table'
import { v7 } from 'uuid'
import type { ImageHeader } from './content.ts'
import { imageCollection, type ProductImage } from './schemas.ts'

/** The column of the size, for lists too. */
export const columns = { sizeBytes: { sql: 'octet_length(content)' } }

/** The statements of images, without their bytes. */
export const imageTable = table(imageCollection, { hasVersion: false, columns })

export async function findImageContent(database: Statements, id: string): Promise<Buffer | undefined> {
  const [row] = await database.query<{ content: Uint8Array }>('SELECT content FROM product_images WHERE id = $1', [id])
  return row && Buffer.from(row.content)
}

/** Returns `undefined` when the product does not exist. */
export async function createImage(
  database: Statements,
  productId: string,
  { mediaType, width, height }: ImageHeader,
  content: Buffer
): Promise<ProductImage | undefined> {
  const [image] = await database.query<ProductImage>(
    `INSERT INTO product_images (id, product_id, media_type, width, height, content)
     SELECT $1, id, $3, $4, $5, $6 FROM products WHERE id = $2 FOR KEY SHARE RETURNING ${imageTable.columns}`,
    [v7(), productId, mediaType, width, height, content]
  )
  return image
}
