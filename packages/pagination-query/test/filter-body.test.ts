import { type FilterValues, filterBody, walkPages } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import Fastify from 'fastify'
import t from 'tap'
import { type Order, pagedOrders, rows } from './orders.ts'

const filters = filterBody(pagedOrders)
const app = Fastify({ ajv: { customOptions: { removeAdditional: false, coerceTypes: false } } })
app.post<{ Body: FilterValues }>('/exports', { preValidation: filters.accept, schema: { body: filters.schema } }, async ({ body }) => {
  const orders: Order[] = []
  const pages = walkPages(pagedOrders, (query) => runArray(rows, query), { conditions: filters.conditionsOf(body), sort: 'id' })
  for await (const page of pages) orders.push(...page.rows)
  return orders.map(({ title }) => title)
})

const titles = (isWanted: (order: Order) => boolean) =>
  rows
    .filter(isWanted)
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
    .map(({ title }) => title)

t.test('the filters of a collection select the same rows in a body as in the query string [Q6]', async (t) => {
  const cases: readonly (readonly [payload: object | undefined, (order: Order) => boolean])[] = [
    [undefined, () => true],
    [{}, () => true],
    [{ status: { eq: 'paid' } }, ({ status }) => status === 'paid'],
    [{ status: 'paid' }, ({ status }) => status === 'paid'],
    [{ status: { in: ['paid', 'pending'] }, urgent: true }, ({ status, urgent }) => status !== 'shipped' && urgent],
    [{ quantity: { gte: 5, lt: 9 } }, ({ quantity }) => quantity >= 5 && quantity < 9],
    [{ quantity: { in: [2, 3] } }, ({ quantity }) => quantity === 2 || quantity === 3],
    [{ 'total[gt]': '1', total: { lte: '2.50' } }, ({ total }) => total === '1.50' || total === '2.50'],
    [{ placedAt: { gte: '2026-01-04T00:00:00Z' } }, ({ placedAt }) => placedAt > '2026-01-04'],
    [{ dueOn: { null: true } }, ({ dueOn }) => dueOn === undefined]
  ]
  for (const [payload, isWanted] of cases) {
    const response = await app.inject({ method: 'POST', url: '/exports', ...(payload && { payload }) })
    t.strictSame(response.json(), titles(isWanted), JSON.stringify(payload))
  }
})

t.test('a body refuses what the query string would refuse', async (t) => {
  for (const payload of [{ status: 'lost' }, { placedAt: { gte: '0000-01-01T00:00:00Z' } }, { total: { gte: 12 } }, { total: {} }, []]) {
    const { statusCode } = await app.inject({ method: 'POST', url: '/exports', payload })
    t.equal(statusCode, 400, JSON.stringify(payload))
  }
  for (const [given, name] of [
    [{ colour: { eq: 'red' } }, 'colour[eq]'],
    [{ status: { prefix: 'p' } }, 'status[prefix]']
  ] as const)
    t.throws(() => filters.conditionsOf(given), {
      message: `pagination-query: the filters of the body contain ${name}, which the collection does not allow. Refuse unknown fields in the body.`
    })
})
