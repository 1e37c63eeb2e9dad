import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import { type Operator, operatorOf } from '../list/operators.ts'
import { type Relations, splitRelated } from '../list/related.ts'
import type { SortKey } from '../list/sort-key.ts'
import type { ValueKind } from '../list/value-text.ts'
import { type AnyOfFilters, filterField } from './any-of-filter.ts'
import type { DeletedOptions } from './deleted-rows.ts'
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
  readonly any: AnyOfFilters
  readonly deleted: DeletedOptions | undefined
  readonly relations: Relations
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
  const { style, fields, sorts, defaultSort, filters, any, relations, deleted } = collection
  return [
    ...[...filters].flatMap(([name, operators]) => {
      const subject = any.get(name)?.anyOf.join(' or ') ?? name
      const field = filterField(collection, name)
      return operators.map((operator) => filter(field, operator, subject, relationText(name, relations)))
    }),
    sortParameter(sorts, defaultSort),
    ...deletedParameters(deleted),
    ...includeParameters(relations),
    fieldsParameter(fieldNamesOf(fields, relations)),
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

/** Returns the Parameter Object for the `include` query parameter, none without relations. */
export function includeParameters(relations: Relations): ParameterObject[] {
  if (relations.size === 0) return []
  const description = 'The related resources to embed. One that the client may not see is null, as if it did not exist.'
  return [list('include', description, { type: 'string', enum: [...relations.keys()] })]
}

/** Returns the Parameter Object for the `deleted` query parameter, none if clients cannot read deleted resources. */
export function deletedParameters(deleted: DeletedOptions | undefined): ParameterObject[] {
  if (deleted?.seenWith === undefined) return []
  const description = `Whether to read the deleted resources in place of the others. Requires the permission \`${deleted.seenWith}\`.`
  return [parameter('deleted', description, { type: 'boolean', default: false })]
}

/** Returns the names that `fields` accepts: those of the resource, and those of its relations, such as `customer.name`. */
export function fieldNamesOf(fields: ReadonlyMap<string, unknown>, relations: Relations): string[] {
  return [...fields.keys(), ...[...relations].flatMap(([name, { target }]) => [...target.fields.keys()].map((field) => `${name}.${field}`))]
}

// A string and not a list of keys: only the declared orders are accepted, and not every combination of their keys.
function sortParameter(sorts: ReadonlyMap<string, readonly SortKey[]>, defaultSort: string): ParameterObject {
  const description = 'The sort order. A `-` before a field means descending. In ascending order, null comes last.'
  return parameter('sort', description, { type: 'string', enum: [...sorts.keys()], default: defaultSort })
}

// What the description of a filter says of the relation of its field.
function relationText(name: string, relations: Relations): string {
  const [relation = ''] = splitRelated(name, relations) ?? []
  const { many, permission = 'public' } = relations.get(relation) ?? {}
  const restricted = permission === 'public' ? '' : `; only for clients with the permission ${permission}`
  return many === undefined ? restricted : `, for any one of ${relation}${restricted}`
}

function filter(field: Field, operator: Operator, subject: string, ofRelation: string): ParameterObject {
  const name = filterName(field.name, operator)
  const { meaning, takes } = operatorOf[operator]
  const description = `${subject} ${meaning}${operator === 'contains' ? ' (three letters or digits in a row at least)' : ''}${ofRelation}`
  if (takes === 'flag') return parameter(name, description, { type: 'boolean' })
  const kind = field.kind as ValueKind
  const schema: JsonSchema = {
    ...(kind === 'integer' && field.numberType === undefined ? integerText : schemas[kind]),
    ...(kind === 'enum' && { enum: field.choices }),
    ...(operator === 'contains' && { minLength: 3 }),
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
