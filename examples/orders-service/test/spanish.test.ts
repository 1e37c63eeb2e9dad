import t from 'tap'
import { imageErrors } from '../src/images/errors.ts'
import { orderErrors } from '../src/orders/errors.ts'
import { productImportErrors } from '../src/product-imports/errors.ts'
import { productErrors } from '../src/products/errors.ts'
import { startService } from './service.ts'

const unknown = '0197a3c5-1b07-7d52-8f7e-2c64e1a9b3f0'

t.test('each error of the service is in Spanish, with Content-Language, for a client that prefers Spanish [G1] [N6]', async (t) => {
  const { call, as } = await startService(t)
  const ada = await as('ada@example.com')
  const [{ id: categoryId }] = (await call('GET', '/v1/categories')).body.data
  const [customer] = (await call('GET', '/v1/customers')).body.data
  const newProduct = async (more: object = {}) =>
    (await call('POST', '/v1/products', { name: 'Pan', categoryId, unitPrice: '1', unitsInStock: 9, ...more })).body.data.id as string
  const order = (...ids: readonly string[]) => ({ customerId: customer.id, items: ids.map((productId) => ({ productId, quantity: 3 })) })
  const newOrder = async (id: string) => `/v1/orders/${(await call('POST', '/v1/orders', order(id))).body.data.id}`

  const [pan, dollars, old] = [await newProduct(), await newProduct({ currency: 'USD' }), await newProduct({ discontinued: true })]
  const [shipped, cancelled] = [await newOrder(pan), await newOrder(pan)]
  for (const status of ['paid', 'shipped']) await call('PATCH', shipped, { status })
  await call('POST', `${cancelled}/cancellations`)

  const cases: [code: string, message: string, method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object, field?: string][] = [
    ['INVALID_IMAGE', 'El cuerpo no es una imagen', 'POST', `/v1/products/${pan}/images`, Buffer.from('x'), 'no es un image/png válido'],
    ['PRODUCT_IN_ORDERS', 'El producto se usa en pedidos', 'DELETE', `/v1/products/${pan}`],
    [
      'UNKNOWN_CATEGORY',
      'La categoría no existe',
      'PATCH',
      `/v1/products/${pan}`,
      { categoryId: unknown },
      'no corresponde a ninguna categoría'
    ],
    ['INSUFFICIENT_STOCK', 'Solo quedan 6 de Pan.', 'POST', '/v1/orders', order(pan, pan, pan)],
    ['PRODUCT_DISCONTINUED', 'Pan está descatalogado', 'POST', '/v1/orders', order(old)],
    ['ORDER_NOT_PENDING', 'El pedido está en estado shipped', 'POST', `${shipped}/items`, { productId: pan, quantity: 1 }],
    ['STATUS_CHANGE_NOT_ALLOWED', 'El estado de un pedido no puede pasar de shipped a paid.', 'PATCH', shipped, { status: 'paid' }],
    ['ORDER_ALREADY_SHIPPED', 'El pedido ya se ha enviado', 'POST', `${shipped}/cancellations`],
    ['ORDER_ALREADY_CANCELLED', 'El pedido ya está cancelado.', 'POST', `${cancelled}/cancellations`],
    [
      'UNKNOWN_CUSTOMER',
      'El cliente no existe.',
      'POST',
      '/v1/orders',
      { ...order(pan), customerId: unknown },
      'no corresponde a ningún cliente'
    ],
    [
      'CUSTOMER_MISSING',
      '`customerId` es obligatorio. Envíe el id del cliente.',
      'POST',
      '/v1/orders',
      { items: order(pan).items },
      'es obligatorio para el personal'
    ],
    ['UNKNOWN_PRODUCT', 'El pedido contiene productos', 'POST', '/v1/orders', order(unknown), 'no corresponde a ningún producto'],
    ['MIXED_CURRENCIES', 'Todos los productos', 'POST', '/v1/orders', order(pan, dollars), 'tiene el precio en USD, no en EUR']
  ]
  for (const [code, message, method, path, body, field] of cases) {
    const type = { 'content-type': body instanceof Buffer ? 'image/png' : 'application/json' }
    const { headers, body: response } = await call(method, path, body, { ...(body && type), 'accept-language': 'es-MX, en;q=0.5' })
    t.equal(response.error.code, code)
    t.ok(response.error.message.startsWith(message), response.error.message)
    t.equal(response.error.errors?.[0].message, field)
    t.equal(headers['content-language'], 'es')
    t.match(headers['vary'], /accept-language/)
  }
  const foreign = await ada('POST', '/v1/orders', { ...order(pan), customerId: unknown }, { 'accept-language': 'es' })
  t.match(foreign.body.error, { code: 'FOREIGN_CUSTOMER', message: /^Solo puede hacer pedidos para usted mismo/ })
  const form = new FormData()
  form.set('file', new Blob(['x'], { type: 'text/csv' }), 'products.csv')
  const imported = await call('POST', '/v2/product-imports', form, { 'accept-language': 'es' })
  t.match(imported.body.error, { code: 'INVALID_PRODUCT_FILE', message: /^El archivo no es una lista de productos/ })
  const own = [imageErrors, productErrors, productImportErrors, orderErrors].flatMap(({ definitions }) => Object.keys(definitions))
  t.strictSame([...cases.map(([code]) => code), 'FOREIGN_CUSTOMER', 'INVALID_PRODUCT_FILE'].sort(), own.sort(), 'every error is covered')
})
