import type { JsonSchema } from '@concordat/json-schema'
import type { Collection } from '../collection.ts'
import type { Operator, ValueKind } from '../operators.ts'
import type { Settings } from '../options.ts'
import type { ListResponse } from '../page/list-response.ts'
import { type RowRules, rowRules } from '../page/projection.ts'
import { requireBounds } from './bounds.ts'
import { type Field, kindsOf } from './field.ts'
import { filterName, parameterObjects } from './parameter-objects.ts'

/** The roles of the query parameters that select a page. */
export type PagingRole = 'perPage' | 'page' | 'after' | 'offset' | 'limit'

/** A query parameter of a collection. `index` is its position in the canonical order. */
export type Parameter = { readonly index: number; readonly name: string } & (
  | { readonly role: 'filter'; readonly list: boolean; readonly field: Field; readonly operator: Operator }
  | { readonly role: 'sort' | 'fields'; readonly list: true }
  | { readonly role: PagingRole; readonly list: false }
)

/** A collection as a plugin instance serves it, with all limits set and with its query parameters by name. */
export interface BoundCollection extends Collection {
  /** The schema of an item with only some of its fields. */
  readonly projected: JsonSchema
  /** The schema to which the local references of both refer. */
  readonly document: JsonSchema
  readonly perPage: { readonly default: number; readonly max: number }
  readonly maxOffset: number
  readonly byName: ReadonlyMap<string, Parameter>
  /** The parameters in canonical order. */
  readonly inOrder: readonly Parameter[]
  /** The initial parameter values of a request: `undefined` for each parameter in `inOrder`. */
  readonly nothingGiven: readonly undefined[]
  /** The positions in `inOrder` of the parameters that select a page. */
  readonly places: Readonly<Partial<Record<Parameter['role'], number>>>
  readonly transitionalOffset: boolean
  readonly fieldNames: readonly string[]
  readonly rowRules: RowRules
  /** The value kinds of the scalar fields, by field name. */
  readonly kinds: Readonly<Record<string, ValueKind>>
}

/** Returns the collection with all limits set: its own limits, or else those of the plugin. Throws a `TypeError` for invalid limits. */
export function bindCollection(
  collection: Collection,
  { item, projected, document, members }: Pick<ListResponse, 'item' | 'projected' | 'document' | 'members'>,
  settings: Settings
): BoundCollection {
  const { name, style } = collection
  const perPage = {
    default: collection.perPage.default ?? Math.min(settings.perPage.default, collection.perPage.max ?? settings.perPage.max),
    max: collection.perPage.max ?? settings.perPage.max
  }
  const maxOffset = collection.maxOffset ?? settings.maxOffset
  requireBounds(`collection "${name}": `, perPage, maxOffset)
  const transitionalOffset = settings.transitionalOffset && style === 'page'
  const inOrder = parametersOf(collection, transitionalOffset)
  const byName = new Map(inOrder.map((parameter) => [parameter.name, parameter]))
  for (const parameter of inOrder) {
    if (parameter.role === 'filter' && parameter.operator === 'eq') byName.set(`${parameter.name}[eq]`, parameter)
  }
  const parameters = parameterObjects(collection, perPage, transitionalOffset)
  const places = Object.fromEntries(inOrder.map(({ role, index }) => [role, index]))
  const fieldNames = [...collection.fields.keys()]
  const rules = rowRules(members)
  return {
    ...collection,
    item,
    projected,
    document,
    rowRules: rules,
    places,
    fieldNames,
    perPage,
    maxOffset,
    byName,
    inOrder,
    nothingGiven: inOrder.map(() => undefined),
    transitionalOffset,
    parameters,
    kinds: kindsOf(collection.fields)
  }
}

function parametersOf({ style, filters, fields }: Collection, transitionalOffset: boolean): readonly Parameter[] {
  const filtering = [...filters].flatMap(([name, operators]) =>
    operators.map((operator) => ({
      role: 'filter' as const,
      name: filterName(name, operator),
      list: operator === 'in' || operator === 'nin',
      field: fields.get(name) as Field,
      operator
    }))
  )
  return [
    ...filtering,
    { role: 'sort' as const, name: 'sort', list: true as const },
    { role: 'fields' as const, name: 'fields', list: true as const },
    single('perPage'),
    single(style === 'page' ? 'page' : 'after'),
    ...(transitionalOffset ? [single('offset'), single('limit')] : [])
  ].map((parameter, index) => ({ ...parameter, index }))
}

function single(role: PagingRole) {
  return { role, name: role, list: false as const }
}
