import type { SortKey } from '../list-query.ts'
import type { Operator, ValueKind } from '../operators.ts'
import type { Field } from './field.ts'
import type { JsonSchema } from './item-members.ts'

/** A query parameter as OpenAPI 3.1 describes it. */
export interface ParameterObject {
  readonly name: string
  readonly in: 'query'
  readonly required: false
  readonly description: string
  readonly deprecated?: true
  readonly style?: 'form'
  readonly explode?: false
  readonly schema: JsonSchema
}

interface Described {
  readonly style: 'page' | 'cursor'
  readonly fields: ReadonlyMap<string, Field>
  readonly sorts: ReadonlyMap<string, readonly SortKey[]>
  readonly defaultSort: string
  readonly filters: ReadonlyMap<string, readonly Operator[]>
}

/** Most items of a list of values. */
export const maxListItems = 100

/** The longest cursor, in characters. */
export const maxCursorLength = 1024

const meanings: Readonly<Record<Operator, string>> = {
  eq: 'equal to',
  ne: 'not equal to, null included',
  gt: 'greater than',
  gte: 'greater than or equal to',
  lt: 'less than',
  lte: 'less than or equal to',
  in: 'one of',
  nin: 'none of, null included',
  null: 'null (true) or not (false)',
  prefix: 'beginning with'
}

const schemas: Readonly<Record<ValueKind, JsonSchema>> = {
  string: { type: 'string' },
  enum: { type: 'string' },
  uuid: { type: 'string', format: 'uuid' },
  integer: { type: 'integer', format: 'int64' },
  decimal: { type: 'string', format: 'decimal', pattern: String.raw`^-?\d{1,30}(\.\d{1,30})?$` },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  'date-time': { type: 'string', format: 'date-time' }
}

/** The name of the parameter of a filter. Equality is the bare name of the field (rules Q5, Q6). */
export function filterName(field: string, operator: Operator): string {
  return operator === 'eq' ? field : `${field}[${operator}]`
}

/** Describes the parameters of a collection, in their canonical order. */
export function parameterObjects(
  collection: Described,
  perPage: { readonly default: number; readonly max: number },
  transitionalOffset: boolean
): readonly ParameterObject[] {
  const { style, fields, sorts, defaultSort, filters } = collection
  const described = [...filters].flatMap(([name, operators]) => operators.map((operator) => filter(fields.get(name) as Field, operator)))
  described.push(sortParameter(sorts, defaultSort))
  described.push(
    list('fields', 'The fields to answer with; the identifier is always among them.', { type: 'string', enum: [...fields.keys()] })
  )
  const count = { type: 'integer', minimum: 1, maximum: perPage.max }
  described.push(parameter('perPage', 'Items per page.', { ...count, default: perPage.default }))
  if (style === 'cursor') {
    described.push(parameter('after', 'The cursor of a link; opaque.', { type: 'string', maxLength: maxCursorLength }))
    return described
  }
  described.push(parameter('page', 'The number of the page.', { type: 'integer', minimum: 1, default: 1 }))
  if (transitionalOffset) {
    described.push({ ...parameter('offset', 'Items to skip. Use page.', { type: 'integer', minimum: 0 }), deprecated: true })
    described.push({ ...parameter('limit', 'Items per page. Use perPage.', count), deprecated: true })
  }
  return described
}

// A combination holds a comma, so the items of the list can't be enumerated when there is one: then the whole value is.
function sortParameter(sorts: ReadonlyMap<string, readonly SortKey[]>, defaultSort: string): ParameterObject {
  const orders = [...sorts.keys()]
  const keys = [...new Set(orders.flatMap((order) => order.split(',')))]
  const described = list(
    'sort',
    `The order: one of ${orders.join('; ')}. A - before a field means descending. Null comes last when ascending.`,
    {
      type: 'string',
      enum: keys
    }
  )
  return { ...described, schema: { ...described.schema, default: defaultSort.split(',') } }
}

function filter(field: Field, operator: Operator): ParameterObject {
  const name = filterName(field.name, operator)
  const description = `${field.name} ${meanings[operator]}`
  if (operator === 'null') return parameter(name, description, { type: 'boolean' })
  const kind = field.kind as ValueKind
  const schema: JsonSchema = {
    ...schemas[kind],
    ...(kind === 'enum' && { enum: field.choices }),
    ...(field.maxLength !== undefined && kind === 'string' && { maxLength: field.maxLength })
  }
  return operator === 'in' || operator === 'nin'
    ? list(name, `${description}; a comma within a value is written \\,`, schema)
    : parameter(name, description, schema)
}

function list(name: string, description: string, items: JsonSchema): ParameterObject {
  return { ...parameter(name, description, { type: 'array', items, minItems: 1, maxItems: maxListItems }), style: 'form', explode: false }
}

function parameter(name: string, description: string, schema: JsonSchema): ParameterObject {
  return { name, in: 'query', required: false, description, schema }
}
