import t, { type Test } from 'tap'
import { startService } from './service.ts'

const { anyone, call, as } = await startService(t, { seedOrders: 600 })
const ada = await as('ada@example.com')
const max = await as('max@example.com')
type Call = typeof call

const unknown = '0197a3c5-1b07-7d52-8f7e-2c64e1a9b3f0'
const path = (href: string | undefined) => String(href).replace('https://shop.example', '')

/** Runs an export to its end, and returns the addresses of the export and its file. */
async function done(t: Test, who: Call, filters: object = {}) {
  const accepted = await who('POST', '/v1/order-exports', filters)
  t.equal(accepted.status, 202)
  const url = path(accepted.headers['location'])
  for (;;) {
    const { status, links } = await statusOf(who, url)
    if (status === 'completed') return { url, file: path(links[1].href) }
    if (status === 'failed') throw new Error('The export failed.')
  }
}

async function statusOf(who: Call, url: string) {
  const { data } = (await who('GET', url, undefined, { prefer: 'wait=5' })).body
  return { status: data.status as string, links: data._links }
}

async function allOrders(who: Call, query = '') {
  const orders: unknown[] = []
  let url: string | undefined = `/v1/orders?perPage=100${query}`
  while (url !== undefined) {
    const { body }: Awaited<ReturnType<Call>> = await who('GET', url)
    orders.push(...body.data)
    const next = body._links.find(({ rel }: { rel: string }) => rel === 'next')
    url = next && path(next.href)
  }
  return orders
}

t.test('an export is accepted with 202, and its file has each order once in the envelope, as in the list [A1] [A2] [E7]', async (t) => {
  const accepted = await call('POST', '/v1/order-exports', {})
  const location = accepted.headers['location']
  t.match(accepted.body, {
    data: { status: 'queued', _links: [{ rel: 'status', href: location, method: 'GET' }] },
    _links: [{ rel: 'self' }],
    _meta: { version: 'v1' }
  })
  t.match(
    [accepted.status, accepted.headers['retry-after'], location],
    [202, '2', `https://shop.example/v1/order-exports/${accepted.body.data.jobId}`]
  )
  let over = await statusOf(call, path(location))
  while (over.status !== 'completed') over = await statusOf(call, path(location))
  t.match(over.links, [{ rel: 'status' }, { rel: 'result', href: new RegExp(`^${location}/files/`), method: 'GET' }])
  const file = await call('GET', path(over.links[1].href))
  t.match([file.status, file.headers['cache-control']], [200, 'no-store'])
  t.strictSame(Object.keys(file.body), ['data', '_links', '_meta'])
  t.match(file.body._links, [
    { rel: 'self', href: over.links[1].href },
    { rel: 'up', href: location }
  ])
  t.match(file.body._meta, { version: 'v1', timestamp: /Z$/ })
  t.equal(file.body.data.length, 600)
  t.strictSame(file.body.data, await allOrders(call))
})

t.test('exports are listed for the user who started them, latest first', async (t) => {
  const { url, file } = await done(t, max)
  const { body } = await max('GET', '/v1/order-exports')
  t.match(body.data, [{ status: 'completed', createdAt: /Z$/ }])
  t.strictSame(
    body.data[0]._links.map(({ rel, href, method }: { rel: string; href: string; method: string }) => [rel, path(href), method]),
    [
      ['status', url, 'GET'],
      ['result', file, 'GET']
    ]
  )
  t.strictSame(Object.keys((await max('GET', '/v1/order-exports?fields=status')).body.data[0]), ['jobId', 'status'])
  t.equal(`/v1/order-exports/${body.data[0].jobId}`, url)
  t.strictSame([body.data.length, body._meta.pagination.totalItems], [1, 1])
})

t.test('a customer exports only their own orders, and other users get 404 for the export and its file', async (t) => {
  const { url, file } = await done(t, ada)
  t.strictSame((await ada('GET', file)).body.data, await allOrders(ada))
  for (const who of [call, max])
    for (const [method, place] of [
      ['GET', url],
      ['DELETE', url],
      ['GET', file]
    ] as const)
      t.match(await who(method, place), { status: 404, body: { error: { code: 'JOB_NOT_FOUND' } } })
  t.equal((await anyone.inject(url)).statusCode, 401)
})

const fileOf = ({ file }: { file: string }) => file.split('/').at(-1)

t.test('a file exists only under its own export', async (t) => {
  const [one, other] = [await done(t, call, { status: 'paid' }), await done(t, call, { status: 'pending' })]
  for (const place of [
    `${one.url}/files/${unknown}`,
    `${one.url}/files/${fileOf(other)}`,
    `/v1/order-exports/${unknown}/files/${fileOf(one)}`
  ])
    t.equal((await call('GET', place)).status, 404)
})

t.test('the filters of the collection select the orders, in a body as in the query string [Q6]', async (t) => {
  const [some] = (await call('GET', '/v1/orders?perPage=1')).body.data
  const cases: [filters: object, query: string][] = [
    [{ status: { eq: 'paid' } }, '&status=paid'],
    [{ status: 'shipped' }, '&status=shipped'],
    [{ status: { in: ['paid', 'pending'] }, customerId: some.customerId }, `&status%5Bin%5D=paid,pending&customerId=${some.customerId}`],
    [{ status: { ne: 'shipped' }, total: { gte: '100', lt: '500.00' } }, '&status%5Bne%5D=shipped&total%5Bgte%5D=100&total%5Blt%5D=500.00'],
    [
      { 'placedAt[lt]': '2025-06-01T00:00:00Z', placedAt: { gte: '2025-01-01T00:00:00Z' } },
      '&placedAt%5Blt%5D=2025-06-01T00:00:00Z&placedAt%5Bgte%5D=2025-01-01T00:00:00Z'
    ],
    [{ customerId: unknown }, `&customerId=${unknown}`]
  ]
  for (const [filters, query] of cases) {
    const { file } = await done(t, call, filters)
    t.strictSame((await call('GET', file)).body.data, await allOrders(call, query), query)
  }
})

const count = async () => (await call('GET', '/v1/order-exports')).body._meta.pagination.totalItems

t.test('a filter that cannot be used is refused in the language of the client before anything is queued', async (t) => {
  const before = await count()
  for (const [filters, field, message] of [
    [{ status: 'lost' }, 'body.status.eq', 'debe ser uno de: pending, paid, shipped, cancelled'],
    [{ status: { prefix: 'p' } }, 'body.status.prefix', 'no es un campo conocido'],
    [{ colour: 'red' }, 'body.colour', 'no es un campo conocido'],
    [{ placedAt: { gte: '0000-01-01T00:00:00Z' } }, 'body.placedAt.gte', /patrón/],
    [{ placedAt: { gte: 'today' } }, 'body.placedAt.gte', /formato date-time|patrón/],
    [{ total: { gte: 12 } }, 'body.total.gte', 'debe ser de tipo string'],
    [{ customerId: 'me' }, 'body.customerId.eq', 'debe tener el formato uuid'],
    [{ total: {} }, 'body.total', /al menos 1/]
  ] as const) {
    const { status, body } = await call('POST', '/v1/order-exports', filters, { 'accept-language': 'es' })
    t.equal(status, 422)
    t.match(body.error.errors[0], { field, message })
  }
  for (const body of ['null', '[]', '"x"']) {
    const response = await call('POST', '/v1/order-exports', Buffer.from(body), { 'content-type': 'application/json' })
    t.ok(response.status === 422 || response.status === 400, `${body}: ${response.status}`)
  }
  t.equal(await count(), before)
})

t.test('a CSV file follows RFC 4180, has a line for each order, and no note is a formula', async (t) => {
  const product = (await call('GET', '/v1/products?discontinued=false&unitPrice%5Bgte%5D=1&perPage=1')).body.data[0]
  await call('PATCH', `/v1/products/${product.id}`, { unitsInStock: 10 })
  const notes = ['=HYPERLINK("http://evil.example","x")', '+1', '-1', '@SUM(A1)', '\t=1', 'Ring, "twice"\r\nthen wait', 'ñandú']
  for (const note of notes) await ada('POST', '/v1/orders', { items: [{ productId: product.id, quantity: 1 }], note })
  const { file } = await done(t, ada)
  const csv = await ada('GET', file, undefined, { accept: 'text/csv' })
  t.match(csv.headers, {
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': /^attachment; filename="orders-.+\.csv"$/
  })
  const [header, ...lines] = parseCsv(csv.bytes.toString())
  t.strictSame(header, ['id', 'customerId', 'status', 'placedAt', 'shippedAt', 'total', 'currency', 'note'])
  const orders = (await ada('GET', file)).body.data
  t.strictSame(
    lines.map((line) => line.slice(0, 7)),
    orders.map((order: Record<string, string>) => header?.slice(0, 7).map((name) => order[name] ?? ''))
  )
  t.strictSame(
    lines.slice(0, 7).map((line) => line[7]),
    notes.toReversed().map((note) => (/^[=+\-@\t]/.test(note) ? `'${note}` : note))
  )
  t.equal((await ada('GET', file, undefined, { accept: 'image/png' })).status, 406)
})

t.test('a cancelled export stops, stays cancelled and leaves no file; a finished export cannot be cancelled [204, 409]', async (t) => {
  const { url } = await done(t, call)
  t.match(await call('DELETE', url), { status: 409, body: { error: { code: 'JOB_ALREADY_OVER' } } })
  // Repeats until an export is still queued or running.
  for (;;) {
    const started = await Promise.all(Array.from({ length: 6 }, () => call('POST', '/v1/order-exports', {})))
    const last = path(started.at(-1)?.headers['location'])
    const { status } = await call('DELETE', last)
    if (status === 409) continue
    t.strictSame([status, (await call('DELETE', last)).status], [204, 204])
    t.match(await statusOf(call, last), { status: 'cancelled', links: [{ rel: 'status' }] })
    return
  }
})

t.test('an export that is cancelled while it runs releases its worker and stays cancelled', async (t) => {
  const { call } = await startService(t, { seedOrders: 3000 })
  // Repeats until an export is seen running and is still running when it is cancelled.
  for (let isStopped = false; !isStopped; ) {
    const url = path((await call('POST', '/v1/order-exports', {})).headers['location'])
    let status = 'queued'
    while (status === 'queued') ({ status } = (await call('GET', url)).body.data)
    isStopped = status === 'processing' && (await call('DELETE', url)).status === 204
    if (!isStopped) continue
    // Its worker starts another export only after it has released this one.
    await Promise.all([done(t, call), done(t, call)])
    t.equal((await call('GET', url)).body.data.status, 'cancelled')
  }
})

t.test('a retry with the same key returns the same export', async (t) => {
  const request = ['POST', '/v1/order-exports', { status: 'paid' }, { 'idempotency-key': 'once' }] as const
  const [first, second] = [await call(...request), await call(...request)]
  t.equal(second.body.data.jobId, first.body.data.jobId)
  t.equal(second.headers['location'], first.headers['location'])
})

/** Parses CSV as defined in RFC 4180. */
function parseCsv(text: string): string[][] {
  const lines: string[][] = [[]]
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    if (quoted === undefined && plain === '' && end === '') break
    lines.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '')
    if (end === '\r\n') lines.push([])
  }
  return lines.filter((line) => line.length > 0)
}
