import { defineErrors, defineTexts } from '@concordat/conventions'

/** The errors of imports. */
export const productImportErrors = defineErrors(
  {
    INVALID_PRODUCT_FILE: {
      statusCode: 422,
      message: {
        en: 'The file is not a list of products. Send CSV whose first line has the names of the columns.',
        es: 'El archivo no es una lista de productos. Envíe un CSV cuya primera línea tenga los nombres de las columnas.'
      },
      remedy: 'Send CSV whose first line is `name,categoryId,unitPrice,currency,unitsInStock`.'
    }
  },
  {
    header: { en: 'must begin with a line with the columns {columns}', es: 'debe empezar con una línea con las columnas {columns}' }
  }
)

/** The reasons for which a line is refused. */
export const refusalTexts = defineTexts({
  syntax: {
    en: 'is not valid CSV. Neither this line nor any later one was read',
    es: 'no es CSV válido. No se ha leído ni esta línea ni ninguna posterior'
  },
  fieldCount: { en: 'must have {count} fields', es: 'debe tener {count} campos' },
  name: { en: 'must have 1 to {limit} characters', es: 'debe tener de 1 a {limit} caracteres' },
  repeatedName: { en: 'is the name in line {line} too', es: 'es también el nombre de la línea {line}' },
  ambiguousName: { en: 'is the name of several products', es: 'es el nombre de varios productos' },
  category: { en: 'is not the id of an existing category', es: 'no corresponde a ninguna categoría' },
  price: { en: 'must be a price such as 12.50', es: 'debe ser un precio, por ejemplo 12.50' },
  currency: { en: 'must be a currency code such as EUR', es: 'debe ser un código de moneda, por ejemplo EUR' },
  stock: { en: 'must be an integer from 0 to {limit}', es: 'debe ser un número entero de 0 a {limit}' }
})

/** The key of a reason. */
export type Reason = keyof typeof refusalTexts.texts
