import { createClient, isCode } from '@concordat/client'
import { expectTypeOf } from 'expect-type'
import { api, type Customer, type Order } from './shop.ts'

const shop = createClient(api, { baseUrl: 'http://127.0.0.1:3000' })
const body = { items: [{ productId: 'a', quantity: 1 }] }

const placed = await shop.post('/v2/orders', { body }).result()
if (!placed.ok && isCode(placed.error, 'INSUFFICIENT_STOCK')) expectTypeOf(placed.error.code).toEqualTypeOf<'INSUFFICIENT_STOCK'>()
try {
  await shop.get('/v2/orders')
} catch (error) {
  if (shop.isCode(error, 'RESOURCE_NOT_FOUND', 'TIMED_OUT')) expectTypeOf(error.status).toEqualTypeOf<number>()
}
expectTypeOf(await shop.get('/v2/customers/{id}', { path: { id: 'a' } })).toEqualTypeOf<Customer>()
expectTypeOf(await shop.get('/v2/customers/{id}', { path: { id: 'a' }, query: { fields: ['id', 'country'] } })).toEqualTypeOf<
  Pick<Customer, 'id' | 'country'>
>()
expectTypeOf(await shop.get('/v2/customers', { query: { fields: ['country'] } })).toEqualTypeOf<Pick<Customer, 'id' | 'country'>[]>()
for await (const one of shop.list('/v2/customers', { query: { fields: ['country'] } }))
  expectTypeOf(one).toEqualTypeOf<Pick<Customer, 'id' | 'country'>>()
for await (const one of shop.list('/v2/customers')) expectTypeOf(one).toEqualTypeOf<Customer>()
const order = await shop.get('/v2/orders/{id}', { path: { id: 'a' }, query: { include: ['customer'] } })
expectTypeOf(order).toExtend<Order>()
expectTypeOf(order.customer?.companyName).toEqualTypeOf<string | undefined>()
expectTypeOf(await shop.get('/v2/orders', { query: { include: ['customer'], fields: ['note', 'customer.companyName'] } })).toEqualTypeOf<
  Pick<typeof order, 'id' | 'note' | 'customer'>[]
>()
const results = await shop.batch('/v2/order-batches', (b) => [
  b.get('/v2/orders/{id}', { path: { id: 'a' } }),
  b.delete('/v2/orders/{id}', { path: { id: 'a' }, ifMatch: '*' })
])
if (results[0].ok) expectTypeOf(results[0].data).toExtend<Order>()
if (results[1].ok) expectTypeOf(results[1].data).toEqualTypeOf<undefined>()
