import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import type { Collection } from '../collection.ts'
import { requireBounds } from '../declaration/bounds.ts'
import { allowsNull, alternativesOf, dayFormatOf, type Field, isNull, kindsOf, numberTypeOf } from '../declaration/field.ts'
import type { ItemMembers } from '../declaration/item-members.ts'
import type { ListResponse } from '../declaration/list-response.ts'
import { filterName, parameterObjects } from '../declaration/parameter-objects.ts'
import { type Operator, operatorOf } from '../list/operators.ts'
import type { ValueKind } from '../list/value-text.ts'
import type { Settings } from '../options.ts'

/** A query parameter of a collection. `index` is its position in the canonical order. */
export type Parameter = { readonly index: number; readonly name: string } & (
  | { readonly role: 'filter'; readonly list: boolean; readonly field: Field; readonly operator: Operator }
  | { readonly role: 'sort' | 'fields'; readonly list: true }
  | { readonly role: 'perPage' | 'page' | 'after'; readonly list: false }
)

/** The required and the nullable fields of a row, and the fields that are numbers, dates or times. */
export interface RowRules {
  readonly required: ReadonlySet<string>
  readonly nullable: ReadonlySet<string>
  readonly numbers: ReadonlyMap<string, 'integer' | 'number'>
  readonly days: ReadonlyMap<string, 'date' | 'date-time'>
}

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
  settings: Settings
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
    projected,
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

function parametersOf({ style, filters, fields }: Collection): readonly Parameter[] {
  const filtering = [...filters].flatMap(([name, operators]) =>
    operators.map((operator) => ({
      role: 'filter' as const,
      name: filterName(name, operator),
      list: operatorOf[operator].takes === 'list',
      field: fields.get(name) as Field,
      operator
    }))
  )
  return [
    ...filtering,
    { role: 'sort' as const, name: 'sort', list: true as const },
    { role: 'fields' as const, name: 'fields', list: true as const },
    { role: 'perPage' as const, name: 'perPage', list: false as const },
    style === 'page'
      ? { role: 'page' as const, name: 'page', list: false as const }
      : { role: 'after' as const, name: 'after', list: false as const }
  ].map((parameter, index) => ({ ...parameter, index }))
}

// Returns the rules for rows that the response schema of a route declares.
function rowRules({ schemas, required }: ItemMembers): RowRules {
  const numbers = new Map<string, 'integer' | 'number'>()
  const days = new Map<string, 'date' | 'date-time'>()
  for (const [name, schema] of schemas) {
    const type = numberTypeOf(schema)
    if (type !== undefined) numbers.set(name, type)
    const [format, ...others] = new Set(
      alternativesOf(schema)
        .filter((one) => !isNull(one))
        .map(dayFormatOf)
    )
    if (format !== undefined && others.length === 0) days.set(name, format)
  }
  return { required, nullable: new Set([...schemas].flatMap(([name, schema]) => (allowsNull(schema) ? [name] : []))), numbers, days }
}
