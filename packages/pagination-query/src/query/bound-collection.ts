import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import type { Collection } from '../collection.ts'
import { filterField } from '../declaration/any-of-filter.ts'
import { requireBounds } from '../declaration/bounds.ts'
import { type Field, kindsOf } from '../declaration/field.ts'
import type { ListResponse } from '../declaration/list-response.ts'
import { filterName, parameterObjects } from '../declaration/parameter-objects.ts'
import { withRelations } from '../declaration/relation-schema.ts'
import { rowRules } from '../declaration/row-rules.ts'
import { type Operator, operatorOf } from '../list/operators.ts'
import type { RowRules } from '../list/related.ts'
import type { ValueKind } from '../list/value-text.ts'
import type { Settings } from '../options.ts'

/** A query parameter of a collection. `index` is its position in the canonical order. */
export type Parameter = { readonly index: number; readonly name: string } & (
  | {
      readonly role: 'filter'
      readonly list: boolean
      readonly field: Field
      readonly anyOf: readonly string[] | undefined
      readonly operator: Operator
    }
  | { readonly role: 'sort' | 'include' | 'fields'; readonly list: true }
  | { readonly role: 'deleted' | 'perPage' | 'page' | 'after'; readonly list: false }
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
  readonly fieldNames: readonly string[]
  readonly rowRules: RowRules
  /** The value kinds of the scalar fields, by field name. */
  readonly kinds: Readonly<Record<string, ValueKind>>
}

/** Returns the collection with all limits set: its own limits, or else those of the plugin. Throws a `TypeError` for invalid limits. */
export function bindCollection(
  collection: Collection,
  { item, projected, document, members }: Pick<ListResponse, 'item' | 'projected' | 'document' | 'members'>,
  settings: Settings,
  addSchema: (schema: JsonSchema) => JsonSchema
): BoundCollection {
  const { name } = collection
  const perPage = {
    default: collection.perPage.default ?? Math.min(settings.perPage.default, collection.perPage.max ?? settings.perPage.max),
    max: collection.perPage.max ?? settings.perPage.max
  }
  const { maxOffset } = settings
  requireBounds(`collection "${name}": `, perPage, maxOffset)
  const inOrder = parametersOf(collection)
  const kinds = kindsOf(collection.fields)
  const byName = new Map(inOrder.map((parameter) => [parameter.name, parameter]))
  for (const parameter of inOrder) {
    if (parameter.role === 'filter' && parameter.operator === 'eq') byName.set(`${parameter.name}[eq]`, parameter)
  }
  return {
    ...collection,
    item,
    projected: withRelations(projected, collection.relations, addSchema),
    document,
    rowRules: rowRules(members),
    fieldNames: [...collection.fields.keys()],
    perPage,
    maxOffset,
    byName,
    inOrder,
    parameters: parameterObjects(collection, perPage),
    kinds
  }
}

function parametersOf({ style, filters, fields, any, relations, deleted }: Collection): readonly Parameter[] {
  const filtering = [...filters].flatMap(([name, operators]) =>
    operators.map((operator) => ({
      role: 'filter' as const,
      name: filterName(name, operator),
      list: operatorOf[operator].takes === 'list',
      field: filterField({ fields, any, relations }, name),
      anyOf: any.get(name)?.anyOf,
      operator
    }))
  )
  return [
    ...filtering,
    { role: 'sort' as const, name: 'sort', list: true as const },
    ...(deleted?.seenWith === undefined ? [] : [{ role: 'deleted' as const, name: 'deleted', list: false as const }]),
    ...(relations.size === 0 ? [] : [{ role: 'include' as const, name: 'include', list: true as const }]),
    { role: 'fields' as const, name: 'fields', list: true as const },
    { role: 'perPage' as const, name: 'perPage', list: false as const },
    style === 'page'
      ? { role: 'page' as const, name: 'page', list: false as const }
      : { role: 'after' as const, name: 'after', list: false as const }
  ].map((parameter, index) => ({ ...parameter, index }))
}
