import { targetWithoutSecrets } from '@concordat/plugin-kit/links'
import { callback, describeOptions, group, type OptionsOf, oneOf, required, value } from '@concordat/plugin-kit/options'
import type { FastifyRequest } from 'fastify'
import type { Count } from '../list/list-query.ts'
import type { Operator } from '../list/operators.ts'
import type { Relation, Relations } from '../list/related.ts'
import { perPageOptions } from './bounds.ts'
import type { DeletedOptions } from './deleted-rows.ts'
import { type Field, filterFieldOf, nameOfKey, operatorsOf } from './field.ts'

/** The parameter names that are reserved in every collection (rule Q11). */
export const reservedNames: ReadonlySet<string> = new Set(['page', 'perPage', 'after', 'sort', 'fields', 'offset', 'limit'])

/** The maximum total length of the text sort keys in a cursor, so that all keys fit into a cursor, even if they contain emoji. */
const longestKeys = 120

interface Sort {
  readonly keys: readonly string[]
  readonly combinations?: readonly (readonly string[])[] | undefined
}

/** The description of {@link AnyDeclaration}. */
export const declarationOptions = describeOptions('pagination-query', {
  /** The resource type, in the plural. By default, also the table. */
  name: required(value<string>()),
  /** `page` for totals and random access, `cursor` for lists that are large or change often. */
  style: required(oneOf(['page', 'cursor'], {})),
  /** The field that identifies a resource. */
  id: required(value<string>()),
  /** `keys`, each alone in either direction, and `combinations` of keys, exactly as clients send them. */
  sort: required(value<Sort>({ names: { keys: true, combinations: true } })),
  /** The order of requests without `sort`. */
  defaultSort: required(value<readonly string[]>()),
  /** The operators of each field, or `true` for those of its kind. A field of a relation has its full name: `customer.country`. */
  filter: value<object>({ default: {} }),
  /** Filters that a row meets if any of several fields does, by name, with the operators that all of them have: `{ search: ['name', 'email'] }`. */
  any: value<Readonly<Record<string, readonly string[]>>>({ default: {} }),
  /** The total: `exact` (default with pages), up to `{ max }` (10,000 with cursors), or `none`. */
  count: value<Count>({ names: { max: true } }),
  /** Whether the client may read a field. Otherwise the field does not exist, and cursors are encrypted. */
  readable: callback<(request: FastifyRequest, field: string) => boolean>('returns whether the client may read a field'),
  /** What cursors are bound to, for example the tenant or the parent in the path. */
  scope: callback<(request: FastifyRequest) => string>('returns what a cursor is bound to'),
  /** What `include` can embed, by name: `one(…)` or `many(…)`. */
  relations: value<Readonly<Record<string, Relation>>>({ default: {} }),
  /** Deleted rows stay, with the time of their deletion in a field, and can be restored: `field`, `keepDays` and `seenWith`. */
  deleted: value<DeletedOptions>({ names: { field: true, keepDays: true, seenWith: true } }),
  /** As in the plugin. */
  perPage: group(perPageOptions)
})

/** The declaration of a collection, as it is read at run time. */
export interface AnyDeclaration extends OptionsOf<typeof declarationOptions> {}

/** The operators of each field. */
export type Filters = Readonly<Record<string, true | readonly Operator[]>>

/** Throws a `TypeError` for the first error in a declaration. */
export function requireDeclaration(fields: ReadonlyMap<string, Field>, declared: AnyDeclaration): void {
  const { name, style, id, sort, defaultSort, count } = declared
  const where = `pagination-query: collection "${name}"`
  if (typeof name !== 'string' || name === '')
    throw new TypeError('pagination-query: a collection must have a name. Name it after its resource, for example "orders".')
  if (fields.size === 0) throw new TypeError(`${where}: the schema must have properties. Pass the object schema of a single resource.`)
  for (const field of fields.keys()) requireFieldName(where, field)
  const identifier = fields.get(id)
  if (identifier?.kind === undefined)
    throw new TypeError(`${where}: id must be a scalar field of the schema, but is "${id}". Use the field that identifies a row.`)
  requireCount(where, count)

  const combinations = sort.combinations ?? []
  for (const key of sort.keys) requireSortable(where, fields, key)
  for (const keys of combinations) requireCombination(where, fields, keys)
  const isKey = defaultSort.length === 1 && sort.keys.includes(nameOfKey(defaultSort[0] as string))
  if (!isKey && !combinations.some((keys) => keys.join() === defaultSort.join()))
    throw new TypeError(`${where}: defaultSort must be one of the orders that sort allows, but is "${defaultSort.join()}". Add it to sort.`)
  if (style === 'cursor') for (const keys of [...sort.keys.map((key) => [key]), ...combinations]) requireShortKeys(where, fields, keys, id)
}

/** Throws a `TypeError` for the first error in the filters of a declaration, whose relations have been checked. */
export function requireFilters(collection: string, fields: ReadonlyMap<string, Field>, relations: Relations, filters: Filters): void {
  const where = `pagination-query: collection "${collection}"`
  for (const [name, operators] of Object.entries(filters)) requireFilter(where, name, filterFieldOf(name, fields, relations), operators)
}

function requireFieldName(where: string, field: string) {
  if (field === '' || field === '__proto__' || /^-|[[\],]/.test(field))
    throw new TypeError(
      `${where}: the schema has a field with the invalid name "${field}". Rename it: a name must not be empty, start with "-" or contain "[", "]" or ",".`
    )
}

function requireCount(where: string, count: Count | undefined) {
  const known = count === undefined || count === 'none' || count === 'exact'
  if (!known && !(typeof count === 'object' && Number.isSafeInteger(count.max) && count.max > 0))
    throw new TypeError(`${where}: count must be "none", "exact" or { max: n } with n of at least 1.`)
}

function requireSortable(where: string, fields: ReadonlyMap<string, Field>, name: string) {
  if (!fields.has(name))
    throw new TypeError(`${where}: sort contains "${name}", which is not a field of the schema. Use a field of the schema.`)
  if (fields.get(name)?.kind === undefined)
    throw new TypeError(`${where}: sort contains "${name}", whose values are not scalars of a single kind. Remove it from sort.`)
}

function requireCombination(where: string, fields: ReadonlyMap<string, Field>, keys: readonly string[]) {
  const names = keys.map(nameOfKey)
  for (const name of names) requireSortable(where, fields, name)
  if (keys.length < 2 || new Set(names).size < keys.length)
    throw new TypeError(
      `${where}: sort.combinations contains "${keys.join()}". A combination must have two or more different keys. Put a single key in sort.keys.`
    )
}

function requireShortKeys(where: string, fields: ReadonlyMap<string, Field>, keys: readonly string[], id: string) {
  const texts = [...new Set([...keys.map(nameOfKey), id])].map((name) => fields.get(name) as Field).filter(({ kind }) => kind === 'string')
  const total = texts.reduce((sum, { maxLength = Number.POSITIVE_INFINITY }) => sum + maxLength, 0)
  if (total > longestKeys)
    throw new TypeError(
      `${where}: sort allows "${keys.join()}", whose values may be too long for a cursor. Give ${texts.map((field) => field.name).join(' and ')} ` +
        `a maxLength, at most ${longestKeys} in total, or choose the style "page".`
    )
}

function requireFilter(where: string, name: string, field: Field | undefined, operators: true | readonly Operator[]) {
  if (field === undefined)
    throw new TypeError(
      `${where}: filter contains "${name}", which is not a field of the schema. Use a field of the schema, or of a relation: "customer.country".`
    )
  if (reservedNames.has(name))
    throw new TypeError(`${where}: filter contains "${name}", which is a reserved parameter name. Rename the field.`)
  // The links of a response omit parameters that look like credentials, and would lead to another list without this filter.
  if (!targetWithoutSecrets(`/?${name}=x`, new Set([name])).includes('='))
    throw new TypeError(
      `${where}: filter contains "${name}", which looks like the name of a credential. Links omit credentials, so they would lose this filter. Rename the field.`
    )
  const { allowed } = operatorsOf(field)
  if (allowed.length === 0)
    throw new TypeError(`${where}: filter contains "${name}", whose values are not scalars of a single kind. Remove it from filter.`)
  if (operators === true) return
  const wrong = operators.find((operator) => !allowed.includes(operator))
  if (wrong !== undefined || operators.length === 0)
    throw new TypeError(
      `${where}: filter.${name} has ${wrong === undefined ? 'no operator' : `the operator "${wrong}"`}. Choose among ${allowed.join(', ')}.`
    )
}
