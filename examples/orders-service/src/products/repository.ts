import { table } from '@concordat/postgres/table'
import { productErrors } from './errors.ts'
import { productCollection } from './schemas.ts'

/** The statements of products. A product that an order names cannot be deleted. */
export const productTable = table(productCollection, {
  violations: {
    products_category_id_fkey: () =>
      productErrors.create('UNKNOWN_CATEGORY', { errors: [{ field: 'body.categoryId', key: 'unknownCategory' }] }),
    order_items_product_id_fkey: () => productErrors.create('PRODUCT_IN_ORDERS')
  }
})
