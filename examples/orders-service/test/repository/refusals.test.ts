// The rules of errors, checked on everything that a service refuses.
import { randomUUID } from 'node:crypto'
import { recorder } from '@concordat/test-harness/exchanges'
import { commonRefusals, type Refusal, testRefusals } from '@concordat/test-harness/refusal-rules'
import { describedFetch } from '@concordat/testing'
import t from 'tap'
import { startService } from '../service.ts'
import { signIn } from './child.ts'

/** The address of the service that is tested: a running one with the sample data, or one that this file starts. */
const service = process.env['TEST_SERVICE_URL'] ?? (await listeningService())
const [staff, customer] = [await signIn(service), await signIn(service, 'ada@example.com')]

// Each test knows the shape of the values that it reads.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

async function listeningService() {
  const { app } = await startService(t, { publicUrl: undefined })
  return app.listen({ host: '127.0.0.1', port: 0 })
}

const { send } = recorder(service, describedFetch)
const { send: sendAsStaff } = recorder(service, describedFetch, staff)
const document: Loose = (await send('GET', '/v2/openapi')).body
const [product] = (await send('GET', '/v2/products?perPage=1')).body.data
const [order] = (await sendAsStaff('GET', '/v2/orders?perPage=1')).body.data
const item = `/v2/products/${product.id}`
const key = () => ({ 'idempotency-key': randomUUID() })
const batch = (operation: object) => sendAsStaff('POST', '/v2/order-batches', { operations: [{ id: 'a', ...operation }] }, key())

const refusals: readonly Refusal[] = [
  ...(await commonRefusals({
    send,
    credentials: staff,
    document,
    list: '/v2/products',
    member: 'name',
    item,
    counted: [item, 'unitsInStock'],
    restricted: '/v2/orders',
    keyed: ['/v2/orders', { items: [{ productId: product.id, quantity: 1 }] }],
    tokens: '/v2/tokens'
  })),
  [403, 'INSUFFICIENT_PERMISSION', await send('DELETE', item, undefined, customer)],
  [422, 'VALIDATION_FAILED', await batch({ method: 'PATCH', path: '/v2/orders/1', body: { note: '\0' } })],
  [422, 'BATCH_INVALID', await batch({ method: 'GET', path: '/v2/orders/%00' })],
  [422, 'UNKNOWN_CATEGORY', await sendAsStaff('PATCH', item, { categoryId: randomUUID() })],
  [428, 'PRECONDITION_REQUIRED', await sendAsStaff('PATCH', `/v2/orders/${order.id}`, { note: 'N' })]
]

testRefusals(t, refusals, document)

t.test('the query, headers, path and body are validated, each wrong field is listed, and nothing is coerced [U13]', async (t) => {
  const wrong = { name: 7, categoryId: 'x', unitPrice: 3.5, unitsInStock: '1', secret: 1 }
  const fields = (await sendAsStaff('POST', '/v2/products', wrong)).body.error.errors.map(({ field }: Loose) => field)
  t.strictSame(fields.toSorted(), ['body.categoryId', 'body.name', 'body.secret', 'body.unitPrice', 'body.unitsInStock'])
  const html = await send('GET', '/v2/products?<script>alert(1)</script>=1', undefined, { accept: 'text/html, */*;q=0.1' })
  t.strictSame([html.status, html.headers.get('content-type')], [422, 'application/json; charset=utf-8'])
})

t.test('a customer is refused every operation whose permissions only staff have [U9]', async (t) => {
  const onlyStaff = ['products:create', 'products:update', 'products:delete', 'customers:list', 'customers:create']
  const checked = new Set<string>()
  for (const [template, operations] of Object.entries<Loose>(document.paths))
    for (const [method, operation] of Object.entries<Loose>(operations)) {
      const required: string[] = operation['x-permissions'] ?? []
      const path = template.replaceAll(/\{\w+\}/g, randomUUID())
      const body = method === 'get' || method === 'delete' ? undefined : {}
      const asked = async (credentials: Record<string, string>) =>
        (await send(method.toUpperCase(), path, body, { ...key(), 'if-match': '*', ...credentials })).status
      if (required.length > 0) t.equal(await asked({}), 401, `${method} ${path} without credentials`)
      if (!required.some((permission) => onlyStaff.includes(permission))) continue
      for (const permission of required) checked.add(permission)
      t.equal(await asked(customer), 403, `${method} ${path} as a customer`)
    }
  t.strictSame([...checked].toSorted(), onlyStaff.toSorted())
})
