import type { Condition, Operator } from '@concordat/pagination-query'
import { type TSchema, Type } from '@sinclair/typebox'
import { orderCollection } from '../orders/schemas.ts'

const { fields, filters, parameters } = orderCollection

// PostgreSQL and JSON Schema agree only on years of four digits.
const Moment = Type.String({ format: 'date-time', pattern: '^[1-9]\\d{3}-' })

/**
 * The filters of the collection of orders as a body: `{ "status": { "eq": "paid" }, "placedAt": { "gte": "2026-01-01T00:00:00Z" } }`, each
 * with the operators and values that it has in the query string.
 */
export const OrderFilters = Type.Object(
  Object.fromEntries([...filters].map(([field, operators]) => [field, Type.Optional(filterSchema(field, operators))])),
  { examples: [{ status: { eq: 'paid' }, placedAt: { gte: '2026-01-01T00:00:00Z' } }] }
)
type Value = string | readonly string[]
export type OrderFilters = Readonly<Record<string, Readonly<Partial<Record<Operator, Value>>>>>

/**
 * Accepts the forms of the query string too: a plain value for `eq`, and `placedAt[gte]` as a name. A missing body means that there are
 * no filters.
 */
export async function readFilters(request: { body: unknown }): Promise<void> {
  const { body = {} } = request
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return
  const read = new Map<string, object>()
  for (const [name, value] of Object.entries(body)) {
    const [, field = name, operator = 'eq'] = /^(\w+)\[(\w+)\]$/.exec(name) ?? []
    const isNested = field === name && typeof value === 'object' && value !== null && !Array.isArray(value)
    read.set(field, { ...read.get(field), ...(isNested ? value : { [operator]: value }) })
  }
  request.body = Object.fromEntries(read)
}

/** Returns the conditions of the filters. */
export function conditionsOf(given: OrderFilters): Condition[] {
  return Object.entries(given).flatMap(([field, values]) => {
    const kind = fields.get(field)?.kind
    return kind === undefined ? [] : Object.entries(values).map(([name, value]) => ({ field, kind, operator: name as Operator, value }))
  })
}

function filterSchema(field: string, operators: readonly Operator[]): TSchema {
  const values = operators.map((operator) => [operator, Type.Optional(valueSchema(field, operator))])
  return Type.Object(Object.fromEntries(values), { minProperties: 1 })
}

function valueSchema(field: string, operator: Operator): TSchema {
  const name = operator === 'eq' ? field : `${field}[${operator}]`
  const parameter = parameters.find((one) => one.name === name)
  const { format, ...schema }: { readonly format?: string } = parameter?.schema ?? {}
  if (format === 'date-time') return Moment
  // The pattern of a decimal already defines its format.
  return Type.Unsafe(format === undefined || format === 'decimal' ? schema : { ...schema, format })
}
