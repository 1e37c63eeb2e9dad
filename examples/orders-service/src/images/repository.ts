import type { ListQuery, Page } from '@concordat/pagination-query'
import { runSql } from '@concordat/pagination-query/sql'
import type { Statements } from '@concordat/postgres/rows'
import { v7 } from 'uuid'
import type { ImageHeader } from './content.ts'
import type { ProductImage } from './schemas.ts'

const columns = `id, product_id AS "productId", media_type AS "mediaType", width, height,
  octet_length(content) AS "sizeBytes", created_at AS "createdAt"`

export function listImages(database: Statements, productId: string, query: ListQuery<ProductImage>): Promise<Page<ProductImage>> {
  return runSql(database.client, query, {
    columns: { sizeBytes: { sql: 'octet_length(content)' } },
    where: { text: 'product_id = $1', values: [productId] }
  })
}

export async function findImage(database: Statements, productId: string, id: string): Promise<ProductImage | undefined> {
  const [image] = await database.query<ProductImage>(`SELECT ${columns} FROM product_images WHERE product_id = $1 AND id = $2`, [
    productId,
    id
  ])
  return image
}

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
     SELECT $1, id, $3, $4, $5, $6 FROM products WHERE id = $2 FOR KEY SHARE
     RETURNING ${columns}`,
    [v7(), productId, mediaType, width, height, content]
  )
  return image
}

/** Returns whether the image existed. */
export async function deleteImage(database: Statements, productId: string, id: string): Promise<boolean> {
  const deleted = await database.query('DELETE FROM product_images WHERE product_id = $1 AND id = $2 RETURNING id', [productId, id])
  return deleted.length > 0
}
