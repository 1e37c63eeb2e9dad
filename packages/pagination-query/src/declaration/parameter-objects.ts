import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import type { SortKey } from '../list/list-query.ts'
import { type Operator, operatorOf } from '../list/operators.ts'
import type { ValueKind } from '../list/value-text.ts'
import type { Field } from './field.ts'

/** A Parameter Object of OpenAPI 3.1 for a query parameter. */
export interface ParameterObject {
  readonly name: string
  readonly in: 'query'
  readonly required: false
  readonly description: string
  readonly style?: 'form' | undefined
  readonly explode?: false | undefined
  readonly schema: JsonSchema
}

interface Described {
  readonly style: 'page' | 'cursor'
  readonly fields: ReadonlyMap<string, Field>
  readonly sorts: ReadonlyMap<string, readonly SortKey[]>
  readonly defaultSort: string
  readonly filters: ReadonlyMap<string, readonly Operator[]>
}

/** The maximum number of items in a list of values. */
export const maxListItems = 100

/** The maximum length of a text in a filter, in characters, unless the schema of its field has a shorter one. */
export const maxTextLength = 1024

/** The maximum length of a cursor, in characters. */
export const maxCursorLength = 1024

const schemas: Readonly<Record<ValueKind, JsonSchema>> = {
  string: { type: 'string' },
  enum: { type: 'string' },
  uuid: { type: 'string', format: 'uuid', maxLength: 36 },
  integer: { type: 'integer', format: 'int64', minimum: -(2 ** 63), maximum: 2 ** 63 },
  decimal: { type: 'string', format: 'decimal', pattern: String.raw`^-?\d{1,30}(\.\d{1,30})?$`, maxLength: 62 },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date', maxLength: 10 },
  'date-time': { type: 'string', format: 'date-time', maxLength: 32 }
}

const integerText: JsonSchema = { type: 'string', format: 'int64', pattern: String.raw`^-?\d{1,19}$`, maxLength: 20 }

/** Returns the name of the parameter for a filter. For equality, it is the name of the field (rules Q5, Q6). */
export function filterName(field: string, operator: Operator): string {
  return operator === 'eq' ? field : `${field}[${operator}]`
}

/** Returns the Parameter Objects for the query parameters of a collection, in canonical order. */
export function parameterObjects(
  collection: Described,
  perPage: { readonly default: number; readonly max: number }
): readonly ParameterObject[] {
  const { style, fields, sorts, defaultSort, filters } = collection
  return [
    ...[...filters].flatMap(([name, operators]) => operators.map((operator) => filter(fields.get(name) as Field, operator))),
    sortParameter(sorts, defaultSort),
    fieldsParameter([...fields.keys()]),
    parameter('perPage', 'Items per page.', { type: 'integer', minimum: 1, maximum: perPage.max, default: perPage.default }),
    style === 'page'
      ? parameter('page', 'The page number.', { type: 'integer', minimum: 1, default: 1 })
      : parameter('after', 'The opaque cursor from a link.', { type: 'string', maxLength: maxCursorLength })
  ]
}

/** Returns the Parameter Object for the `fields` query parameter. */
export function fieldsParameter(names: readonly string[]): ParameterObject {
  return list('fields', 'The fields to return; the identifier is always included.', { type: 'string', enum: names })
}

// A string and not a list of keys: only the declared orders are accepted, and not every combination of their keys.
function sortParameter(sorts: ReadonlyMap<string, readonly SortKey[]>, defaultSort: string): ParameterObject {
  const description = 'The sort order. A `-` before a field means descending. In ascending order, null comes last.'
  return parameter('sort', description, { type: 'string', enum: [...sorts.keys()], default: defaultSort })
}

function filter(field: Field, operator: Operator): ParameterObject {
  const name = filterName(field.name, operator)
  const { meaning, takes } = operatorOf[operator]
  const description = `${field.name} ${meaning}`
  if (takes === 'flag') return parameter(name, description, { type: 'boolean' })
  const kind = field.kind as ValueKind
  const schema: JsonSchema = {
    ...(kind === 'integer' && field.numberType === undefined ? integerText : schemas[kind]),
    ...(kind === 'enum' && { enum: field.choices }),
    ...(kind === 'string' && { maxLength: field.maxLength ?? maxTextLength })
  }
  return takes === 'list'
    ? list(name, `${description}; a comma within a value is written \\,`, schema)
    : parameter(name, description, schema)
}

function list(name: string, description: string, items: JsonSchema): ParameterObject {
  return { ...parameter(name, description, { type: 'array', items, minItems: 1, maxItems: maxListItems }), style: 'form', explode: false }
}

function parameter(name: string, description: string, schema: JsonSchema): ParameterObject {
  return { name, in: 'query', required: false, description, schema }
}
