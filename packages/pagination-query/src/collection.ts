import type { FastifyRequest } from 'fastify'
import { type Field, fieldOf } from './declaration/field.ts'
import { type JsonSchema, membersOf, targetOf } from './declaration/item-members.ts'
import { operatorsOf } from './declaration/operator-table.ts'
import { type ParameterObject, parameterObjects } from './declaration/parameter-objects.ts'
import { requireDeclaration } from './declaration/rules.ts'
import type { Condition, Count, ListQuery, SortKey } from './list-query.ts'
import type { Operator, ValueKind } from './operators.ts'
import { orderOf } from './order/sort-order.ts'

/** The bounds of `perPage`. */
export interface PerPage {
  /** @default 25 */
  readonly default?: number | undefined
  /** @default 100 */
  readonly max?: number | undefined
}

type Text<Value> = Value extends boolean ? boolean : Value extends number ? `${Value}` : Value extends string ? Value : string | boolean
type ValueOf<Value, Name> = Name extends 'null' ? boolean : Name extends 'in' | 'nin' ? readonly (Text<Value> & string)[] : Text<Value>

type Equality = 'eq' | 'ne'
type Lists = 'in' | 'nin'
type Comparison = 'gt' | 'gte' | 'lt' | 'lte'
// What the type tells; the formats of text (uuid, date, decimal) are checked at boot.
type OperatorsFor<Value> = unknown extends Value
  ? Operator
  : (undefined extends Value ? 'null' : never) | (null extends Value ? 'null' : never) | OperatorsForValue<NonNullable<Value>>
type OperatorsForValue<Value> = [Value] extends [boolean]
  ? Equality
  : [Value] extends [number]
    ? Equality | Lists | Comparison
    : string extends Value
      ? Equality | Lists | Comparison | 'prefix'
      : Equality | Lists

type Scalar = string | number | boolean | null | undefined
type ScalarName<Row> = {
  [Name in keyof Row & string]-?: unknown extends Row[Name] ? Name : Row[Name] extends Scalar ? Name : never
}[keyof Row & string]
type Directed<Name extends string> = Name | `-${Name}`

/** The operators of each field that may be filtered by; `true` for those that its values have by default. */
export type Filters<Row> = { readonly [Name in ScalarName<Row>]?: true | readonly OperatorsFor<Row[Name]>[] }

type NamesOf<Filter, Row> = keyof Filter & keyof Row & string
type Chosen<Filter, Value> = Filter extends readonly (infer Name extends Operator)[] ? Name : Exclude<OperatorsFor<Value>, 'prefix'>
type ConditionOn<Name extends string, Value, Chosen extends Operator> = Chosen extends Operator
  ? { readonly field: Name; readonly kind: ValueKind; readonly operator: Chosen; readonly value: ValueOf<NonNullable<Value>, Chosen> }
  : never

/** The conditions that a collection can have: a union that its `field` and `operator` tell apart. */
export type ConditionsOf<Row, Filter> = {
  [Name in NamesOf<Filter, Row>]: ConditionOn<Name, Row[Name], Chosen<Filter[Name], Row[Name]>>
}[NamesOf<Filter, Row>]

/** A {@link ListQuery} whose conditions are those that the collection allows. */
export interface CollectionQuery<Row, Conditions extends Condition> extends ListQuery<Row> {
  readonly conditions: readonly Conditions[]
}

/** How a list of resources may be asked for. */
export interface Declaration<Row, Key extends string, Combination extends readonly string[], Filter> {
  /** The name of the resource type, in the plural; the table of adapters by default. */
  readonly name: string
  /** By numbered pages, for totals and random access; or by cursor, for lists that are large or change often (rules Q7, Q8). */
  readonly style: 'page' | 'cursor'
  /** The member that identifies a resource. It is the last key of every order, and always part of the answer. */
  readonly id: keyof Row & string
  /** The order of lists that ask for none; one of those that `sort` allows. */
  readonly defaultSort: readonly [Directed<NoInfer<Key>>] | NoInfer<Combination>
  readonly sort: {
    /** Fields that lists may be sorted by, each alone and in either direction. */
    readonly keys: readonly Key[]
    /** Orders of several keys, each exactly as it may be asked for. */
    readonly combinations?: readonly Combination[]
  }
  readonly filter?: Filter & { readonly [Name in Exclude<keyof Filter, ScalarName<Row>>]: never }
  /**
   * How `totalItems` is counted.
   * @default 'exact' of collections by page, `{ atMost: 10_000 }` of those by cursor
   */
  readonly count?: Count
  /** Whether the caller may see a field. To those who may not, it does not exist: neither in rows nor in filters and orders. */
  readonly readable?: (request: FastifyRequest, field: string) => boolean
  /** What a cursor is bound to besides sort and filters, as the tenant or the parent in the path. */
  readonly scope?: (request: FastifyRequest) => string
  /** @default the plugin's */
  readonly perPage?: PerPage
  /**
   * The last item that collections by page reach.
   * @default the plugin's
   */
  readonly maxOffset?: number
}

/** A declared collection: what routes, `request.listQuery`, adapters and descriptions share. */
export interface Collection<Row = unknown, Conditions extends Condition = Condition> {
  readonly name: string
  readonly style: 'page' | 'cursor'
  readonly id: string
  /** The members of the resource. */
  readonly fields: ReadonlyMap<string, Field>
  /** Every order that can be asked for, as clients write it; each ends with the identifier. */
  readonly sorts: ReadonlyMap<string, readonly SortKey[]>
  /** One of `sorts`. */
  readonly defaultSort: string
  /** The operators of each field that can be filtered by. */
  readonly filters: ReadonlyMap<string, readonly Operator[]>
  readonly count: Count
  readonly readable: ((request: FastifyRequest, field: string) => boolean) | undefined
  readonly scope: ((request: FastifyRequest) => string) | undefined
  readonly perPage: PerPage
  readonly maxOffset: number | undefined
  /** The schema of a whole resource. */
  readonly item: JsonSchema
  /** The query parameters as OpenAPI 3.1 describes them, with literal names such as `total[gte]` (rule Q13). */
  readonly parameters: readonly ParameterObject[]
  /** Never set: it carries the types. */
  readonly query?: CollectionQuery<Row, Conditions>
}

/** Completes a collection whose resource is known. */
export type Declare<Row> = <
  const Key extends ScalarName<Row>,
  const Combination extends readonly Directed<ScalarName<Row>>[] = never,
  const Filter extends Filters<Row> = Record<never, never>
>(
  declaration: Declaration<Row, Key, Combination, Filter>
) => Collection<Row, ConditionsOf<Row, Filter>>

/**
 * Declares a collection of the resource that a schema describes: TypeBox, whose types it takes over, or any JSON Schema object,
 * whose type is given as `collection<Order>(schema)`. Throws a `TypeError` of one line for a declaration that can't work.
 *
 * @example
 * const orders = collection(Order)({
 *   name: 'orders', style: 'cursor', id: 'id', defaultSort: ['-placedAt'],
 *   sort: { keys: ['placedAt', 'total'] },
 *   filter: { status: ['eq', 'in'], total: ['gte', 'lt'] }
 * })
 */
export function collection<const Schema extends { readonly static: unknown }>(item: Schema): Declare<Schema['static']>
export function collection<Row = Readonly<Record<string, unknown>>>(item: object): Declare<Row>
export function collection(item: object) {
  return (declaration: Declaration<unknown, string, readonly string[], Readonly<Record<string, true | readonly Operator[]>>>) =>
    complete(item as JsonSchema, declaration)
}

function complete(
  item: JsonSchema,
  declaration: Declaration<unknown, string, readonly string[], Readonly<Record<string, true | readonly Operator[]>>>
): Collection {
  const { name, style, id, sort, defaultSort, perPage = {}, maxOffset, readable, scope } = declaration
  const { schemas, required } = membersOf(item, (reference) => (reference.startsWith('#') ? targetOf(item, reference) : undefined))
  const fields = new Map([...schemas].map(([member, schema]) => [member, fieldOf(member, schema, required.has(member))]))
  requireDeclaration(fields, declaration)

  const wanted = [...sort.keys.flatMap((key) => [[key], [`-${key}`]]), ...(sort.combinations ?? [])]
  const filters = new Map<string, readonly Operator[]>()
  for (const [field, chosen] of Object.entries(declaration.filter ?? {})) {
    filters.set(field, chosen === true ? operatorsOf(fields.get(field) as Field).byDefault : chosen)
  }
  const declared = {
    name,
    style,
    id,
    fields,
    sorts: new Map(wanted.map((keys) => [keys.join(','), orderOf(keys, id, fields)])),
    defaultSort: defaultSort.join(','),
    filters,
    count: declaration.count ?? (style === 'page' ? 'exact' : { atMost: 10_000 }),
    readable,
    scope,
    perPage,
    maxOffset,
    item
  }
  return { ...declared, parameters: parameterObjects(declared, { default: perPage.default ?? 25, max: perPage.max ?? 100 }, false) }
}
