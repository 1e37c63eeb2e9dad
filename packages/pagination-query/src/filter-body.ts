import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import type { Collection } from './collection.ts'
import { filterName } from './declaration/parameter-objects.ts'
import type { Condition } from './list/list-query.ts'
import type { Operator } from './list/operators.ts'

type Value = string | number | boolean | readonly (string | number)[]

/** Filters in a body, by field and operator: `{ placedAt: { gte: '2026-01-01T00:00:00Z' } }`. */
export type FilterValues = Readonly<Record<string, Readonly<Partial<Record<Operator, Value>>>>>

/** The filters of a collection by the fields of its resource as the body of a request. */
export interface FilterBody {
  /** The JSON Schema of the body: each of these fields with the operators and values that it has in the query string. */
  readonly schema: JsonSchema
  /**
   * A `preValidation` hook that accepts the forms of the query string too: a plain value for `eq`, and `placedAt[gte]` as a name. A missing body means
   * that there are no filters.
   */
  readonly accept: (request: { body: unknown }) => Promise<void>
  /** Returns the conditions of a body that the schema accepts, for `walkPages` or a list query. Throws a `TypeError` for any other field or operator. */
  readonly conditionsOf: (filters: FilterValues) => Condition[]
}

// PostgreSQL and JSON Schema agree only on years of four digits.
const time = { type: 'string', format: 'date-time', pattern: String.raw`^[1-9]\d{3}-` }

/**
 * Describes the filters of a collection as the body of a request, for example of one that exports what a list shows.
 *
 * @example
 * const filters = filterBody(orderCollection)
 * app.post('/order-exports', { preValidation: filters.accept, schema: { body: filters.schema } }, async ({ body }) => {
 *   for await (const { rows } of walkPages(orderCollection, list, { conditions: filters.conditionsOf(body) })) await archive(rows)
 * })
 */
export function filterBody({
  filters,
  fields,
  any,
  parameters
}: Pick<Collection, 'filters' | 'fields' | 'any' | 'parameters'>): FilterBody {
  const schemas = new Map(parameters.map(({ name, schema }) => [name, schema]))

  function valueSchema(field: string, operator: Operator) {
    const { format, maxLength, ...schema } = schemas.get(filterName(field, operator)) as JsonSchema
    if (format === 'date-time') return time
    // The pattern of a decimal already defines its format and its length.
    if (format === 'decimal') return schema
    return { ...schema, ...(format !== undefined && { format }), ...(maxLength !== undefined && { maxLength }) }
  }

  // Which related rows a client may see is known of a request, not of its body.
  const own = [...filters].filter(([field]) => fields.has(field) || any.has(field))
  const properties = own.map(([field, operators]) => {
    const values = operators.map((operator) => [operator, valueSchema(field, operator)])
    return [field, { type: 'object', properties: Object.fromEntries(values), minProperties: 1 }]
  })
  return {
    schema: { type: 'object', properties: Object.fromEntries(properties) },
    accept,
    conditionsOf: (given) =>
      Object.entries(given).flatMap(([field, values]) => Object.entries(values).map(([name, value]) => condition(field, name, value)))
  }

  function condition(field: string, name: string, value: Value): Condition {
    const several = any.get(field)
    const [kind, operator] = [(several?.field ?? fields.get(field))?.kind, filters.get(field)?.find((one) => one === name)]
    if (kind === undefined || operator === undefined)
      throw new TypeError(
        `pagination-query: the filters of the body contain ${field}[${name}], which the collection does not allow. Refuse unknown fields in the body.`
      )
    return { field, ...(several && { anyOf: several.anyOf }), kind, operator, value: textOf(value) }
  }
}

async function accept(request: { body: unknown }) {
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

// The numbers of conditions are text.
function textOf(value: Value): Condition['value'] {
  if (typeof value === 'object') return value.map(String)
  return typeof value === 'number' ? String(value) : value
}
