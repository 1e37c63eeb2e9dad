import { defineErrors } from '@concordat/api-error'

export const productErrors = defineErrors(
  {
    PRODUCT_IN_ORDERS: {
      statusCode: 409,
      message: {
        en: 'The product is used in orders and cannot be deleted. Set discontinued to true instead.',
        es: 'El producto se usa en pedidos y no se puede eliminar. Asigne true a discontinued.'
      },
      remedy: 'Patch the product with discontinued: true.'
    },
    UNKNOWN_CATEGORY: {
      statusCode: 422,
      message: {
        en: 'The category does not exist. Choose a category from /categories.',
        es: 'La categoría no existe. Elija una de /categories.'
      },
      remedy: 'Send the id of a category that /categories lists.'
    }
  },
  { unknownCategory: { en: 'is not the id of a category', es: 'no corresponde a ninguna categoría' } }
)
