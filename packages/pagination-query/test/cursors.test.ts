import { createHash, createHmac, hkdfSync } from 'node:crypto'
import { collection, type PaginationQueryOptions } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { movedDate } from '@concordat/test-harness/moved-date'
import { type TObject, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { cursorOrders, get, Order, ordersApp, type ReceivedResponse, rows, secret } from './orders.ts'

const other = 'Zq8Lw2Xe5Rt9Yu3Io7Pa1Sd4Fg6Hj0Kc'
const ids = (response: { rows: readonly { id: string }[] }) => response.rows.map(({ id }) => id)
const follow = (app: FastifyInstance, { links }: ReceivedResponse, rel: string) => get(app, links[rel] as string)
const cursorOf = ({ links }: ReceivedResponse, rel: string) =>
  new URLSearchParams((links[rel] as string).split('?')[1]).get('after') as string
const numberOf = ({ pagination }: ReceivedResponse) => pagination['page']
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const without = (...gone: string[]) => rows.filter(({ id }) => !gone.includes(id))
const linkOf = ({ headers }: ReceivedResponse, rel: string) =>
  (new RegExp(`<https://api.example.com([^>]+)>; rel="${rel}"`).exec(String(headers['link'])) ?? [])[1] as string
const payloadOf = (cursor: string) => Buffer.from(cursor, 'base64url').toString('utf8', 18)

const derived = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, '', `concordat cursor ${purpose}`, 32))

/** Returns a cursor with this payload, signed with the secret of the service. */
function signed(payload: string) {
  const head = Buffer.from([1, createHash('sha256').update(derived('id')).digest()[0] as number])
  const tag = createHmac('sha256', derived('signing')).update(head).update(payload).digest().subarray(0, 16)
  return Buffer.concat([head, tag, Buffer.from(payload)]).toString('base64url')
}

const app = await ordersApp()

t.test('links lead through the whole list, to its end and back, in any order [Q2] [E2]', async (t) => {
  for (const sort of ['placedAt', '-placedAt', 'total', '-total', 'dueOn', '-dueOn', 'id', '-id', 'status,-placedAt']) {
    const query = `sort=${sort}&fields=total&quantity[gte]=2`
    const all = ids(await get(app, `/orders?${query}&perPage=100`))
    t.equal(all.length, 21)
    for (const perPage of [1, 4, 7, 20]) {
      const forward: string[][] = []
      let response = await get(app, `/orders?${query}&perPage=${perPage}`)
      t.notOk('prev' in response.links)
      for (;;) {
        forward.push(ids(response))
        if (response.links['next'] === undefined) break
        response = await follow(app, response, 'next')
      }
      t.strictSame(forward.flat(), all, `${sort} by ${perPage}`)
      const backward = [ids(response)]
      while (response.links['prev'] !== undefined) {
        response = await follow(app, response, 'prev')
        t.ok('next' in response.links)
        backward.push(ids(response))
      }
      t.strictSame(backward.toReversed().flat(), all, `${sort} by ${perPage}, backward`)
      const last = await follow(app, response, 'last')
      t.strictSame(ids(last), all.slice(-perPage))
      t.notOk('next' in last.links)
      t.strictSame(ids(await follow(app, last, 'first')), all.slice(0, perPage))
    }
  }
})

t.test('returns the page size and the total in _meta.pagination [E3]', async (t) => {
  const first = await get(app, '/orders?perPage=10')
  t.strictSame(first.pagination, { page: 1, perPage: 10, totalPages: 3, totalItems: 23 })
  t.strictSame((await follow(app, first, 'next')).pagination, { page: 2, perPage: 10, totalPages: 3, totalItems: 23 })
  t.strictSame(Object.keys((await follow(app, first, 'next')).links), ['first', 'prev', 'next', 'last'])
})

t.test('numbers the pages from the first, and back from the last [E3]', async (t) => {
  for (const [perPage, totalPages] of [
    [1, 23],
    [10, 3],
    [23, 1],
    [100, 1]
  ] as const) {
    const first = await get(app, `/orders?perPage=${perPage}`)
    const pages = await walk(first, 'next')
    t.strictSame(pages.map(numberOf), upTo(totalPages), `forward by ${perPage}`)
    const end = pages.at(-1) as ReceivedResponse
    t.strictSame((await walk(end, 'prev')).map(numberOf), upTo(totalPages).toReversed(), `back by ${perPage}`)
    const last = await follow(app, first, 'last')
    const backward = await walk(last, 'prev')
    t.strictSame(backward.map(numberOf), upTo(totalPages).toReversed(), `from the last by ${perPage}`)
    const beginning = backward.at(-1) as ReceivedResponse
    t.strictSame((await walk(beginning, 'next')).map(numberOf), upTo(totalPages), `and forward again by ${perPage}`)
  }
  t.equal(numberOf(await get(app, `/orders?perPage=20&after=${cursorOf(await get(app, '/orders?perPage=5'), 'next')}`)), 2)

  async function walk(from: ReceivedResponse, rel: string) {
    const pages = [from]
    for (let page = from; page.links[rel] !== undefined; pages.push(page)) page = await follow(app, page, rel)
    return pages
  }
})

t.test('numbers the pages of cursors from before the list was counted: the second from the beginning, or the second to last', async (t) => {
  const first = await get(app, '/orders?perPage=10')
  for (const [page, rel, number] of [
    [first, 'next', 2],
    [await follow(app, first, 'last'), 'prev', 2]
  ] as const) {
    const [flags, fingerprint, issuedAt, , ...key] = JSON.parse(payloadOf(cursorOf(page, rel)))
    const uncounted = signed(JSON.stringify([flags - 4, fingerprint, issuedAt, ...key]))
    const response = await get(app, `/orders?perPage=10&after=${uncounted}`)
    t.strictSame([response.status, numberOf(response)], [200, number])
    t.strictSame(ids(response), ids(await follow(app, page, rel)))
  }
})

t.test('the first and the last page are numbered correctly when rows are added or removed during a walk', async (t) => {
  let present = rows
  const own = await ordersApp({}, () => present)
  const all = ids(await get(own, '/orders?sort=total&perPage=100'))
  const second = await follow(own, await get(own, '/orders?sort=total&perPage=8'), 'next')
  present = without(...all.slice(0, 4))
  const third = await follow(own, second, 'next')
  t.strictSame(third.pagination, { page: 3, perPage: 8, totalPages: 3, totalItems: 19 }, 'the end is certain')
  t.equal(numberOf(await follow(own, third, 'prev')), 2)
  t.equal(numberOf(await follow(own, second, 'prev')), 1, 'and so is the beginning')
  present = without(...all.slice(8))
  t.strictSame((await follow(own, second, 'next')).pagination, { page: 2, perPage: 8, totalPages: 1, totalItems: 8 }, 'an empty page')
})

t.test(
  'a total with a limit numbers the last page by that limit, and pages of a list that is not counted only from the first',
  async (t) => {
    const declared = { style: 'cursor', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] } } as const
    const capped = collection(Order)({ name: 'capped', ...declared, count: { max: 15 } })
    const uncounted = collection(Order)({ name: 'uncounted', ...declared, count: 'none' })
    const own = await ordersApp()
    for (const served of [capped, uncounted]) {
      own.get(
        `/${served.name}`,
        { config: { collection: served }, schema: { response: { 200: Type.Array(Order) } } },
        async (request, reply) => reply.page(runArray(rows, request.listQuery(served)))
      )
    }
    const numbers = async (name: string) => {
      const first = await get(own, `/${name}?perPage=10`)
      const last = await get(own, linkOf(first, 'last'))
      const next = await get(own, linkOf(first, 'next'))
      const before = await get(own, linkOf(last, 'prev'))
      return [first, next, last, before, await get(own, linkOf(before, 'next'))].map(({ pagination }) => pagination)
    }
    const some = { perPage: 10, totalPages: 2, totalItems: 15, totalItemsExact: false }
    t.strictSame(
      await numbers('capped'),
      [1, 2, 2, 1, 2].map((page) => ({ page, ...some }))
    )
    t.strictSame(await numbers('uncounted'), [
      { page: 1, perPage: 10 },
      { page: 2, perPage: 10 },
      { perPage: 10 },
      { perPage: 10 },
      { perPage: 10 }
    ])
  }
)

t.test('accepts a cursor with another size or other fields, and returns 422 with another filter or sort', async (t) => {
  const cursor = cursorOf(await get(app, '/orders?perPage=5&sort=total&status[in]=paid,pending&total[gte]=1'), 'next')
  const same = 'sort=total&status[in]=paid,pending&total[gte]=1'
  t.equal((await get(app, `/orders?perPage=9&fields=id&total[gte]=1&status[in]=pending,paid&sort=total&after=${cursor}`)).status, 200)
  for (const query of [
    '',
    'sort=total',
    same.replace('sort=total', 'sort=-total'),
    same.replace('sort=total', 'sort=placedAt'),
    same.replace('=1', '=2'),
    same.replace('[gte]', '[gt]'),
    same.replace('paid,', ''),
    same.replace('total[gte]', 'quantity[gte]'),
    `${same}&urgent=true`
  ]) {
    const response = await get(app, `/orders?${query}&after=${cursor}`)
    t.strictSame([response.status, response.code, response.errors], [422, 'CURSOR_MISMATCH', { after: 'cursorMismatch' }], query)
  }
})

t.test('returns CURSOR_MISMATCH for a signed cursor of another collection or another scope', async (t) => {
  const own = await ordersApp()
  const scoped = collection(Order)({
    name: 'cursor-orders',
    style: 'cursor',
    id: 'id',
    defaultSort: ['-placedAt'],
    sort: { keys: ['placedAt'] },
    scope: ({ headers }) => String(headers['tenant'])
  })
  const named = collection(Order)({ name: 'named', style: 'cursor', id: 'id', defaultSort: ['-placedAt'], sort: { keys: ['placedAt'] } })
  for (const declared of [scoped, named]) {
    own.get(
      `/${declared === scoped ? 'scoped' : 'named'}`,
      { config: { collection: declared }, schema: { response: { 200: Type.Array(Order) } } },
      async (request, reply) => reply.page(runArray(rows, request.listQuery(declared)))
    )
  }
  const cursor = cursorOf(await get(own, '/orders?perPage=5'), 'next')
  t.equal((await get(own, `/named?after=${cursor}`)).code, 'CURSOR_MISMATCH')
  t.equal((await get(own, `/scoped?after=${cursor}`)).code, 'CURSOR_MISMATCH')
  const call = (url: string, tenant: string) => own.inject({ url, headers: { tenant } })
  const link = /<https:\/\/api.example.com([^>]+)>; rel="next"/.exec(
    String((await call('/scoped?perPage=5', 'a')).headers.link)
  )?.[1] as string
  t.equal((await call(link, 'a')).statusCode, 200)
  t.equal((await call(link, 'b')).json().code, 'CURSOR_MISMATCH')
  t.equal((await call(link, 'a')).statusCode, 200)
})

t.test('cursors remain valid in a release whose resource has one optional field more [Q2]', async (t) => {
  const declaration = {
    name: 'released',
    style: 'cursor',
    id: 'id',
    defaultSort: ['total'],
    sort: { keys: ['total'] },
    filter: { status: true }
  } as const
  const release = async (Resource: TObject) => {
    const own = await ordersApp()
    const served = collection(Resource)(declaration as never)
    own.get('/released', { config: { collection: served }, schema: { response: { 200: Type.Array(Resource) } } }, async (request, reply) =>
      reply.page(runArray(rows, request.listQuery(served)))
    )
    return own
  }
  const first = await release(Order)
  const second = await release(Type.Object({ ...Order.properties, weight: Type.Optional(Type.Number()) }))
  const query = '/released?status[in]=paid,pending&perPage=4'
  const received = await get(first, query)
  const expected = await get(first, linkOf(received, 'next'))
  const upgraded = await get(second, linkOf(received, 'next'))
  t.strictSame([upgraded.status, ids(upgraded), numberOf(upgraded)], [200, ids(expected), 2])
  t.strictSame(ids(await get(first, linkOf(upgraded, 'prev'))), ids(received), 'while both releases run')
})

t.test('returns CURSOR_INVALID for a cursor that is changed, truncated, forged or signed with another secret', async (t) => {
  const cursor = cursorOf(await get(app, '/orders?perPage=5'), 'next')
  const bytes = Buffer.from(cursor, 'base64url')
  const changed = (index: number) => {
    const copy = Buffer.from(bytes)
    copy[index] = (copy[index] as number) ^ 1
    return copy.toString('base64url')
  }
  const forged = cursorOf(await get(await ordersApp({ cursor: { secrets: [other] } }), '/orders?perPage=5'), 'next')
  const samples = [
    ...Array.from(bytes.keys(), changed),
    '',
    'x',
    '!!!',
    'AAAA',
    cursor.slice(0, -1),
    cursor.slice(0, 24),
    cursor.slice(4),
    `${cursor}A`,
    `${cursor}=`,
    `${cursor}%3D`,
    `${cursor}%20`,
    `${cursor}%00`,
    cursor.slice(0, 10) + '+' + cursor.slice(11),
    forged,
    'A'.repeat(1024),
    'A'.repeat(1025),
    'A'.repeat(8000),
    Buffer.from('{"price":1}').toString('base64')
  ]
  for (const sample of samples) {
    const response = await get(app, `/orders?after=${sample}`)
    t.strictSame(
      [response.status, response.code, response.errors],
      [422, 'CURSOR_INVALID', { after: 'cursorInvalid' }],
      sample.slice(0, 60)
    )
  }
  t.strictSame((await get(app, `/orders?after=${cursor}&after=${cursor}`)).errors, { after: 'duplicate' })
  t.strictSame(
    (await get(app, '/orders?after=x&perPage=0')).errors,
    { after: 'cursorInvalid', perPage: 'notBetween' },
    'lists the cursor with the other errors'
  )
  t.equal((await get(app, '/orders?after=x&perPage=0')).code, 'INVALID_QUERY_PARAMETERS')
  t.strictSame((await get(app, '/orders?page=2')).errors, { page: 'wrongStyle' })
})

t.test('accepts cursors of the previous secret while the secret is replaced', async (t) => {
  const before = await ordersApp({ cursor: { secrets: [secret] } })
  const during = await ordersApp({ cursor: { secrets: [other, Buffer.from(secret)] } })
  const after = await ordersApp({ cursor: { secrets: [other] } })
  const old = cursorOf(await get(before, '/orders?perPage=5'), 'next')
  t.equal((await get(during, `/orders?after=${old}`)).status, 200)
  t.equal((await get(after, `/orders?after=${old}`)).code, 'CURSOR_INVALID')
  const fresh = cursorOf(await get(during, '/orders?perPage=5'), 'next')
  t.equal((await get(after, `/orders?after=${fresh}`)).status, 200)
  t.equal((await get(before, `/orders?after=${fresh}`)).code, 'CURSOR_INVALID')
})

t.test('cursors expire after maxAgeSeconds, and the links of a response are stable for a while', async (t) => {
  const clock = movedDate(t, Date.parse('2026-01-01T00:00:00Z'))
  const timed = await ordersApp({ cursor: { secrets: [secret], maxAgeSeconds: 600 } })
  const first = await get(timed, '/orders?perPage=5')
  clock.now += 30_000
  t.strictSame((await get(timed, '/orders?perPage=5')).links, first.links)
  t.equal((await follow(timed, first, 'next')).status, 200)
  clock.now += 569_000
  t.equal((await follow(timed, first, 'next')).status, 200)
  clock.now += 1000
  const late = await follow(timed, first, 'next')
  t.strictSame([late.status, late.code, late.errors], [422, 'CURSOR_EXPIRED', { after: 'cursorExpired' }])
  t.equal(late.messages['after'], 'must not be older than 600 seconds')
  t.equal((await get(timed, `/orders?after=${cursorOf(first, 'next')}&sort=total`)).code, 'CURSOR_EXPIRED')
  t.strictSame((await get(timed, `/orders?after=${cursorOf(first, 'next')}&x=1`)).errors, { after: 'cursorExpired', x: 'unknownParameter' })
  t.strictSame(
    (await get(app, '/orders?perPage=5')).links,
    (await get(app, '/orders?perPage=5')).links,
    'links never change without maxAgeSeconds'
  )
})

t.test('skips no rows and links every page when rows are deleted between two pages', async (t) => {
  let present = rows
  const own = await ordersApp({}, () => present)
  const all = ids(await get(own, '/orders?sort=total&perPage=100'))
  const first = await get(own, '/orders?sort=total&perPage=5')
  present = without(...all.slice(3, 6))
  t.strictSame(ids(await follow(own, first, 'next')), all.slice(6, 11), 'the row of the cursor is deleted')

  present = without(...all.slice(5))
  const empty = await follow(own, first, 'next')
  t.strictSame([empty.status, empty.rows, Object.keys(empty.links)], [200, [], ['first', 'prev', 'last']])
  const back = await follow(own, empty, 'prev')
  t.strictSame(ids(back), all.slice(0, 5), 'the link back from an empty page includes the row of the cursor')
  t.strictSame(Object.keys(back.links), ['first', 'last'])

  present = rows
  const second = await follow(own, first, 'next')
  present = without(...all.slice(0, 5))
  const before = await follow(own, second, 'prev')
  t.strictSame([before.rows, Object.keys(before.links)], [[], ['first', 'next', 'last']])
  const forth = await follow(own, before, 'next')
  t.strictSame(ids(forth), all.slice(5, 10))
  t.strictSame(Object.keys(forth.links), ['first', 'next', 'last'])

  present = []
  const nothing = await get(own, '/orders')
  t.strictSame(
    [nothing.rows, Object.keys(nothing.links), nothing.pagination],
    [[], ['first', 'last'], { page: 1, perPage: 25, totalPages: 0, totalItems: 0 }]
  )
  t.strictSame(Object.keys((await follow(own, nothing, 'last')).links), ['first', 'last'])
})

t.test('returns CURSOR_INVALID for a signed cursor whose values do not fit the order, as after a change of the schema', async (t) => {
  const cursor = cursorOf(await get(app, '/orders?perPage=5&sort=dueOn'), 'next')
  const [withNumber, fingerprint, , before, date, id] = JSON.parse(payloadOf(cursor))
  const flags = withNumber - 4
  const codeFor = async (payload: unknown) => (await get(app, `/orders?sort=dueOn&after=${signed(JSON.stringify(payload))}`)).code ?? 'none'
  t.equal(await codeFor([flags, fingerprint, 0, date, id]), 'none')
  t.equal(await codeFor([flags, fingerprint, 0, null, id]), 'none', 'accepts null for a nullable field')
  t.equal(await codeFor([withNumber, fingerprint, 0, before, date, id]), 'none')
  t.equal(await codeFor([1, fingerprint, 0]), 'none', 'accepts the end of the list')
  for (const key of [[date, null], [date], [date, id, id], ['2026-02-30', id], ["'; drop table orders", id], [date, 'x']])
    t.equal(await codeFor([flags, fingerprint, 0, ...key]), 'CURSOR_INVALID', JSON.stringify(key))
})

t.test('accepts cursors with a value of every kind, in the notation of databases', async (t) => {
  const Row = Type.Object({
    id: Type.String({ format: 'uuid' }),
    integer: Type.Integer(),
    decimal: Type.Number(),
    boolean: Type.Boolean(),
    date: Type.String({ format: 'date' }),
    time: Type.String({ format: 'date-time' }),
    text: Type.String({ maxLength: 20 }),
    choice: Type.Union([Type.Literal('a'), Type.Literal('b')])
  })
  const kinds = collection(Row)({
    name: 'kinds',
    style: 'cursor',
    id: 'id',
    defaultSort: ['integer'],
    sort: { keys: ['integer', 'decimal', 'boolean', 'date', 'time', 'text', 'choice'] }
  })
  const own = await ordersApp()
  let key: string[] = []
  own.get('/kinds', { config: { collection: kinds }, schema: { response: { 200: Type.Array(Row) } } }, async (request, reply) => {
    request.listQuery(kinds)
    return reply.page({ rows: [], first: key, last: key, hasMore: true, total: { items: 1, exact: true } })
  })
  const id = (rows[0] as Order).id
  const accepted = async (sort: string, value: string) => {
    key = [value, id]
    return (await follow(own, await get(own, `/kinds?sort=${sort}`), 'next')).status === 200
  }
  const refused = async (sort: string, from: string, value: string) => {
    key = [from, id]
    const { links } = await get(own, `/kinds?sort=${sort}`)
    const [start, after = ''] = (links['next'] as string).split('after=')
    const changed = payloadOf(after).replace(JSON.stringify(from), () => JSON.stringify(value))
    const { status, code } = await get(own, `${start}after=${signed(changed)}`)
    return status === 422 && code === 'CURSOR_INVALID'
  }
  for (const [sort, good, bad] of [
    ['integer', ['0', '-9223372036854775808', '9223372036854775807'], ['9223372036854775808', '1.0', '', '1e3']],
    ['decimal', ['0', '-1.50', '1e+20', '1.5e-07', 'NaN', 'Infinity', '-Infinity', '9'.repeat(100)], ['', '.5', '1,5', 'nan', '--1']],
    ['boolean', ['true', 'false', 't', 'f'], ['', 'TRUE', '1']],
    ['date', ['2026-01-31', '0044-03-15 BC', 'infinity', '-infinity', '12026-01-01'], ['', '2026-02-30', '31/01/2026']],
    [
      'time',
      [
        '2026-01-31T10:00:00.123456Z',
        '2026-01-31 10:00:00.1+00',
        '2026-01-31 10:00:00',
        '0044-03-15T00:00:00 BCZ',
        '2026-01-31 10:00:00+05:30:10',
        'infinity'
      ],
      ['', '2026-02-30T00:00:00Z', 'now', '2026-01-31T25:00:00Z']
    ],
    ['text', ["'", '', 'é', '😀'], ['a\u0000b']],
    ['choice', ['a', 'c'], ['\u0000']]
  ] as const) {
    for (const value of good) t.ok(await accepted(sort, value), `${sort} ${value}`)
    for (const value of bad) t.ok(await refused(sort, good[0], value), `${sort} ${value}`)
  }
  key = ['x'.repeat(900), id]
  const long = await own.inject('/kinds?sort=text')
  t.equal(long.statusCode, 500, 'returns 500 for a row that exceeds the maxLength of the schema')
})

const nextOf = (header: unknown) => /<https:\/\/api.example.com([^>]+)>; rel="next"/.exec(String(header))?.[1] as string

t.test('encrypts the values in cursors of a collection with readable', async (t) => {
  const Secret = Type.Object({ id: Type.String({ format: 'uuid' }), 'pay-rate': Type.Integer(), name: Type.String({ maxLength: 20 }) })
  const people = collection(Secret)({
    name: 'people',
    style: 'cursor',
    id: 'id',
    defaultSort: ['-pay-rate'],
    sort: { keys: ['pay-rate', 'name'] },
    filter: { 'pay-rate': ['gte'], name: ['eq'] },
    readable: ({ headers }, field) => headers['role'] === 'boss' || field !== 'pay-rate'
  })
  const staff = rows.map(({ id }, index) => ({ id, 'pay-rate': 77_000 + index, name: `N${index}` }))
  const options: Partial<PaginationQueryOptions> = { cursor: { secrets: [secret, other] } }
  const own = await ordersApp(options)
  own.get('/people', { config: { collection: people }, schema: { response: { 200: Type.Array(Secret) } } }, async (request, reply) =>
    reply.page(runArray(staff, request.listQuery(people)))
  )
  const call = (url: string, role: string) => own.inject({ url, headers: { role } })
  const response = await call('/people?perPage=5', 'guest')
  t.strictSame(Object.keys(response.json()[0]), ['id', 'name'], 'omits hidden fields from rows')
  const next = nextOf(response.headers.link)
  t.notMatch(payloadOf(next.split('after=')[1] as string), /77|N1/)
  t.equal((await call(next, 'guest')).json()[0].name, 'N17', 'continues in the hidden default order')
  t.equal((await call(next, 'boss')).statusCode, 200)
  t.equal((await call('/people?perPage=5', 'guest')).headers.link, response.headers.link, 'returns the same links each time')

  const cursor = Buffer.from(next.split('after=')[1] as string, 'base64url')
  for (const index of cursor.keys()) {
    const copy = Buffer.from(cursor)
    copy[index] = (copy[index] as number) ^ 1
    t.equal((await call(`/people?after=${copy.toString('base64url')}`, 'guest')).json().code, 'CURSOR_INVALID')
  }
  t.equal((await call(`/people?after=${cursor.subarray(0, 30).toString('base64url')}`, 'guest')).json().code, 'CURSOR_INVALID')

  // A hidden field gives the same response as a field that does not exist.
  for (const [hidden, unknown] of [
    ['pay-rate[gte]=1', 'pay-rite[gte]=1'],
    ['pay-rate=1', 'pay-rite=1'],
    ['pay-rate[foo]=1', 'pay-rite[foo]=1'],
    ['sort=pay-rate', 'sort=pay-rite'],
    ['sort=-pay-rate', 'sort=-pay-rite'],
    ['fields=pay-rate', 'fields=pay-rite']
  ] as const) {
    const [one, two] = [await call(`/people?${hidden}`, 'guest'), await call(`/people?${unknown}`, 'guest')]
    t.equal(one.statusCode, 422)
    t.equal(one.body.replaceAll('pay-rate', 'pay-rite'), two.body, hidden)
    const allowed = `/people?${hidden.replace('[foo]', '[gte]').replace('pay-rate=1', 'pay-rate[gte]=1')}`
    t.equal((await call(allowed, 'boss')).statusCode, 200)
    t.equal((await call(allowed, 'boss')).statusCode, 200)
    t.equal((await call(allowed, 'guest')).statusCode, 422, 'also if the plan of another client is cached')
  }
  t.notMatch((await call('/people?pay-rat[gte]=1&sort=x&fields=x', 'guest')).body, /pay-rate/, 'never suggests a hidden field')
  t.match((await call('/people?pay-rat[gte]=1', 'boss')).body, /pay-rate\[gte\]/)
})

t.test('accepts a cursor from another process with the same secret', async (t) => {
  const cursor = cursorOf(await get(app, '/orders?perPage=5'), 'next')
  const elsewhere = await ordersApp()
  t.strictSame(ids(await get(elsewhere, `/orders?perPage=5&after=${cursor}`)), ids(await get(app, `/orders?perPage=5&after=${cursor}`)))
  t.ok(cursor.length < 200)
  t.ok(Buffer.from(cursor, 'base64url').indexOf('[4,"') >= 2 + 12, 'the tag has at least 96 bits')
  t.equal(cursorOrders.defaultSort, '-placedAt')
})
