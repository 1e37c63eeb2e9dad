import type { AddressInfo } from 'node:net'
import { createInstance, getHttpOperationsFromSpec, type IHttpRequest } from '@stoplight/prism-http'
import t from 'tap'
import { password, startService } from '../service.ts'

// Each test knows the shape of the values that it reads.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

const { app, call } = await startService(t, { rateLimit: 'on', publicUrl: undefined })
const documents = await Promise.all(
  ['v1', 'v2'].map(async (version) => [version, (await call('GET', `/${version}/openapi`)).body] as const)
)

t.test('Prism in front of the service finds no violation in valid requests and their responses', async (t) => {
  await app.listen({ host: '127.0.0.1', port: 0 })
  const upstream = new URL(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  const settings = { isProxy: true, upstream, validateRequest: true, validateResponse: true, checkSecurity: true, errors: false } as const
  const logger: Loose = {
    trace() {},
    debug() {},
    info() {},
    warn() {},
    error: (problem: unknown) => t.fail(String(problem)),
    success() {},
    child: () => logger
  }
  const prism = createInstance({ ...settings, mock: { dynamic: false }, upstreamProxy: undefined }, { logger })
  const [staff, customer] = [await headersOf('ops@example.com'), await headersOf('ada@example.com')]
  for (const [version, document] of documents) {
    const operations = await getHttpOperationsFromSpec(structuredClone(document))
    const send = async (method: IHttpRequest['method'], target: string, headers: Record<string, string>, body?: object) => {
      const { pathname: path, searchParams } = new URL(`/${version}${target}`, upstream)
      const sent = { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) }
      const request = { method, url: { path, query: Object.fromEntries(searchParams) }, headers: sent, body }
      const result: Loose = await prism.request(request, operations)()
      const { output, validations } = result.right ?? { output: { statusCode: 0, body: result.left }, validations: result }
      t.strictSame(validations, { input: [], output: [] }, `${version} ${method} ${target} ${output.statusCode}`)
      return output
    }
    const [category] = (await send('get', '/categories', {})).body.data
    const [product] = (await send('get', '/products?discontinued=false&sort=-unitPrice&unitPrice[gte]=10&perPage=3', {})).body.data
    await send('get', `/products/${product.id}`, {})
    await send('get', `/products/${product.id}?fields=name`, {})
    await send('get', '/products?fields=unitPrice,currency&perPage=3', {})
    await send('get', '/orders?fields=total&perPage=3', staff)
    await send('get', '/products/00000000-0000-4000-8000-000000000000', {})
    const tea = { name: 'Tea', categoryId: category.id, unitPrice: '3.50' }
    const { id, createdAt, updatedAt, ...whole } = (await send('post', '/products', staff, tea)).body.data
    t.match([createdAt, updatedAt], [String, String])
    await send('post', '/products', staff, { ...tea, categoryId: product.id })
    await send('put', `/products/${id}`, staff, { ...whole, unitPrice: '4.00' })
    await send('patch', `/products/${id}`, staff, { unitsInStock: 5 })
    await send('delete', `/products/${id}`, staff)
    const [buyer] = (await send('get', '/customers?perPage=2&sort=-createdAt', staff)).body.data
    await send('get', '/customers', customer)
    const list = await send('get', '/orders?status[in]=paid,pending&placedAt[gte]=2020-01-01T00:00:00Z&perPage=2', staff)
    t.ok(list.body.data.length > 0)
    const order = { customerId: buyer.id, items: [{ productId: product.id, quantity: 1 }] }
    const placed = await send('post', '/orders', { ...staff, 'idempotency-key': `prism-${version}` }, order)
    t.equal(placed.statusCode, 201)
    const path = `/orders/${placed.body.data.id}`
    const { etag } = (await send('get', path, staff)).headers
    await send('patch', path, { ...staff, 'if-match': etag }, { note: 'Ring twice.' })
    await send('patch', path, { ...staff, 'if-match': etag }, { note: 'Late.' })
    await send('get', `${path}/items`, staff)
    await send('post', `${path}/cancellations`, { ...staff, 'idempotency-key': `cancel-${version}` }, { reason: 'Too late.' })
    await send('post', '/tokens', {}, { username: 'ada@example.com', password: 'wrong' })
  }
})

async function headersOf(username: string) {
  const { body } = await call('POST', '/v2/tokens', { username, password })
  return { authorization: `Bearer ${body.data.accessToken}` }
}
