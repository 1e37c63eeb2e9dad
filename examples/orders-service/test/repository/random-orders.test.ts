import { randomFrom } from '@concordat/test-harness/random'
import t from 'tap'
import { startService } from '../service.ts'

interface Line {
  readonly productId: string
  quantity: number
  readonly cents: number
}
interface ModelOrder {
  status: 'pending' | 'paid' | 'shipped' | 'cancelled' | 'deleted'
  readonly lines: Map<string, Line>
}
interface ModelProduct {
  readonly id: string
  cents: number
  stock: number
  discontinued: boolean
}

const seed = Number(process.env['RANDOM_SEED'] ?? 7)

t.test(`after 300 random requests, every response, total and stock is correct (seed ${seed})`, async (t) => {
  const { call } = await startService(t)
  const next = randomFrom(seed)
  const random = (limit: number) => Math.floor(next() * limit)
  const pick = <Value>(values: readonly Value[]) => values[random(values.length)] as Value
  const [{ id: categoryId }] = (await call('GET', '/v1/categories')).body.data
  const [{ id: customerId }] = (await call('GET', '/v1/customers')).body.data

  const products: ModelProduct[] = []
  for (const [unitPrice, cents] of [
    ['0.01', 1],
    ['3.3', 330],
    ['19.99', 1999],
    ['99999999.99', 9_999_999_999]
  ] as const) {
    const product = { name: 'Model', categoryId, unitPrice, unitsInStock: 40 }
    products.push({ id: (await call('POST', '/v1/products', product)).body.data.id, cents, stock: 40, discontinued: false })
  }
  const productOf = (id: string) => products.find((product) => product.id === id) as ModelProduct
  const orders = new Map<string, ModelOrder>()

  /** Returns the codes with which a request for these units must be refused. */
  function refusal(wanted: readonly { productId: string; quantity: number }[]) {
    const codes = new Set<string>()
    for (const { productId } of wanted) {
      const { stock, discontinued } = productOf(productId)
      const sum = wanted.filter((line) => line.productId === productId).reduce((total, { quantity }) => total + quantity, 0)
      if (discontinued) codes.add('PRODUCT_DISCONTINUED')
      else if (sum > stock) codes.add('INSUFFICIENT_STOCK')
    }
    return codes
  }
  const give = ({ productId, quantity }: { productId: string; quantity: number }) => void (productOf(productId).stock += quantity)
  const take = ({ productId, quantity }: { productId: string; quantity: number }) => give({ productId, quantity: -quantity })
  const newLine = () => ({ productId: pick(products).id, quantity: 1 + random(9) })

  async function place() {
    const items = Array.from({ length: 1 + random(4) }, newLine)
    const codes = refusal(items)
    const { status, body } = await call('POST', '/v1/orders', { customerId, items })
    if (codes.size > 0) return t.ok(status === 409 && codes.has(body.error.code), `placing is refused: ${[...codes].join(' or ')}`)
    t.equal(status, 201, 'placed')
    items.forEach(take)
    const known = (await call('GET', `/v1/orders/${body.data.id}/items`)).body.data as { id: string; productId: string; quantity: number }[]
    t.strictSame(
      known.map(({ productId, quantity }) => ({ productId, quantity })),
      items
    )
    const lines = known.map(({ id, productId, quantity }) => [id, { productId, quantity, cents: productOf(productId).cents }] as const)
    return orders.set(body.data.id, { status: 'pending', lines: new Map(lines) })
  }

  async function advance(id: string, order: ModelOrder) {
    const to = pick(['pending', 'paid', 'shipped', 'cancelled'] as const)
    const allowed = (order.status === 'pending' && to === 'paid') || (order.status === 'paid' && to === 'shipped')
    const { status } = await call('PATCH', `/v1/orders/${id}`, { status: to, note: 'on its way' })
    t.equal(status, order.status === 'deleted' ? 404 : allowed ? 200 : 409, `${order.status} to ${to}`)
    if (allowed) order.status = to
  }

  async function cancel(id: string, order: ModelOrder) {
    const open = order.status === 'pending' || order.status === 'paid'
    const { status } = await call('POST', `/v1/orders/${id}/cancellations`, random(2) === 0 ? undefined : { reason: 'changed my mind' })
    t.equal(status, order.status === 'deleted' ? 404 : open ? 201 : 409, `${order.status} cancelled`)
    if (!open) return
    for (const line of order.lines.values()) give(line)
    order.status = 'cancelled'
  }

  async function remove(id: string, order: ModelOrder) {
    const open = order.status === 'pending' || order.status === 'paid'
    const { status } = await call('DELETE', `/v1/orders/${id}`)
    t.equal(status, order.status === 'deleted' ? 404 : open ? 204 : 409, `${order.status} deleted`)
    if (!open) return
    for (const line of order.lines.values()) give(line)
    order.status = 'deleted'
  }

  async function addItem(id: string, order: ModelOrder) {
    const item = newLine()
    const codes = refusal([item])
    const { status, body } = await call('POST', `/v1/orders/${id}/items`, item)
    const expected = order.status === 'deleted' ? 404 : order.status !== 'pending' || codes.size > 0 ? 409 : 201
    if (!t.equal(status, expected, `an item for an order that is ${order.status}`) || status !== 201) return
    take(item)
    order.lines.set(body.data.id, { ...item, cents: productOf(item.productId).cents })
  }

  async function changeItem(id: string, order: ModelOrder) {
    const [itemId, line] = pick([...order.lines, ['0197a3c5-1b07-7d52-8f7e-2c64e1a9b3f0', undefined] as const])
    const quantity = 1 + random(12)
    const more = quantity - (line?.quantity ?? 0)
    const refused = line !== undefined && more > 0 && refusal([{ productId: line.productId, quantity: more }]).size > 0
    const { status } = await call('PATCH', `/v1/orders/${id}/items/${itemId}`, { quantity })
    const found = order.status !== 'deleted'
    t.equal(status, !found ? 404 : order.status !== 'pending' ? 409 : line === undefined ? 404 : refused ? 409 : 200, 'an item changed')
    if (status !== 200 || line === undefined) return
    take({ ...line, quantity: more })
    line.quantity = quantity
  }

  async function removeItem(id: string, order: ModelOrder) {
    const foreign = pick([...orders.values()])
    const [itemId] = pick([...order.lines, ...foreign.lines, ['0197a3c5-1b07-7d52-8f7e-2c64e1a9b3f0'] as const])
    const line = order.lines.get(itemId)
    const { status } = await call('DELETE', `/v1/orders/${id}/items/${itemId}`)
    t.equal(status, order.status === 'deleted' ? 404 : order.status !== 'pending' ? 409 : line === undefined ? 404 : 204, 'an item deleted')
    if (status !== 204 || line === undefined) return
    give(line)
    order.lines.delete(itemId)
  }

  async function changeProduct() {
    const product = pick(products)
    const { status } = await call('PATCH', `/v1/products/${product.id}`, { discontinued: !product.discontinued, unitPrice: '7.77' })
    t.equal(status, 200)
    product.discontinued = !product.discontinued
    product.cents = 777
  }

  for (let step = 0; step < 300; step++) {
    const choice = random(20)
    const [id, order] = pick([...orders, ['', undefined] as const])
    if (order === undefined || choice < 4) await place()
    else if (choice < 7) await advance(id, order)
    else if (choice < 9) await cancel(id, order)
    else if (choice < 10) await remove(id, order)
    else if (choice < 14) await addItem(id, order)
    else if (choice < 17) await changeItem(id, order)
    else if (choice < 19) await removeItem(id, order)
    else await changeProduct()
  }

  for (const { id, stock } of products) t.equal((await call('GET', `/v1/products/${id}`)).body.data.unitsInStock, stock, 'stock')
  for (const [id, { status, lines }] of orders) {
    const { body } = await call('GET', `/v1/orders/${id}`)
    if (status === 'deleted') t.equal(body.error.code, 'RESOURCE_NOT_FOUND')
    else {
      const cents = [...lines.values()].reduce((sum, line) => sum + BigInt(line.quantity) * BigInt(line.cents), 0n)
      const total = `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`
      t.match(body.data, { status, total }, 'status and total')
    }
  }
})
