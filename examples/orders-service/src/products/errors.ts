import { defineErrors } from '@concordat/conventions'

export const productErrors = defineErrors(
  {
    PRODUCT_IN_ORDERS: {
      statusCode: 409,
      message: {
        en: 'The product is used in orders and cannot be deleted. Set `discontinued` to true instead.',
        es: 'El producto se usa en pedidos y no se puede eliminar. En su lugar, asigne true a `discontinued`.'
      },
      remedy: 'Set `discontinued` of the product to true.'
    },
    UNKNOWN_CATEGORY: {
      statusCode: 422,
      message: {
        en: 'The category does not exist. Choose a category from /categories.',
        es: 'La categoría no existe. Elija una de /categories.'
      },
      remedy: 'Send the id of a category from /categories.'
    }
  },
  { unknownCategory: { en: 'is not the id of an existing category', es: 'no corresponde a ninguna categoría' } }
)
