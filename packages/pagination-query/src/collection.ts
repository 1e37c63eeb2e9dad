import { type InputOf, type JsonSchema, jsonSchemaOf, type OutputOf, type StandardSchema } from '@concordat/plugin-kit/json-schema'
import type { FastifyRequest } from 'fastify'
import { type AnyOfFilters, anyOfFilters } from './declaration/any-of-filter.ts'
import type { PerPage } from './declaration/bounds.ts'
import { type DeletedOptions, readDeleted } from './declaration/deleted-rows.ts'
import { type Field, fieldOf, filterFieldOf, numberTextOf, operatorsOf, orderOf } from './declaration/field.ts'
import { dereferenceWithin, membersOf } from './declaration/item-members.ts'
import { type ParameterObject, parameterObjects } from './declaration/parameter-objects.ts'
import { requireRelations } from './declaration/relation.ts'
import {
  type AnyDeclaration,
  type Filters as AnyFilters,
  declarationOptions,
  requireDeclaration,
  requireFilters
} from './declaration/rules.ts'
import type { KindOfSchema, StaticOf } from './declaration/typebox-static.ts'
import type { Condition, Count, ListQuery, SortKey } from './list/list-query.ts'
import type { Operator, OperatorsOn, OperatorsWith } from './list/operators.ts'
import type { Relation, Relations } from './list/related.ts'
import type { ValueKind } from './list/value-text.ts'

type Text<Value> = Value extends boolean ? boolean : Value extends number ? `${Value}` : Value extends string ? Value : string | boolean
type ValueOf<Value, Name> =
  Name extends OperatorsWith<{ takes: 'flag' }>
    ? boolean
    : Name extends OperatorsWith<{ takes: 'list' }>
      ? readonly (Text<Value> & string)[]
      : Text<Value>

// The operators that follow from the type. The formats of strings (uuid, date, decimal) are checked at boot.
type OperatorsFor<Value> = unknown extends Value
  ? Operator
  : (undefined extends Value ? 'null' : never) | (null extends Value ? 'null' : never) | OperatorsForValue<NonNullable<Value>>
type OperatorsForValue<Value> = [Value] extends [boolean]
  ? OperatorsOn<'boolean'>
  : [Value] extends [number]
    ? OperatorsOn<'integer' | 'decimal'>
    : string extends Value
      ? OperatorsOn<Exclude<ValueKind, 'boolean'>>
      : OperatorsOn<'enum'>

type Scalar = string | number | boolean | null | undefined
type ScalarName<Row> = {
  [Name in keyof Row & string]-?: unknown extends Row[Name] ? Name : Row[Name] extends Scalar ? Name : never
}[keyof Row & string]
type Directed<Name extends string> = Name | `-${Name}`

/** The filter operators that each field allows. `true` allows the default operators for the kind of its values. */
type Filters<Row> = { readonly [Name in ScalarName<Row>]?: true | readonly OperatorsFor<Row[Name]>[] }

type RowOf<Related, Name> = Name extends keyof Related ? (Related[Name] extends Relation<infer Row> ? Row : never) : never
type PathOf<Related> = { [Name in keyof Related & string]: `${Name}.${ScalarName<RowOf<Related, Name>>}` }[keyof Related & string]
type ValueAt<Related, Path> = Path extends `${infer Name}.${infer Field}` ? RowOf<Related, Name>[Field & keyof RowOf<Related, Name>] : never
type RelatedFilters<Related> = { readonly [Path in PathOf<Related>]?: true | readonly OperatorsFor<ValueAt<Related, Path>>[] }

type NamesOf<Filter, Row> = keyof Filter & keyof Row & string
type Chosen<Filter, Value> = Filter extends readonly (infer Name extends Operator)[]
  ? Name
  : Exclude<OperatorsFor<Value>, OperatorsWith<{ optIn: true }>>
type ConditionOn<Name extends string, Value, Chosen extends Operator> = Chosen extends Operator
  ? { readonly field: Name; readonly kind: ValueKind; readonly operator: Chosen; readonly value: ValueOf<NonNullable<Value>, Chosen> }
  : never

// The conditions on fields of relations, such as `customer.country`.
type RelatedConditions<Related, Filter> = {
  [Path in keyof Filter & PathOf<Related>]: ConditionOn<Path, ValueAt<Related, Path>, Chosen<Filter[Path], ValueAt<Related, Path>>>
}[keyof Filter & PathOf<Related>]

/** The conditions that a collection can have: a union, discriminated by `field` and `operator`. */
export type ConditionsOf<Row, Filter> = {
  [Name in NamesOf<Filter, Row>]: ConditionOn<Name, Row[Name], Chosen<Filter[Name], Row[Name]>>
}[NamesOf<Filter, Row>]

type AnyOf = Readonly<Record<string, readonly string[]>>
/** The conditions of the filters over several fields. */
type AnyConditionsOf<Row, Filter, Any extends AnyOf> = {
  [Name in keyof Any & string]: AnyConditionOn<
    Name,
    Any[Name],
    Row[Any[Name][number] & keyof Row],
    Filter[Any[Name][number] & keyof Filter]
  >
}[keyof Any & string]
// The operators of any of the fields, of which all have those that can occur.
type AnyConditionOn<Name extends string, Fields extends readonly string[], Value, Filter> =
  Chosen<Filter, Value> extends infer One extends Operator
    ? {
        readonly field: Name
        readonly anyOf: Fields
        readonly kind: ValueKind
        readonly operator: One
        readonly value: ValueOf<NonNullable<Value>, One>
      }
    : never

/** A {@link ListQuery} whose conditions have the types that the collection allows. */
export interface CollectionQuery<Row, Conditions extends Condition> extends ListQuery<Row> {
  readonly conditions: readonly Conditions[]
}

/** The declaration of a collection: how clients can request a list of resources. */
interface Declaration<
  Row,
  Key extends string,
  Combination extends readonly string[],
  Related extends Readonly<Record<string, Relation>>,
  Filter,
  Any extends AnyOf
> extends AnyDeclaration {
  readonly id: keyof Row & string
  readonly defaultSort: readonly [Directed<NoInfer<Key>>] | NoInfer<Combination>
  readonly sort: { readonly keys: readonly Key[]; readonly combinations?: readonly Combination[] | undefined }
  readonly filter?: (Filter & { readonly [Name in Exclude<keyof Filter, ScalarName<Row> | PathOf<Related>>]: never }) | undefined
  readonly any?: Any | undefined
  readonly deleted?: (DeletedOptions & { readonly field: keyof Row & string }) | undefined
  readonly relations?: Related | undefined
}

/** A declared collection, which routes, `request.listQuery`, adapters and API descriptions share. */
export interface Collection<Row = unknown, Conditions extends Condition = Condition> {
  readonly name: string
  readonly style: 'page' | 'cursor'
  readonly id: string
  /** The fields of the resource. */
  readonly fields: ReadonlyMap<string, Field>
  /** The type as which SQL reads a field that is a string with a number, such as one of the format `int64`, or a list of them. */
  readonly numberTexts: ReadonlyMap<string, 'text' | 'text[]'>
  /** Every sort order that clients can request, by the value of the `sort` parameter. Each ends with the identifier. */
  readonly sorts: ReadonlyMap<string, readonly SortKey[]>
  /** The sort order of requests without `sort`: a key of `sorts`. */
  readonly defaultSort: string
  /** The operators of each filter: of a field, of several fields in `any`, or of a field of a relation by its full name: `customer.country`. */
  readonly filters: ReadonlyMap<string, readonly Operator[]>
  /** The filters that a row meets if any of several fields does, by name. */
  readonly any: AnyOfFilters
  readonly count: Count
  /** How rows are deleted so that they can be restored; undefined if they are deleted for good. */
  readonly deleted: DeletedOptions | undefined
  readonly readable: ((request: FastifyRequest, field: string) => boolean) | undefined
  readonly scope: ((request: FastifyRequest) => string) | undefined
  readonly perPage: PerPage
  /** What `include` can embed, by name. */
  readonly relations: Relations
  /** The schema of a whole resource. */
  readonly item: JsonSchema
  /** The query parameters as OpenAPI 3.1 describes them, with literal names such as `total[gte]` (rule Q13). */
  readonly parameters: readonly ParameterObject[]
  /** A type-only property that is never set. It only carries the types. */
  readonly query?: CollectionQuery<Row, Conditions> | undefined
}

/**
 * Creates a collection from its declaration. The schema of the resource is already known. `Row` is what a handler returns, `Resource` what clients
 * see, which differ if the schema transforms.
 */
export type Declare<Row, Resource = Row> = <
  const Key extends ScalarName<Resource>,
  const Combination extends readonly Directed<ScalarName<Resource>>[] = never,
  const Related extends Readonly<Record<string, Relation>> = Record<never, never>,
  const Filter extends Filters<Resource> & RelatedFilters<Related> = Record<never, never>,
  const Any extends Readonly<Record<string, readonly (keyof NoInfer<Filter> & string)[]>> = Record<never, never>
>(
  declaration: Declaration<Resource, Key, Combination, Related, Filter, Any>
) => Collection<Row, ConditionsOf<Resource, Filter> | AnyConditionsOf<Resource, Filter, Any> | RelatedConditions<Related, Filter>>

/**
 * Returns a function that declares a collection of the resource that a schema describes. The types follow from a schema of TypeBox, or of a library
 * that implements Standard Schema, such as Zod; for any other JSON Schema object, pass the type: `collection<Order>(schema)`.
 *
 * @throws TypeError with a one-line message for an invalid declaration
 *
 * @example const orders = collection(Order)({ name: 'orders', style: 'cursor', id: 'id', defaultSort: ['-placedAt'], sort: { keys: ['placedAt',
 * 'total'] }, filter: { status: ['eq', 'in'], total: ['gte', 'lt'] } })
 */
export function collection<const Schema extends { readonly static: unknown }>(item: Schema): Declare<Schema['static']>
export function collection<const Schema extends KindOfSchema>(item: Schema): Declare<StaticOf<Schema>>
export function collection<const Schema extends StandardSchema>(item: Schema): Declare<InputOf<Schema>, OutputOf<Schema>>
export function collection<Row = Readonly<Record<string, unknown>>>(item: object): Declare<Row>
export function collection(item: object): unknown {
  return (declaration: AnyDeclaration) =>
    complete(jsonSchemaOf(item, 'output', `pagination-query: the schema of collection "${declaration.name}"`), declaration)
}

function complete(item: JsonSchema, declaration: AnyDeclaration): Collection {
  const {
    name,
    style,
    id,
    sort,
    defaultSort,
    filter,
    any: declaredAny,
    count,
    relations,
    deleted: givenDeleted,
    ...rest
  } = declarationOptions.read(declaration, `collection "${declaration.name}": declaration`)
  const dereference = dereferenceWithin(item)
  const { schemas, required } = membersOf(item, dereference)
  const fields = new Map([...schemas].map(([member, schema]) => [member, fieldOf(member, dereferenced(schema), required.has(member))]))
  requireDeclaration(fields, declaration)
  const related = new Map(Object.entries(relations))
  requireRelations({ name, id, fields }, related)
  requireFilters(name, fields, related, filter as AnyFilters)

  const wanted = [...sort.keys.flatMap((key) => [[key], [`-${key}`]]), ...(sort.combinations ?? [])]
  const filters = new Map<string, readonly Operator[]>()
  for (const [field, chosen] of Object.entries(filter as AnyFilters)) {
    filters.set(field, chosen === true ? operatorsOf(filterFieldOf(field, fields, related) as Field).byDefault : chosen)
  }
  const any = anyOfFilters(name, fields, filters, declaredAny)
  for (const [parameter, { operators }] of any) filters.set(parameter, operators)
  const deleted = readDeleted(name, givenDeleted, fields, filters)
  const declared = {
    ...rest,
    name,
    style,
    id,
    fields,
    numberTexts: new Map(
      [...schemas].flatMap(([member, schema]) => {
        const type = numberTextOf(schema)
        return type === undefined ? [] : [[member, type] as const]
      })
    ),
    sorts: new Map(wanted.map((keys) => [keys.join(','), orderOf(keys, id, fields)])),
    defaultSort: defaultSort.join(','),
    filters,
    any,
    deleted,
    relations: related,
    count: count ?? (style === 'page' ? 'exact' : { max: 10_000 }),
    item
  }
  return { ...declared, parameters: parameterObjects(declared, { default: rest.perPage.default ?? 25, max: rest.perPage.max ?? 100 }) }

  function dereferenced(schema: JsonSchema, steps = 0): JsonSchema {
    const target = typeof schema['$ref'] === 'string' && steps < 20 ? dereference(schema['$ref']) : undefined
    return target === undefined ? schema : dereferenced(target, steps + 1)
  }
}
