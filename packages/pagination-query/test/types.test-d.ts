// Compiled, never run. `@ts-expect-error` marks code that must not compile, and the compiler rejects a mark without an error.

import paginationQuery, {
  type Condition,
  collection,
  type ListQuery,
  one,
  type Page,
  type PaginationQueryOptions
} from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'
import * as TypeBox1 from 'typebox'

const Order = Type.Object({
  id: Type.String({ format: 'uuid' }),
  status: Type.Union([Type.Literal('open'), Type.Literal('closed')]),
  quantity: Type.Integer(),
  urgent: Type.Boolean(),
  placedAt: Type.String({ format: 'date-time' }),
  tags: Type.Array(Type.String()),
  note: Type.Optional(Type.String())
})
type Order = Static<typeof Order>

const declare = collection(Order)
const orders = declare({
  name: 'orders',
  style: 'cursor',
  id: 'id',
  defaultSort: ['-placedAt'],
  sort: { keys: ['placedAt', 'quantity'], combinations: [['status', '-placedAt']] },
  filter: { status: ['eq', 'in'], quantity: ['gte'], urgent: true, note: ['null', 'prefix'] }
})

const app = Fastify().withTypeProvider<TypeBoxTypeProvider>()
await app.register(paginationQuery, { cursor: { secrets: ['x'] } })

app.get('/orders', { config: { collection: orders }, schema: { response: { 200: Type.Array(Order) } } }, async (request, reply) => {
  const query = request.listQuery(orders)
  expectTypeOf<typeof query>().toExtend<ListQuery<Order>>()
  for (const condition of query.conditions) {
    expectTypeOf(condition).toExtend<Condition>()
    expectTypeOf(condition.field).toEqualTypeOf<'status' | 'quantity' | 'urgent' | 'note'>()
    if (condition.field === 'status' && condition.operator === 'eq') expectTypeOf(condition.value).toEqualTypeOf<'open' | 'closed'>()
    if (condition.field === 'status' && condition.operator === 'in')
      expectTypeOf(condition.value).toEqualTypeOf<readonly ('open' | 'closed')[]>()
    if (condition.field === 'quantity') {
      expectTypeOf(condition.operator).toEqualTypeOf<'gte'>()
      expectTypeOf(condition.value).toEqualTypeOf<`${number}`>()
    }
    if (condition.field === 'urgent') {
      expectTypeOf(condition.operator).toEqualTypeOf<'eq' | 'ne'>()
      expectTypeOf(condition.value).toEqualTypeOf<boolean>()
    }
    if (condition.field === 'note' && condition.operator === 'null') expectTypeOf(condition.value).toEqualTypeOf<boolean>()
    if (condition.field === 'note' && condition.operator === 'prefix') expectTypeOf(condition.value).toEqualTypeOf<string>()
    // @ts-expect-error – the filter does not contain this field
    if (condition.field === 'placedAt') throw new Error()
  }
  const stored: Order[] = []
  const page = runArray(stored, query)
  expectTypeOf(page).toEqualTypeOf<Page<Order>>()
  expectTypeOf(reply.page(page)).toEqualTypeOf<Order[]>()
  return reply.page(page)
})
app.get('/wrong', { config: { collection: orders }, schema: { response: { 200: Type.Array(Order) } } }, (_request, reply) =>
  // @ts-expect-error – the rows are not orders
  reply.page({ rows: [{ id: 5 }], first: undefined, last: undefined, hasMore: false, total: undefined })
)
// @ts-expect-error – a collection is an object, not a name
app.get('/named', { config: { collection: 'orders' } }, async () => [])

const usual = { name: 'orders', style: 'page', id: 'id', defaultSort: ['quantity'], sort: { keys: ['quantity'] } } as const
declare({ ...usual, defaultSort: ['-quantity'] })
declare({ ...usual, defaultSort: ['status', '-quantity'], sort: { keys: ['quantity'], combinations: [['status', '-quantity']] } })
declare({ ...usual, filter: { quantity: true, status: ['ne', 'nin'], placedAt: ['gte'] }, count: { max: 5 }, scope: ({ id }) => id })
// Filters over several fields have the operators of these fields.
const searched = declare({ ...usual, filter: { note: ['eq', 'contains'], id: ['contains'] }, any: { search: ['note', 'id'] } })
for (const condition of searched.query?.conditions ?? []) {
  expectTypeOf(condition.field).toEqualTypeOf<'note' | 'id' | 'search'>()
  expectTypeOf(condition.operator).toEqualTypeOf<'eq' | 'contains'>()
  if (condition.field === 'search') expectTypeOf(condition.anyOf).toEqualTypeOf<readonly ['note', 'id']>()
}
// @ts-expect-error – the field has no filter
declare({ ...usual, filter: { note: ['contains'] }, any: { search: ['note', 'id'] } })
// @ts-expect-error – numbers are not searched
declare({ ...usual, filter: { quantity: ['contains'] } })
// @ts-expect-error – no such field
declare({ ...usual, deleted: { field: 'deletedAt' } })
const Customer = Type.Object({
  id: Type.String({ format: 'uuid' }),
  country: Type.String(),
  phone: Type.Optional(Type.String()),
  tags: Type.Array(Type.String())
})
const customer = one(collection(Customer)({ name: 'customers', style: 'page', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] } }), {
  key: 'id',
  permission: 'public'
})
const related = { ...usual, relations: { customer } } as const
const ofCustomers = declare({ ...related, filter: { 'customer.country': ['eq', 'in'], 'customer.phone': ['null'], quantity: ['gte'] } })
type OfCustomers = NonNullable<NonNullable<typeof ofCustomers.query>['conditions'][number]>
expectTypeOf<OfCustomers['field']>().toEqualTypeOf<'customer.country' | 'customer.phone' | 'quantity'>()
expectTypeOf<Extract<OfCustomers, { operator: 'in' }>['value']>().toEqualTypeOf<readonly string[]>()
declare({ ...related, filter: { 'customer.country': true } })
// @ts-expect-error – customers have no city
declare({ ...related, filter: { 'customer.city': ['eq'] } })
// @ts-expect-error – the country is never null
declare({ ...related, filter: { 'customer.country': ['null'] } })
// @ts-expect-error – a list has no filter
declare({ ...related, filter: { 'customer.tags': ['eq'] } })
// @ts-expect-error – the relation is not declared
declare({ ...usual, filter: { 'customer.country': ['eq'] } })
// @ts-expect-error – string literals have no order
declare({ ...usual, filter: { status: ['gt'] } })
// @ts-expect-error – booleans have no order
declare({ ...usual, filter: { urgent: ['lt'] } })
// @ts-expect-error – numbers have no prefix
declare({ ...usual, filter: { quantity: ['prefix'] } })
// @ts-expect-error – a required field is never null
declare({ ...usual, filter: { quantity: ['null'] } })
// @ts-expect-error – no such operator
declare({ ...usual, filter: { note: ['like'] } })
// @ts-expect-error – no such field
declare({ ...usual, filter: { colour: ['eq'] } })
// @ts-expect-error – an array is not a scalar
declare({ ...usual, filter: { tags: ['eq'] } })
// @ts-expect-error – clients cannot sort by an array
declare({ ...usual, sort: { keys: ['tags', 'quantity'] } })
// @ts-expect-error – no such field
declare({ ...usual, sort: { keys: ['quantity'], combinations: [['colour', 'quantity']] } })
// @ts-expect-error – sort does not allow the default order
declare({ ...usual, defaultSort: ['placedAt'] })
// @ts-expect-error – sort does not allow this combination
declare({ ...usual, defaultSort: ['quantity', 'status'], sort: { keys: ['quantity'], combinations: [['status', '-quantity']] } })
// @ts-expect-error – no such field for the identifier
declare({ ...usual, id: 'number' })
// @ts-expect-error – no such style
declare({ ...usual, style: 'offset' })

// Any JSON Schema with an explicit type is accepted.
interface Thing {
  readonly id: string
  readonly size: number
}
const things = collection<Thing>({ type: 'object', properties: { id: { type: 'string' }, size: { type: 'number' } } })({
  ...usual,
  defaultSort: ['size'],
  sort: { keys: ['size'] },
  filter: { size: ['gte'] }
})
app.get('/things', { config: { collection: things } }, async (request) => {
  expectTypeOf(request.listQuery(things).conditions[0]?.value).toEqualTypeOf<`${number}` | undefined>()
  expectTypeOf(request.listQuery(things)).toExtend<ListQuery<Thing>>()
})
collection({ type: 'object', properties: {} })({ ...usual, filter: { anything: ['eq'] } })

// Every kind of TypeBox 1 that a row can have.
const Sale1 = TypeBox1.Object({
  id: TypeBox1.String({ format: 'uuid' }),
  status: TypeBox1.Union([TypeBox1.Literal('open'), TypeBox1.Literal('closed')]),
  size: TypeBox1.Enum(['s', 'm']),
  quantity: TypeBox1.Integer(),
  price: TypeBox1.Number(),
  urgent: TypeBox1.Boolean(),
  placedAt: TypeBox1.Unsafe<Date>(TypeBox1.String({ format: 'date-time' })),
  tags: TypeBox1.Array(TypeBox1.String()),
  sizes: TypeBox1.Record(TypeBox1.String(), TypeBox1.Number()),
  buyer: TypeBox1.Object({ name: TypeBox1.String(), email: TypeBox1.Optional(TypeBox1.String()) }),
  endedAt: TypeBox1.Union([TypeBox1.String(), TypeBox1.Null()]),
  note: TypeBox1.Optional(TypeBox1.String())
})
type Sale1 = TypeBox1.Static<typeof Sale1>
const declare1 = collection(Sale1)
const sales1 = declare1({ ...usual, filter: { status: ['eq', 'in'], quantity: ['gte'], urgent: true, note: ['null'], endedAt: ['null'] } })
app.get('/sales', { config: { collection: sales1 } }, async (request) => {
  const query = request.listQuery(sales1)
  expectTypeOf(query).toExtend<ListQuery<Sale1>>()
  for (const condition of query.conditions) {
    expectTypeOf(condition.field).toEqualTypeOf<'status' | 'quantity' | 'urgent' | 'note' | 'endedAt'>()
    if (condition.field === 'status' && condition.operator === 'eq') expectTypeOf(condition.value).toEqualTypeOf<'open' | 'closed'>()
    if (condition.field === 'quantity') expectTypeOf(condition.value).toEqualTypeOf<`${number}`>()
  }
  const stored: Sale1[] = []
  expectTypeOf(runArray(stored, query)).toEqualTypeOf<Page<Sale1>>()
})
// @ts-expect-error – no such field
declare1({ ...usual, filter: { colour: ['eq'] } })
// @ts-expect-error – an object is not a scalar
declare1({ ...usual, filter: { buyer: ['eq'] } })
// @ts-expect-error – an array is not a scalar
declare1({ ...usual, sort: { keys: ['tags', 'quantity'] } })
// @ts-expect-error – a required field is never null
declare1({ ...usual, filter: { price: ['null'] } })
// @ts-expect-error – no such field for the identifier
declare1({ ...usual, id: 'number' })
const Node1 = TypeBox1.Cyclic(
  { Node: TypeBox1.Object({ id: TypeBox1.String(), quantity: TypeBox1.Integer(), next: TypeBox1.Optional(TypeBox1.Ref('Node')) }) },
  'Node'
)
collection(Node1)(usual)
// @ts-expect-error – no such field
collection(Node1)({ ...usual, id: 'number' })
const Joined1 = TypeBox1.Intersect([TypeBox1.Object({ id: TypeBox1.String() }), TypeBox1.Object({ quantity: TypeBox1.Integer() })])
collection(Joined1)(usual)
// @ts-expect-error – no such field
collection(Joined1)({ ...usual, filter: { colour: ['eq'] } })

const options: PaginationQueryOptions = {
  cursor: { secrets: [new Uint8Array(32)] },
  perPage: { max: 50 }
}
void options
// @ts-expect-error – secrets must be a list
const wrong: PaginationQueryOptions = { cursor: { secrets: 'x' } }
void wrong
