import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startService } from './service.ts'

const { call, as } = await startService(t)
const [ada, max] = [await as('ada@example.com'), await as('max@example.com')]
const [{ id: categoryId }] = (await call('GET', '/v1/categories')).body.data
const newProduct = async (unitsInStock = 10) =>
  (await call('POST', '/v1/products', { name: 'Rye Bread', categoryId, unitPrice: '3.33', unitsInStock })).body.data.id as string
const stockOf = async (id: string) => (await call('GET', `/v1/products/${id}`)).body.data.unitsInStock
const order = (productId: string, quantity = 1) => ({ method: 'POST', path: '/v1/orders', body: { items: [{ productId, quantity }] } })
const named = (operations: readonly object[]) => operations.map((operation, index) => ({ id: `op-${index}`, ...operation }))

interface ReadOutcome {
  readonly id: string
  readonly status: number
  readonly headers: Record<string, string>
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what is being tested
  readonly body: any
}

async function batch(by: typeof ada, operations: readonly object[], more: { atomic?: boolean; key?: string } = {}) {
  const { key = randomUUID(), ...rest } = more
  const response = await by('POST', '/v1/order-batches', { operations: named(operations), ...rest }, { 'idempotency-key': key })
  const outcomes: ReadOutcome[] = response.body.data ?? []
  return { response, outcomes, statuses: outcomes.map(({ status }) => status) }
}

t.test('operations on orders run in their order, and each gets the response that it would get on its own [B1]', async (t) => {
  const product = await newProduct()
  const placed = await batch(ada, [
    order(product, 2),
    order(product, 3),
    order(product, 9),
    { method: 'GET', path: '/v1/orders?perPage=1' }
  ])
  t.equal(placed.response.status, 200)
  t.strictSame(placed.statuses, [201, 201, 409, 200])
  t.match(placed.outcomes[2]?.body, { error: { code: 'INSUFFICIENT_STOCK' }, _links: [{ rel: 'self' }] })
  const [first, second] = placed.outcomes.map(({ body }) => body.data?.id as string)
  t.equal(placed.outcomes[0]?.headers['location'], `https://shop.example/v1/orders/${first}`)
  t.equal(placed.outcomes[3]?.body.data[0].id, second, 'the last operation sees the effects of the earlier ones')
  t.equal(await stockOf(product), 5)

  const etag = placed.outcomes[0]?.headers['etag'] ?? ''
  const changed = await batch(ada, [
    { method: 'PATCH', path: `/v1/orders/${first}`, headers: { 'if-match': etag }, body: { note: 'By the door.' } },
    { method: 'PATCH', path: `/v1/orders/${first}`, headers: { 'if-match': etag }, body: { note: 'Lost.' } },
    { method: 'PATCH', path: `/v1/orders/${first}`, body: { note: 'Lost.' } },
    { method: 'POST', path: `/v1/orders/${first}/cancellations`, body: {} },
    { method: 'DELETE', path: `/v1/orders/${second}`, headers: { 'if-match': '*' } },
    { method: 'GET', path: `/v1/orders/${second}` },
    { method: 'GET', path: `/v1/orders/${first}/items` }
  ])
  t.strictSame(changed.statuses, [200, 412, 428, 201, 204, 404, 200])
  t.strictSame(changed.outcomes[4], { id: 'op-4', status: 204, headers: { 'request-id': changed.outcomes[4]?.headers['request-id'] } })
  t.equal(await stockOf(product), 10)
})

t.test('each operation requires the permission of its own route, and sees only what its caller may see [U10]', async (t) => {
  const product = await newProduct()
  const { outcomes } = await batch(ada, [order(product)])
  const id = outcomes[0]?.body.data.id as string
  const foreign = await batch(max, [
    { method: 'GET', path: `/v1/orders/${id}` },
    { method: 'DELETE', path: `/v1/orders/${id}`, headers: { 'if-match': '*' } },
    { method: 'PATCH', path: `/v1/orders/${id}`, headers: { 'if-match': '*' }, body: { status: 'paid' } }
  ])
  t.strictSame(foreign.statuses, [404, 404, 404])
  const own = await batch(ada, [{ method: 'PATCH', path: `/v1/orders/${id}`, headers: { 'if-match': '*' }, body: { status: 'paid' } }])
  t.match(own.outcomes, [{ status: 403, body: { error: { code: 'INSUFFICIENT_PERMISSION' } } }])
  t.equal((await call('POST', '/v1/order-batches', {}, { authorization: '' })).status, 401)
})

t.test('an atomic batch takes effect as a whole or not at all, and reports this for every operation [B1]', async (t) => {
  const product = await newProduct()
  t.strictSame((await batch(ada, [order(product), order(product, 2)], { atomic: true })).statuses, [201, 201])
  t.equal(await stockOf(product), 7)
  const key = randomUUID()
  const input = [order(product, 3), order(product, 9), order(product)]
  const failed = await batch(ada, input, { atomic: true, key })
  t.strictSame(failed.statuses, [424, 409, 424])
  t.match(failed.outcomes[0]?.body, {
    error: {
      status: 424,
      error: 'Failed Dependency',
      code: 'BATCH_OPERATION_UNDONE',
      retry: 'changed',
      effect: 'none',
      message: /^The batch was rolled back because another operation failed/
    },
    _links: [{ rel: 'self', href: 'https://shop.example/v1/orders', method: 'POST' }]
  })
  t.equal(failed.outcomes[0]?.headers['location'], undefined)
  const missing = { method: 'PATCH', path: `/v1/orders/${randomUUID()}`, headers: { 'if-match': '*' }, body: { note: 'Ring twice.' } }
  const unknown = await batch(ada, [order(product), missing], { atomic: true })
  t.match(unknown.outcomes, [{ body: { error: { code: 'BATCH_OPERATION_UNDONE', retry: 'never' } } }, { status: 404 }])
  t.equal(await stockOf(product), 7)
  t.strictSame((await batch(ada, input, { atomic: true, key })).response.bytes, failed.response.bytes)
  t.strictSame((await batch(ada, [order(product), { method: 'GET', path: '/v1/orders' }], { atomic: true })).statuses, [424, 409])
  t.equal(await stockOf(product), 7)
})

t.test('a batch that is sent again with its key is replayed; each operation can have its own key [I1] [I3]', async (t) => {
  const product = await newProduct()
  const without = { 'idempotency-key': undefined }
  t.match(await ada('POST', '/v1/order-batches', { operations: named([order(product)]) }, without), {
    status: 400,
    body: { error: { code: 'IDEMPOTENCY_KEY_REQUIRED' } }
  })
  const key = randomUUID()
  const first = await batch(ada, [order(product), order(product)], { key })
  const again = await batch(ada, [order(product), order(product)], { key })
  t.strictSame([again.response.bytes, again.response.headers['idempotency-replayed']], [first.response.bytes, 'true'])
  t.equal(await stockOf(product), 8, 'two orders, each placed once')
  t.match((await batch(ada, [order(product)], { key })).response, { status: 422, body: { error: { code: 'IDEMPOTENCY_KEY_REUSED' } } })

  const own = { ...order(product), headers: { 'Idempotency-Key': randomUUID() } }
  const [once, twice] = [await batch(ada, [own]), await batch(ada, [own])]
  t.strictSame(twice.outcomes[0]?.body, once.outcomes[0]?.body)
  t.equal(twice.outcomes[0]?.headers['idempotency-replayed'], 'true')
  t.equal(await stockOf(product), 7)
})

t.test('an invalid batch is refused as a whole, with all of its errors', async (t) => {
  const product = await newProduct()
  const { response } = await batch(ada, [
    order(product),
    { method: 'GET', path: '/v1/products' },
    { method: 'GET', path: '/v1/order-batches' }
  ])
  t.match(response, { status: 422, body: { error: { code: 'BATCH_INVALID' } } })
  t.strictSame(
    response.body.error.errors.map(({ field }: { field: string }) => field),
    ['body.operations.1.path', 'body.operations.2.path']
  )
  t.equal(
    (
      await batch(
        ada,
        Array.from({ length: 101 }, () => order(product))
      )
    ).response.status,
    422
  )
  t.equal(await stockOf(product), 10)
  t.equal(
    (
      await batch(
        ada,
        Array.from({ length: 100 }, () => ({ method: 'GET', path: '/v1/orders?perPage=1' }))
      )
    ).statuses.length,
    100
  )
})

t.test('each version has batches of its own operations only', async (t) => {
  const product = await newProduct()
  const send = async (paths: readonly string[]) => {
    const operations = named(paths.map((path) => ({ ...order(product), path })))
    return (await ada('POST', '/v2/order-batches', { operations }, { 'idempotency-key': randomUUID() })).body
  }
  t.match((await send(['/v2/orders'])).data, [{ status: 201, body: { data: { total: { amount: '3.33' } }, _meta: { version: 'v2' } } }])
  t.match((await send(['/v1/orders'])).error, { code: 'BATCH_INVALID', errors: [{ field: 'body.operations.0.path' }] })
})

t.test('the description has the batch: its request, its response, and that it can be atomic [B1] [Q13]', async (t) => {
  const { paths, components } = (await call('GET', '/v1/openapi')).body
  const { post } = paths['/v1/order-batches'] ?? {}
  t.match(post, { 'x-idempotency': 'required', summary: 'Execute a batch of operations' })
  t.match(post['x-batch'], { atomic: 'byRequest', outcomes: { 424: ['BATCH_OPERATION_UNDONE'] } })
  const { schema } = post.requestBody.content['application/json']
  const { properties } = components.schemas[String(schema.$ref).split('/').at(-1) ?? '']
  t.match(properties, { atomic: { type: 'boolean', description: /or none/ }, operations: { maxItems: 100 } })
})

t.test('atomic batches that change the same products in opposite orders are all committed [B1]', async (t) => {
  const [apples, pears] = [await newProduct(100), await newProduct(100)]
  for (let round = 1; round <= 3; round += 1) {
    const pair = await Promise.all([
      batch(ada, [order(apples), order(pears)], { atomic: true }),
      batch(max, [order(pears), order(apples)], { atomic: true })
    ])
    for (const { response, statuses } of pair) t.strictSame([response.status, ...statuses], [200, 201, 201])
    t.strictSame([await stockOf(apples), await stockOf(pears)], [100 - 2 * round, 100 - 2 * round])
  }
})
