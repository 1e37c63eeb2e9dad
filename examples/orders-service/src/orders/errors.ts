import { defineErrors } from '@concordat/conventions'

export const orderErrors = defineErrors(
  {
    INSUFFICIENT_STOCK: {
      statusCode: 409,
      message: {
        en: 'Only {available} of {product} are in stock. Order fewer.',
        es: 'Solo quedan {available} de {product}. Pida menos.'
      },
      remedy: 'Fetch the product again, and order at most its `unitsInStock`.'
    },
    PRODUCT_DISCONTINUED: {
      statusCode: 409,
      message: {
        en: '{product} is discontinued and cannot be ordered. Choose another product.',
        es: '{product} está descatalogado y no se puede pedir. Elija otro producto.'
      },
      remedy: 'Order a product whose `discontinued` is false.'
    },
    ORDER_NOT_PENDING: {
      statusCode: 409,
      message: {
        en: 'The order is {status}, and its items can be changed only while it is `pending`. Place a new order.',
        es: 'El pedido está en estado {status}; sus artículos solo pueden cambiar mientras esté en `pending`. Haga otro pedido.'
      },
      remedy: 'Change items before the order is paid, or place a new order.'
    },
    STATUS_CHANGE_NOT_ALLOWED: {
      statusCode: 409,
      message: {
        en: 'The status of an order cannot change from {from} to {to}. It changes from `pending` to `paid` to `shipped`.',
        es: 'El estado de un pedido no puede pasar de {from} a {to}. Pasa de `pending` a `paid` y después a `shipped`.'
      },
      remedy: 'Fetch the order and set the next status. To cancel it, POST to its cancellations.'
    },
    ORDER_ALREADY_SHIPPED: {
      statusCode: 409,
      message: {
        en: 'The order has been shipped and can no longer be cancelled or deleted.',
        es: 'El pedido ya se ha enviado y no se puede cancelar ni eliminar.'
      },
      remedy: 'Arrange a return instead.'
    },
    ORDER_ALREADY_CANCELLED: {
      statusCode: 409,
      message: { en: 'The order is already cancelled.', es: 'El pedido ya está cancelado.' },
      remedy: 'No action is needed.'
    },
    FOREIGN_CUSTOMER: {
      statusCode: 403,
      message: {
        en: 'You can place orders only for yourself. Omit `customerId`.',
        es: 'Solo puede hacer pedidos para usted mismo. Omita `customerId`.'
      },
      remedy: 'Omit `customerId`, or send your own.'
    },
    CUSTOMER_MISSING: {
      statusCode: 422,
      message: {
        en: '`customerId` is required. Send the id of the customer.',
        es: '`customerId` es obligatorio. Envíe el id del cliente.'
      },
      remedy: 'Send the id of the customer. Only customers can omit it.'
    },
    UNKNOWN_CUSTOMER: {
      statusCode: 422,
      message: {
        en: 'The customer does not exist. Choose a customer from /customers.',
        es: 'El cliente no existe. Elija uno de /customers.'
      },
      remedy: 'Send the id of a customer that exists.'
    },
    UNKNOWN_PRODUCT: {
      statusCode: 422,
      message: {
        en: 'The order contains products that do not exist. Choose products from /products.',
        es: 'El pedido contiene productos que no existen. Elija productos de /products.'
      },
      remedy: 'Send the ids of products that exist.'
    },
    MIXED_CURRENCIES: {
      statusCode: 422,
      message: {
        en: 'All products of an order must have the same currency. Place one order per currency.',
        es: 'Todos los productos de un pedido deben tener la misma moneda. Haga un pedido por moneda.'
      },
      remedy: 'Split the order by currency.'
    }
  },
  {
    customerMissing: { en: 'is required for staff', es: 'es obligatorio para el personal' },
    unknownCustomer: { en: 'is not the id of an existing customer', es: 'no corresponde a ningún cliente' },
    unknownProduct: { en: 'is not the id of an existing product', es: 'no corresponde a ningún producto' },
    otherCurrency: { en: 'is priced in {currency}, not in {expected}', es: 'tiene el precio en {currency}, no en {expected}' }
  }
)
