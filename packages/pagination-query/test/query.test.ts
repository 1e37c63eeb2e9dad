import { connect } from 'node:net'
import paginationQuery from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { publish } from '@concordat/plugin-kit/wiring'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t from 'tap'
import { cursorOrders, get, Order, ordersApp, rows } from './orders.ts'

const app = await ordersApp()
const id = (rows[3] as { id: string }).id

const byId = (a: { id: string } | undefined, b: { id: string } | undefined) => (String(a?.id) < String(b?.id) ? -1 : 1)

t.test('filters by field and operator, combined, in any order, with or without percent-encoding [Q5] [Q6]', async (t) => {
  for (const [query, expected] of [
    ['', rows],
    ['?', rows],
    ['?&&', rows],
    ['?status=paid', rows.filter(({ status }) => status === 'paid')],
    ['?status[eq]=paid', rows.filter(({ status }) => status === 'paid')],
    ['?status%5Bne%5D=paid', rows.filter(({ status }) => status !== 'paid')],
    ['?st%61tus[in]=paid,pending', rows.filter(({ status }) => status !== 'shipped')],
    ['?status[in]=paid&status[in]=pending,paid', rows.filter(({ status }) => status !== 'shipped')],
    ['?status[nin]=paid%2Cpending', rows.filter(({ status }) => status === 'shipped')],
    ['?total=1.5', rows.filter(({ total }) => total === '1.50')],
    ['?total[gte]=1.50&total[lt]=3.5&urgent=true', rows.filter(({ total, urgent }) => /^[12]/.test(total) && urgent)],
    ['?total[gte]=5&total[lt]=1', []],
    ['?quantity[gt]=5&quantity[lte]=7', rows.filter(({ quantity }) => quantity === 6 || quantity === 7)],
    ['?quantity[in]=1,2,-0', rows.filter(({ quantity }) => quantity <= 2)],
    ['?urgent=false', rows.filter(({ urgent }) => !urgent)],
    ['?urgent[ne]=false', rows.filter(({ urgent }) => urgent)],
    [
      '?placedAt[gt]=2026-01-02T10:00:00Z&placedAt[lte]=2026-01-02T11:00:00.000001%2B01:00',
      rows.filter(({ placedAt }) => placedAt === '2026-01-02T10:00:00.000001Z')
    ],
    ['?dueOn=2026-02-03', rows.filter(({ dueOn }) => dueOn === '2026-02-03')],
    ['?dueOn[null]=true', rows.filter(({ dueOn }) => dueOn === undefined)],
    ['?dueOn[null]=false&urgent=true', rows.filter(({ dueOn, urgent }) => dueOn !== undefined && urgent)],
    ['?title=Order+3', rows.filter(({ title }) => title === 'Order 3')],
    ['?title=Order%203', rows.filter(({ title }) => title === 'Order 3')],
    ['?title[prefix]=Order+1', rows.filter(({ title }) => title.startsWith('Order 1'))],
    ['?title=', []],
    ['?title', []],
    ['?title=null', []],
    ['?title=a=b', []],
    ['?title=Order%203,Order%204', []],
    [`?id=${id.toUpperCase()}`, [rows[3]]]
  ] as const) {
    const response = await get(app, `/paged${query}${query === '' ? '?' : '&'}perPage=100&sort=id`)
    t.equal(response.status, 200, query)
    t.strictSame(response.rows, [...expected].sort(byId), query)
  }
})

t.test('reads a comma and a backslash in a list if a backslash escapes them [Q6]', async (t) => {
  const list = [
    ...rows.slice(0, 2),
    { ...rows[2], title: 'a,b' },
    { ...rows[3], title: 'a\\b' },
    { ...rows[4], title: 'a\\,b' }
  ] as typeof rows
  const own = await ordersApp({}, () => list)
  const titles = async (query: string) => (await get(own, `/paged?sort=id&title[in]=${query}`)).rows.map(({ title }) => title).sort()
  t.strictSame(await titles('a\\,b'), ['a,b'])
  t.strictSame(await titles('a%5C%2Cb,Order 0'.replace(' ', '%20')), ['Order 0', 'a,b'])
  t.strictSame(await titles('a%5C%5Cb'), ['a\\b'])
  t.strictSame(await titles('a%5Cb'), ['a\\b'], 'a backslash before any other character is literal')
  t.strictSame(await titles('a%5C%5C%5C,b,a\\,b'), ['a,b', 'a\\,b'])
  t.strictSame(await titles('x%5C&title[in]=a%5C%5C&title[in]=a\\,b'), ['a,b'], 'a backslash at the end of a part is literal')
})

t.test('sorts ascending and descending, by declared combinations, and puts null last when ascending [Q3]', async (t) => {
  const first = async (sort: string) => (await get(app, `/paged?perPage=100&sort=${sort}`)).rows
  const byTotal = await first('-total')
  t.equal(byTotal[0]?.total, '4.50')
  t.equal(byTotal.at(-1)?.total, '0.50')
  const equal = byTotal.filter(({ total }) => total === '4.50').map((row) => row.id)
  t.strictSame(equal, equal.toSorted().toReversed(), 'the identifier breaks ties, in the direction of the last key')
  t.equal((await first('dueOn')).at(-1)?.dueOn, undefined)
  t.equal((await first('-dueOn'))[0]?.dueOn, undefined)
  const combined = await first('status,-placedAt')
  t.strictSame(
    combined.map(({ status }) => status),
    combined.map(({ status }) => status).sort()
  )
  t.strictSame(await first('status&sort=-placedAt'), combined, 'a repeated list is a single list')
  t.strictSame((await get(app, '/paged?perPage=100')).rows, await first('-placedAt'), 'the default order')
})

t.test('omits a sort key that a filter sets to a single value, because it would keep an index from serving the rest', async (t) => {
  const own = await ordersApp()
  let fields: string[] = []
  own.get('/keys', { config: { collection: cursorOrders }, schema: { response: { 200: Type.Array(Order) } } }, async (request, reply) => {
    const query = request.listQuery(cursorOrders)
    fields = query.order.map(({ field }) => field)
    return reply.page(runArray(rows, query))
  })
  const keysOf = async (query: string) => {
    await own.inject(`/keys?${query}`)
    return fields
  }
  t.strictSame(await keysOf('sort=status,-placedAt'), ['status', 'placedAt', 'id'])
  t.strictSame(await keysOf('sort=status,-placedAt&status=paid'), ['placedAt', 'id'])
  t.strictSame(await keysOf('sort=status,-placedAt&status[ne]=paid'), ['status', 'placedAt', 'id'])
  t.strictSame(await keysOf(`sort=id&id=${rows[0]?.id}`), ['id'], 'keeps the identifier')
  const paid = await get(own, '/orders?sort=status,-placedAt&status=paid&perPage=3')
  const next = await get(own, paid.links['next'] as string)
  t.strictSame([...paid.rows, ...next.rows], (await get(own, '/orders?sort=-placedAt&status=paid&perPage=6')).rows)
})

t.test('returns the requested fields and always the identifier [Q4]', async (t) => {
  const keys = async (query: string) => Object.keys((await get(app, `/paged?perPage=1&sort=id${query}`)).rows[0] ?? {})
  t.strictSame(await keys('&fields=total'), ['id', 'total'])
  t.strictSame(await keys('&fields=id'), ['id'])
  t.strictSame(await keys('&fields=total,id&fields=status'), ['id', 'status', 'total'])
  t.strictSame(
    (await get(app, '/paged?perPage=1&fields=address')).rows[0]?.address,
    { city: 'Vigo', lines: ['a', 'b'] },
    'nested objects stay complete'
  )
  t.equal((await keys('')).length, 8, 'this row has no date')
  t.strictSame(
    (await get(app, '/paged?perPage=1&sort=-total&fields=note')).rows.map(Object.keys),
    [['id']],
    'the sort key is not required among the fields'
  )
})

t.test('returns 422 with the parameter and an error key for every input that is not declared or not valid [Q11]', async (t) => {
  for (const [query, field, key] of [
    // parameters
    ['pge=2', 'pge', 'unknownParameterNear'],
    ['colour=red', 'colour', 'unknownParameter'],
    ['Status=paid', 'Status', 'unknownParameterNear'],
    ['note=x', 'note', 'unknownParameter'],
    ['address=x', 'address', 'unknownParameter'],
    ['__proto__=1', '__proto__', 'unknownParameter'],
    ['constructor[gte]=1', 'constructor[gte]', 'unknownParameter'],
    ['toString=1', 'toString', 'unknownParameter'],
    ['hasOwnProperty[eq]=1', 'hasOwnProperty[eq]', 'unknownParameter'],
    ['total[foo]=1', 'total[foo]', 'unknownOperator'],
    ['total[__proto__]=1', 'total[__proto__]', 'unknownOperator'],
    ['total[ne]=1', 'total[ne]', 'unknownOperator'],
    ['placedAt=2026-01-01T00:00:00Z', 'placedAt', 'unknownOperator'],
    ['total[gte][x]=1', 'total[gte][x]', 'malformed'],
    ['total[=1', 'total[', 'malformed'],
    ['total[]=1', 'total[]', 'malformed'],
    ['total]=1', 'total]', 'malformed'],
    ['[gte]=1', '[gte]', 'malformed'],
    ['=1', '', 'malformed'],
    ['page[eq]=1', 'page[eq]', 'unknownParameter'],
    // repeated
    ['page=1&page=2', 'page', 'duplicate'],
    ['total[gte]=1&total%5Bgte%5D=1&total[gte]=1', 'total[gte]', 'duplicate'],
    ['total=1&total[eq]=1', 'total[eq]', 'duplicate'],
    ['perPage=1&perPage=1', 'perPage', 'duplicate'],
    // pages
    ...['0', '-1', '1.5', '1e1', '+2', '%202', '', '101', '05', '0x1', '٣', 'NaN', '999999999999999999999'].map(
      (value) => [`perPage=${encodeURI(value)}`, 'perPage', 'notBetween'] as const
    ),
    ...['0', '-1', '1.5', '1e1', '+2', '', 'x', '01'].map((value) => [`page=${value}`, 'page', 'notBetween'] as const),
    ['page=401', 'page', 'pageTooDeep'],
    ['page=101&perPage=100', 'page', 'pageTooDeep'],
    ['page=99999999999999999999', 'page', 'pageTooDeep'],
    ['after=x', 'after', 'wrongStyle'],
    ['offset=1', 'offset', 'wrongStyle'],
    ['limit=1', 'limit', 'wrongStyle'],
    // sort and fields
    ...[
      '',
      'total,,id',
      '+total',
      '%2Btotal',
      '--total',
      '-',
      'note',
      'nothing',
      'total,-total',
      'total,total',
      'total,id',
      'status',
      '-status,placedAt',
      'placedAt,status',
      '__proto__',
      'TOTAL'
    ].map((value) => [`sort=${value}`, 'sort', 'unsupportedSort'] as const),
    ...['', 'id,,total', 'nothing', '-total', '__proto__', 'ID', ' id'].map(
      (value) => [`fields=${encodeURI(value)}`, 'fields', 'unknownField'] as const
    ),
    ...['total,total', 'id,total,id', 'total&fields=total'].map((value) => [`fields=${value}`, 'fields', 'repeatedField'] as const),
    [`fields=${Array(101).fill('total').join()}`, 'fields', 'tooManyItems'],
    [`fields=${Array(51).fill('total').join()}&fields=${Array(50).fill('total').join()}`, 'fields', 'tooManyItems'],
    // values
    ...['', '1e5', '1.', '.5', '+1', '%201', '1,5', '0x10', 'NaN', 'Infinity', '1'.repeat(31), `1.${'1'.repeat(31)}`, '--1'].map(
      (value) => [`total=${value}`, 'total', 'notDecimal'] as const
    ),
    ...[
      '',
      '1.0',
      '1e3',
      '007',
      '-01',
      '+1',
      'Infinity',
      '9223372036854775808',
      '-9223372036854775809',
      '12345678901234567890',
      '0x1',
      '%091'
    ].map((value) => [`quantity=${value}`, 'quantity', 'notInteger'] as const),
    ...['', '1', 'TRUE', 'yes', 'null'].map((value) => [`urgent=${value}`, 'urgent', 'notOneOf'] as const),
    ...['', 'PAID', 'paid ', 'lost'].map((value) => [`status=${encodeURI(value)}`, 'status', 'notOneOf'] as const),
    ...['', 'x', id.slice(1), `urn:uuid:${id}`, `{${id}}`, `${id}0`].map((value) => [`id=${encodeURI(value)}`, 'id', 'notUuid'] as const),
    ...[
      '',
      '2026-02-29',
      '2026-13-01',
      '2026-00-10',
      '2026-01-00',
      '0000-01-01',
      '2026-1-1',
      '26-01-01',
      '2026-01-01T00:00:00Z',
      'today'
    ].map((value) => [`dueOn=${value}`, 'dueOn', 'notDate'] as const),
    ...[
      '',
      '2026-01-01',
      '2026-01-01T00:00:00',
      '2026-01-01T24:00:00Z',
      '2026-01-01T00:60:00Z',
      '2026-01-01T00:00:60Z',
      '2026-02-30T00:00:00Z',
      '2026-01-01T00:00:00.1234567Z',
      '2026-01-01T00:00:00+02:00',
      '2026-01-01T00:00:00%2B16:00',
      '2026-01-01t00:00:00z',
      '2026-01-01%2000:00:00Z',
      '0000-01-01T00:00:00Z',
      '1767225600'
    ].map((value) => [`placedAt[gt]=${value}`, 'placedAt[gt]', 'notDateTime'] as const),
    ['title=a%00b', 'title', 'hasNul'],
    [`title=${'x'.repeat(41)}`, 'title', 'tooLong'],
    [`title[prefix]=${'x'.repeat(41)}`, 'title[prefix]', 'tooLong'],
    [`title=${encodeURIComponent('😀'.repeat(41))}`, 'title', 'tooLong'],
    ['dueOn[null]=', 'dueOn[null]', 'notOneOf'],
    ['dueOn[null]=1', 'dueOn[null]', 'notOneOf'],
    ['status[in]=', 'status[in]', 'emptyItem'],
    ['status[in]=paid,,pending', 'status[in]', 'emptyItem'],
    ['status[in]=paid&status[in]=', 'status[in]', 'emptyItem'],
    ['status[in]=paid,lost', 'status[in]', 'notOneOf'],
    ['status[in]=paid\\,pending', 'status[in]', 'notOneOf'],
    [`title[in]=${Array.from({ length: 101 }, () => 'a').join()}`, 'title[in]', 'tooManyItems'],
    [`title=${'x'.repeat(4091)}`, 'query', 'queryTooLong']
  ] as const) {
    const response = await get(app, `/paged?${query}`)
    t.strictSame([response.status, response.code, response.errors], [422, 'INVALID_QUERY_PARAMETERS', { [field]: key }], query.slice(0, 80))
  }
})

t.test('returns 400 for a query that is not percent-encoded UTF-8, whatever else is invalid', async (t) => {
  for (const query of ['%E0%A4%A=1', '%ff=1', 'title=%ff', 'title=%ED%A0%80', 'title=%', 'title=%zz', 'pge=2&title=%C0%80', 'x&y=+%f0%90'])
    for (const path of ['/paged', '/orders']) {
      const response = await get(app, `${path}?${query}`)
      t.strictSame([response.status, response.code], [400, 'MALFORMED_URI'], `${path} ${query}`)
    }
})

t.test('accepts values at each limit', async (t) => {
  for (const query of [
    'perPage=100&page=100',
    'page=400',
    'quantity=9223372036854775807',
    'quantity=-9223372036854775808',
    `total=-${'1'.repeat(30)}.${'1'.repeat(30)}`,
    `title=${encodeURIComponent('😀'.repeat(40))}`,
    `title[in]=${Array.from({ length: 100 }, (_, index) => index).join()}`,
    'dueOn=2028-02-29',
    'dueOn=2000-02-29',
    'placedAt[gt]=2026-12-31T23:59:59.123456-15:59'
  ]) {
    t.equal((await get(app, `/paged?${query}`)).status, 200, query.slice(0, 60))
  }
})

t.test('lists all errors in a single response, sorted, each by the name as sent', async (t) => {
  const { messages, errors, status } = await get(
    app,
    '/paged?perPage=0&pge=1&total[gte]=x&page=0&sort=x&fields=y&status=z&b%00%E2%80%A8c=1'
  )
  t.equal(status, 422)
  t.strictSame(Object.keys(errors), ['b\uFFFD\uFFFDc', 'fields', 'page', 'perPage', 'pge', 'sort', 'status', 'total[gte]'])
  t.equal(messages['perPage'], 'must be an integer between 1 and 100, written in digits')
  t.equal(messages['page'], 'must be an integer between 1 and 10000, written in digits')
  t.equal(messages['pge'], 'is not a known parameter; did you mean page?')
  t.equal(messages['status'], 'must be one of: pending, paid, shipped')
  t.equal(
    messages['sort'],
    'must be one of these sort orders: placedAt; -placedAt; total; -total; dueOn; -dueOn; id; -id; status,-placedAt'
  )
  t.match(messages['fields'], /^must list only these fields: id, status, total, quantity/)
  t.equal((await get(app, '/paged?total[between]=1')).messages['total[between]'], 'must use one of these operators: eq, gt, gte, lt, lte')
  t.equal((await get(app, '/paged?page=500')).messages['page'], 'must not go beyond item 10000; filter the collection instead')
})

t.test('repeats only parts of parameter names in a response, and never the values', async (t) => {
  const long = await get(app, `/paged?${'n'.repeat(3000)}=secret-value`)
  t.strictSame(Object.keys(long.errors), [`${'n'.repeat(99)}…`])
  const emoji = await get(app, `/paged?${'n'.repeat(98)}${encodeURIComponent('😀😀')}=1`)
  t.strictSame(Object.keys(emoji.errors), [`${'n'.repeat(98)}…`], 'does not cut a character in half')
  const response = await app.inject('/paged?status=secret-value&total=secret-value&x=secret-value')
  t.notMatch(response.body, /secret-value/)
  const many = await app.inject(`/paged?${Array.from({ length: 700 }, (_, index) => `p${index}`).join('&')}`)
  t.equal(many.json().errors.length, 100)
  t.ok(many.json().message.length < 400)
})

const conditions = (count: number) =>
  [
    'total=1',
    'total[gt]=1',
    'total[gte]=1',
    'total[lt]=1',
    'total[lte]=1',
    'quantity=1',
    'quantity[ne]=1',
    'quantity[gt]=1',
    'quantity[gte]=1',
    'quantity[lt]=1',
    'quantity[lte]=1',
    'quantity[in]=1',
    'quantity[nin]=1',
    'urgent=true',
    'urgent[ne]=true',
    'status=paid',
    'status[ne]=paid',
    'status[in]=paid',
    'status[nin]=paid',
    'placedAt[gt]=2026-01-01T00:00:00Z',
    'title=x',
    'title[ne]=x'
  ]
    .slice(0, count)
    .join('&')

t.test('accepts at most 20 conditions', async (t) => {
  t.equal((await get(app, `/paged?${conditions(20)}`)).status, 200)
  t.strictSame((await get(app, `/paged?${conditions(21)}`)).errors, { title: 'tooManyConditions' })
  t.strictSame((await get(app, `/paged?${conditions(22)}`)).errors, { title: 'tooManyConditions' }, 'reports it once')
})

const titles = (count: number) => `title[in]=${Array.from({ length: count }, (_, index) => index + '[]'.repeat(15)).join()}`

t.test('rejects a query as too long if its links would be too long', async (t) => {
  t.ok(titles(99).length < 4096)
  t.strictSame((await get(app, `/paged?${titles(99)}`)).errors, { query: 'queryTooLong' })
  t.equal((await get(app, `/paged?${titles(40)}`)).status, 200)
})

t.test('no query changes Object.prototype', async (t) => {
  const before = Object.getOwnPropertyNames(Object.prototype)
  for (const query of ['__proto__[x]=1', '__proto__=1', 'constructor[prototype]=1', 'fields=__proto__', 'sort=__proto__']) {
    t.equal((await get(app, `/paged?${query}`)).status, 422)
  }
  t.strictSame(Object.getOwnPropertyNames(Object.prototype), before)
  t.equal(({} as Record<string, unknown>)['x'], undefined)
})

t.test('reads the query of HEAD like the query of GET', async (t) => {
  t.equal((await app.inject({ method: 'HEAD', url: '/paged?perPage=1' })).statusCode, 200)
  t.equal((await app.inject({ method: 'HEAD', url: '/paged?perPage=0' })).statusCode, 422)
})

t.test('starts the query at the same character as the router', async (t) => {
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const send = async (target: string) => {
    const socket = connect((app.server.address() as { port: number }).port, '127.0.0.1')
    socket.end(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`, 'latin1')
    let response = ''
    for await (const chunk of socket) response += chunk
    return response
  }
  t.match(await send('/paged#perPage=1'), /^HTTP\/1.1 200[^]*"id"/)
  t.match(await send('/paged#pge=1'), /^HTTP\/1.1 422[^]*"query\.pge"/)
  t.match(await send('/paged?pge=1#x'), /^HTTP\/1.1 422[^]*"query\.pge"/)
  t.match(await send('http://evil.example/paged?perPage=1'), /^HTTP\/1.1 200[^]*"id"/)
  t.notMatch(await send('http://evil.example/paged?perPage=1'), /evil/)

  const semicolons = await ordersApp({}, undefined, { routerOptions: { useSemicolonDelimiter: true } })
  t.equal((await get(semicolons, '/paged;perPage=0')).status, 422)
  t.equal((await get(semicolons, '/paged?title=a;b')).status, 200)
  t.equal((await get(app, '/paged?title=a;b')).status, 200)
})

t.test('routes of an API without a collection refuse parameters that their schema does not declare [Q11]', async (t) => {
  const app = Fastify()
  await app.register(paginationQuery)
  const outside = '/pages'
  const text = { type: 'object', properties: { search: { type: 'string' } } }
  app.addSchema({ ...text, $id: 'shared' })
  const routes: Record<string, object | undefined> = {
    '/things/:id': undefined,
    '/empty': { type: 'object' },
    '/search': text,
    '/shared': { $ref: 'shared#' },
    '/open': { ...text, additionalProperties: true },
    '/patterns': { ...text, patternProperties: { '^x-': { type: 'string' } } },
    [outside]: undefined
  }
  app.get('/before', async () => 'x')
  publish(app, { belongsToApi: (_app, { url }) => url !== outside })
  for (const [url, querystring] of Object.entries(routes)) app.get(url, querystring ? { schema: { querystring } } : {}, async () => 'x')
  for (const [url, fields] of [
    ['/things/1?fields=name&fields=id&%C3%B1', { fields: 'unknownParameter', ñ: 'unknownParameter' }],
    ['/empty?x', { x: 'unknownParameter' }],
    ['/search?serach=a', { serach: 'unknownParameterNear' }],
    ['/shared?search=a&x=1', { x: 'unknownParameter' }]
  ] as const) {
    const { statusCode, code, errors } = (await app.inject(url)).json()
    t.match([statusCode, code], [422, 'INVALID_QUERY_PARAMETERS'], url)
    if (errors) t.strictSame(Object.fromEntries(errors.map(({ field, key }: Record<string, string>) => [field, key])), fields)
  }
  for (const url of [
    '/things/1',
    '/things/1?',
    '/search?search=a',
    '/shared?search=a',
    '/open?x=1',
    '/patterns?x-a=1',
    '/pages?x=1',
    '/before?x=1'
  ])
    t.equal((await app.inject(url)).statusCode, 200, url)
})
