import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { representationChangedAt } from '../src/versions.ts'
import { password, startService } from './service.ts'

const { call, as, anyone } = await startService(t)
const [ada, max] = [await as('ada@example.com'), await as('max@example.com')]
const [{ id: categoryId }] = (await call('GET', '/v1/categories')).body.data
const whole = { name: 'Rye Bread', categoryId, unitPrice: '3.33', currency: 'EUR', unitsInStock: 1000, discontinued: false }
const newProduct = async () => (await call('POST', '/v1/products', whole)).body.data
const bread = await newProduct()
const newOrder = async () => (await ada('POST', '/v1/orders', { items: [{ productId: bread.id, quantity: 1 }] })).body.data
const policy = async (path: string) => (await ada('GET', path)).headers['cache-control']
const read = (coding: string) => anyone.inject({ url: '/v1/products', headers: { 'accept-encoding': coding } })
const unknown = '0197a3c5-1b07-7d52-8f7e-2c64e1a9b3f0'
const other = '0197a3c5-1b07-7d52-8f7e-2c64e1a9b3f1'

t.test('categories may be stored by any cache for a day, products are revalidated, and orders are private [C1] [C3]', async (t) => {
  const open = (await anyone.inject('/v1/categories')).headers
  t.match(open, { 'cache-control': 'public, max-age=86400', etag: /^".+"$/, vary: /accept-encoding/ })
  t.equal((await anyone.inject('/v1/products')).headers['cache-control'], 'no-cache')
  t.equal(await policy('/v1/orders'), 'private, no-cache')
  t.equal(await policy(`/v1/orders/${unknown}`), 'no-store')
})

t.test('unchanged representations are not sent again: lists are compared by content, items by version [C4]', async (t) => {
  const order = await newOrder()
  for (const path of [
    '/v1/categories',
    '/v1/products?perPage=3',
    `/v1/products/${bread.id}`,
    '/v1/orders?perPage=2',
    `/v1/orders/${order.id}`
  ]) {
    const first = await ada('GET', path)
    const tag = first.headers['etag'] as string
    const again = await ada('GET', path, undefined, { 'if-none-match': tag })
    t.strictSame([again.status, again.bytes.length, again.headers['etag']], [304, 0, tag], path)
    t.equal(again.headers['cache-control'], first.headers['cache-control'])
  }
  const before = (await call('GET', `/v1/products/${bread.id}`)).headers['etag'] as string
  await newOrder()
  const after = await call('GET', `/v1/products/${bread.id}`, undefined, { 'if-none-match': before })
  t.equal(after.status, 200, 'an order has taken units of the product')
})

t.test('an order is changed and deleted only when If-Match names its current version [O1]', async (t) => {
  const order = await newOrder()
  const path = `/v1/orders/${order.id}`
  const tag = (await ada('GET', path)).headers['etag'] as string
  const { data } = (await call('POST', '/v1/tokens', { username: 'ada@example.com', password })).body
  const unguarded = await anyone.inject({ method: 'DELETE', url: path, headers: { authorization: `Bearer ${data.accessToken}` } })
  t.match(unguarded.json().error, { status: 428, code: 'PRECONDITION_REQUIRED' })
  const changed = await ada('PATCH', path, { note: 'Ring twice' }, { 'if-match': tag })
  t.equal(changed.status, 200)
  t.not(changed.headers['etag'], tag)
  const late = await ada('PATCH', path, { note: 'Never mind' }, { 'if-match': tag })
  t.match(late, { status: 412, body: { error: { code: 'PRECONDITION_FAILED' } }, headers: { etag: changed.headers['etag'] as string } })
  t.match(await ada('DELETE', path, undefined, { 'if-match': tag }), { status: 412 })
  t.equal((await ada('GET', path)).body.data.note, 'Ring twice')
  t.equal((await ada('DELETE', path, undefined, { 'if-match': changed.headers['etag'] as string })).status, 204)
  t.equal((await ada('DELETE', path, undefined, { 'if-match': changed.headers['etag'] as string })).status, 404)
})

t.test('preconditions do not reveal the orders of other customers [U10]', async (t) => {
  const path = `/v1/orders/${(await newOrder()).id}`
  const tag = (await ada('GET', path)).headers['etag'] as string
  t.equal((await max('GET', path, undefined, { 'if-none-match': tag })).status, 404)
  for (const headers of [{ 'if-match': tag }, { 'if-match': '"7"' }, { 'if-match': '*' }]) {
    const refused = await max('PATCH', path, { note: 'mine' }, headers)
    t.equal(refused.status, 404, headers['if-match'])
    t.notOk(refused.headers['etag'])
  }
})

t.test('a product is created only when it does not exist, and replaced only when If-Match names its current version [O1]', async (t) => {
  const path = `/v1/products/${unknown}`
  const create = { 'if-none-match': '*' }
  t.equal((await call('PUT', path, whole, create)).status, 201)
  t.match(await call('PUT', path, whole, create), { status: 412 })
  const tag = (await call('GET', path)).headers['etag'] as string
  const replaced = await call('PUT', path, { ...whole, name: 'White Bread' }, { 'if-match': tag })
  t.equal(replaced.status, 200)
  t.notOk(replaced.headers['etag'], 'the stored representation differs from the one that was sent')
  t.match(await call('PUT', path, whole, { 'if-match': tag }), { status: 412 })
  t.match(await call('PATCH', path, { name: 'Toast' }, { 'if-match': tag }), { status: 412 })
  t.match(await call('DELETE', path, undefined, { 'if-match': tag }), { status: 412 })
  const current = (await call('GET', path)).headers['etag'] as string
  t.equal((await call('PATCH', path, { name: 'Toast' }, { 'if-match': current })).status, 200)
  t.equal((await call('PUT', `/v1/products/${other}`, whole, { 'if-match': '*' })).status, 412)
  t.equal((await call('PUT', path, whole)).status, 200, 'a PUT without preconditions replaces the product')
  t.equal((await call('DELETE', path)).status, 204)
})

t.test('one of many simultaneous changes to the same version succeeds [O1]', async (t) => {
  const path = `/v1/orders/${(await newOrder()).id}`
  for (let round = 0; round < 3; round += 1) {
    const tag = (await ada('GET', path)).headers['etag'] as string
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => ada('PATCH', path, { note: `${round}.${index}` }, { 'if-match': tag }))
    )
    const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b)
    t.strictSame(statuses, [200, ...Array.from({ length: 19 }, () => 412)])
    const winner = responses.find(({ status }) => status === 200)
    t.equal((await ada('GET', path)).body.data.note, winner?.body.data.note)
  }
})

/** Returns the paths of the resources of a version whose responses have an `updatedAt`, from its description. */
async function datedPaths(version: string): Promise<string[]> {
  const document = (await call('GET', `/${version}/openapi`)).body
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what is being tested
  const follow = (one: any): any =>
    one?.$ref === undefined
      ? one
      : follow(
          one.$ref
            .slice(2)
            .split('/')
            .reduce((inner: Record<string, unknown>, key: string) => inner[key], document)
        )
  return Object.keys(document.paths).filter((path) => {
    const response = follow(document.paths[path].get?.responses[200])
    const data = follow(follow(response?.content?.['application/json']?.schema)?.properties?.data)
    return [data, ...(data?.anyOf ?? [])].some((one) => follow(one)?.properties?.updatedAt !== undefined)
  })
}

t.test(
  'every resource with an updatedAt has its date in Last-Modified, is 304 for it, and changes it with every change [C1] [C4]',
  async (t) => {
    const subscription = { url: 'https://hooks.example.com/orders', eventTypes: ['order.created'] }
    for (const version of ['v1', 'v2']) {
      const changes: Readonly<Record<string, readonly [string, (count: number) => object]>> = {
        [`/${version}/products/{id}`]: [(await newProduct()).id, (count) => ({ unitsInStock: count })],
        [`/${version}/webhook-subscriptions/{id}`]: [
          (await call('POST', `/${version}/webhook-subscriptions`, subscription)).body.data.id,
          (count) => ({ description: String(count) })
        ]
      }
      // Administrators see the subscriptions of all users, which have the same dates.
      t.strictSame(await datedPaths(version), [`/${version}/managed-webhook-subscriptions/{id}`, ...Object.keys(changes)])
      for (const [template, [id, change]] of Object.entries(changes)) {
        const path = template.replace('{id}', id)
        let changedAt = ''
        // Several changes within a second: the content of each is sent, whatever date the client has.
        for (let count = 0; count < 5; count += 1) {
          const before = new Date(Math.floor(Date.now() / 1000) * 1000).toUTCString()
          const { status, headers, body } = await call('PATCH', path, change(count), { 'if-match': '*' })
          t.strictSame([status, headers['last-modified']], [200, undefined])
          changedAt = body.data.updatedAt
          t.equal(
            (await call('PATCH', path, change(count), { 'if-match': '*', 'if-unmodified-since': before })).status,
            200,
            'If-Match comes first'
          )
          const read = await call('GET', path, undefined, { 'if-modified-since': before })
          t.match(read, { status: 200, body: { data: change(count) } })
        }
        changedAt = (await call('GET', path)).body.data.updatedAt
        const date = new Date(Math.floor(Date.parse(changedAt) / 1000) * 1000 + 1000).toUTCString()
        let read = await call('GET', path)
        for (; read.headers['last-modified'] === undefined; read = await call('GET', path)) await delay(20)
        t.equal(read.headers['last-modified'], date, path)
        t.ok(Date.parse(date) >= Date.parse(representationChangedAt))
        for (const method of ['GET', 'HEAD']) {
          t.equal((await call(method as 'GET', path, undefined, { 'if-modified-since': date })).status, 304)
          t.equal((await call(method as 'GET', path, undefined, { 'if-modified-since': new Date(changedAt).toUTCString() })).status, 200)
        }
      }
      for (const list of ['products', 'webhook-subscriptions'])
        t.equal(
          (await call('GET', `/${version}/${list}`)).headers['last-modified'],
          undefined,
          'a removed item would not change the date of a list'
        )
    }
  }
)

t.test('a product that orders take units of has another date, and If-Unmodified-Since names the state [C4] [O1]', async (t) => {
  const { id, updatedAt } = await newProduct()
  const path = `/v1/products/${id}`
  const second = new Date(updatedAt).toUTCString()
  const refused = await call('PATCH', path, { name: 'Toast' }, { 'if-unmodified-since': second })
  t.match(refused, { status: 412, body: { error: { code: 'PRECONDITION_FAILED' } } })
  let read = await call('GET', path)
  for (; read.headers['last-modified'] === undefined; read = await call('GET', path)) await delay(20)
  const date = read.headers['last-modified']
  await ada('POST', '/v1/orders', { items: [{ productId: id, quantity: 1 }] })
  t.equal((await call('GET', path, undefined, { 'if-modified-since': date })).status, 200)
  t.equal((await call('PATCH', path, { name: 'Toast' }, { 'if-unmodified-since': date })).status, 412)
  t.equal((await call('GET', path)).body.data.name, whole.name)
})

t.test('large responses are compressed, and each content coding has its own ETag', async (t) => {
  const [plain, gzip, brotli] = [await read('identity'), await read('gzip'), await read('br, gzip')]
  t.strictSame(
    [plain, gzip, brotli].map(({ headers }) => headers['content-encoding']),
    [undefined, 'gzip', 'br']
  )
  t.equal(new Set([plain, gzip, brotli].map(({ headers }) => headers.etag)).size, 3)
  t.ok(brotli.rawPayload.length < plain.rawPayload.length / 3)
})
