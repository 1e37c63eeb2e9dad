import conventions, { serverOptions, webhookRoutes } from '@concordat/conventions'
import { movedDate } from '@concordat/test-harness/moved-date'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t from 'tap'

const noon = Date.UTC(2026, 2, 1, 12)
const released = noon - 3_600_000
const dateOf = (time: number) => new Date(time).toUTCString()
const Product = Type.Object({ id: Type.String(), name: Type.String(), updatedAt: Type.String({ format: 'date-time' }) })
const events = { 'order.created': { description: 'An order was placed.', schema: { type: 'object' }, example: {} } }

/** A service on the preset, with a clock that tests set and a product that changes when they say so. */
async function service() {
  const state = Object.assign(movedDate(t, noon + 5000), { updatedAt: noon })
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://shop.example',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false,
    conditionalCaching: { representationChangedAt: new Date(released) },
    idempotency: { scope: () => 'everyone' },
    paginationQuery: { cursor: { secrets: ['fJ2mYp7Qw4Zt9LxN8vBc3KdR6sHg1TaE'] } },
    webhooks: { events, mayReceive: 'everyone', worker: false }
  })
  const product = () => ({ id: '1', name: 'Chai '.repeat(500), updatedAt: new Date(state.updatedAt).toISOString() })
  const validator = () => ({ exists: true, etag: state.updatedAt, lastModified: new Date(state.updatedAt) })
  await app.apiVersion(1, async (v1) => {
    v1.get('/products/:id', { config: { validator }, schema: { response: { 200: Product } } }, async () => product())
    const config = { validator, idempotency: 'accepted', waivers: { U13: 'What the body says does not matter here.' } } as const
    v1.patch('/products/:id', { config, schema: { response: { 200: Product } } }, async (_request, reply) => {
      state.updatedAt = state.now
      return reply.entityTag(state.updatedAt).header('last-modified', dateOf(state.updatedAt)).send(product())
    })
    v1.batch('/product-batches', { paths: ['/products'], config: { idempotency: 'off' } })
    await v1.register(webhookRoutes, { owner: () => 'ada' })
  })
  const call = async (method: 'GET' | 'HEAD' | 'POST' | 'PATCH', url: string, headers: Record<string, string> = {}, payload?: object) => {
    const response = await app.inject({ method, url, headers, ...(payload && { payload }) })
    return { status: response.statusCode, headers: response.headers, date: response.headers['last-modified'], response }
  }
  return { app, state, call }
}

t.test('HEAD has the Last-Modified of GET in every content coding, and gets 304 as GET does [M7] [C4]', async (t) => {
  const { state, call } = await service()
  for (const now of [noon + 999, noon + 1000]) {
    state.now = now
    for (const coding of ['identity', 'gzip', 'br']) {
      const accept = { 'accept-encoding': coding }
      const [get, head] = [await call('GET', '/v1/products/1', accept), await call('HEAD', '/v1/products/1', accept)]
      const date = now < noon + 1000 ? undefined : dateOf(noon + 1000)
      t.strictSame([get.date, head.date], [date, date])
      for (const method of ['GET', 'HEAD'] as const) {
        const { status, headers } = await call(method, '/v1/products/1', { ...accept, 'if-modified-since': dateOf(noon + 1000) })
        t.equal(status, date === undefined ? 200 : 304)
        if (status === 304)
          t.match(headers, { etag: /^"/, 'last-modified': undefined, vary: /accept-encoding/, 'cache-control': 'private, no-cache' })
      }
    }
  }
})

t.test('operations of a batch have dates and evaluate them as requests of their own do [B1] [C4] [O1]', async (t) => {
  const { state, call } = await service()
  const path = '/v1/products/1'
  const outcomesOf = async (...operations: readonly object[]) => {
    const { response } = await call(
      'POST',
      '/v1/product-batches',
      {},
      { operations: operations.map((one, index) => ({ id: String(index), path, ...one })) }
    )
    return response.json().data as { status: number; headers: Record<string, string> }[]
  }
  const date = dateOf(noon + 1000)
  const since = { 'if-unmodified-since': date }
  t.match(await outcomesOf({ method: 'GET' }, { method: 'GET', headers: { 'if-modified-since': date } }), [
    { status: 200, headers: { 'last-modified': date } },
    { status: 304 }
  ])
  // The second change names a date from before the first one.
  const outcomes = await outcomesOf({ method: 'PATCH', headers: since }, { method: 'PATCH', headers: since }, { method: 'GET' })
  t.match(outcomes, [
    { status: 200, headers: { 'last-modified': undefined } },
    { status: 412 },
    { status: 200, headers: { 'last-modified': undefined } }
  ])
  state.now += 1000
  t.match(await outcomesOf({ method: 'GET' }), [{ status: 200, headers: { 'last-modified': dateOf(noon + 6000) } }])
})

t.test('a replay of a stored response never gets a Last-Modified that the first response did not have [I3] [C4]', async (t) => {
  const { state, call } = await service()
  const keyed = { 'idempotency-key': 'k', 'if-unmodified-since': dateOf(noon + 1000) }
  const first = await call('PATCH', '/v1/products/1', keyed)
  t.strictSame([first.status, first.date], [200, undefined])
  for (const later of [0, 999, 1000, 86_400_000]) {
    state.now = noon + 5000 + later
    const replay = await call('PATCH', '/v1/products/1', keyed)
    t.strictSame(
      [replay.status, replay.headers['idempotency-replayed'], replay.date],
      [200, 'true', undefined],
      'the date is not evaluated again'
    )
    t.equal(replay.response.body, first.response.body)
  }
})

t.test('a webhook subscription has the date of its last change, and gets 304 for it [C1] [C4] [W1]', async (t) => {
  const { state, call } = await service()
  const created = await call('POST', '/v1/webhook-subscriptions', {}, { url: 'https://hooks.example.com/a', eventTypes: ['order.created'] })
  t.strictSame([created.status, created.date], [201, undefined])
  const path = `/v1/webhook-subscriptions/${created.response.json().data.id}`
  let before = dateOf(noon)
  for (const description of ['one', 'two', 'two']) {
    const { headers } = await call('GET', path)
    const changed = await call('PATCH', path, { 'if-match': String(headers.etag) }, { description })
    t.strictSame([changed.status, changed.date], [200, undefined])
    const [now, date] = [state.now, dateOf(Math.floor(state.now / 1000) * 1000 + 1000)]
    t.equal((await call('GET', path)).date, undefined, 'its second is not over')
    state.now = now + 1000
    for (const method of ['GET', 'HEAD'] as const) {
      t.equal((await call(method, path)).date, date)
      t.equal((await call(method, path, { 'if-modified-since': date })).status, 304)
      t.equal((await call(method, path, { 'if-modified-since': before })).status, 200)
    }
    before = date
    state.now += 2345
  }
  t.equal(
    (await call('PATCH', path, { 'if-unmodified-since': before }, { description: 'x' })).status,
    428,
    'a date does not replace If-Match'
  )
  t.equal((await call('GET', '/v1/webhook-subscriptions')).date, undefined, 'a list has no date')
})
