import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import type { FastifyRequest } from 'fastify'
import type { SortKey } from './sort-key.ts'
import type { ValueKind } from './value-text.ts'

/** The required and the nullable fields of a row, and the fields that are numbers, dates or times. */
export interface RowRules {
  readonly required: ReadonlySet<string>
  readonly nullable: ReadonlySet<string>
  readonly numbers: ReadonlyMap<string, 'integer' | 'number'>
  readonly days: ReadonlyMap<string, 'date' | 'date-time'>
}

/** The collection to which a relation leads. Every collection has these members. */
export interface RelatedCollection<Row = unknown> {
  readonly name: string
  readonly id: string
  readonly fields: ReadonlyMap<string, { readonly kind: ValueKind | undefined; readonly choices: readonly string[] }>
  readonly numberTexts: ReadonlyMap<string, 'text' | 'text[]'>
  readonly sorts: ReadonlyMap<string, readonly SortKey[]>
  readonly readable: ((request: FastifyRequest, field: string) => boolean) | undefined
  readonly deleted: { readonly field: string } | undefined
  readonly item: JsonSchema
  /** A type-only property that is never set. It only carries the type of the rows. */
  readonly query?: { readonly row?: Row | undefined } | undefined
}

/** How the rows of a collection lead to those of another one. */
export interface Relation<Row = unknown> {
  readonly target: RelatedCollection<Row>
  readonly rowRules: RowRules
  readonly key: string
  readonly permission: string
  /** Returns the source of the rows that the client of a request may see; undefined if that is the whole table. */
  readonly source: ((request: FastifyRequest) => object) | undefined
  /** Set if there can be several. */
  readonly many?: { readonly order: readonly SortKey[]; readonly max: number } | undefined
}

/** The relations of a collection, by name. */
export type Relations = ReadonlyMap<string, Relation>

/** The requested relations by name, each with the requested fields of its rows, or undefined for all. */
export type RequestedRelations = ReadonlyMap<string, readonly string[] | undefined>

/** A relation that a request includes, with what its client may see. */
export interface Included {
  readonly name: string
  readonly relation: Relation
  /** The fields of the other rows. They always contain the identifier. */
  readonly fields: readonly string[]
  /** The source of its rows, as for `runSql`. */
  readonly source: object
}

/** A relation by whose fields a request filters, with what its client may see. */
export type RelatedRows = Pick<Included, 'relation' | 'source'>

/** Splits the name of a field of a relation, such as `customer.country`. Returns undefined for another name. */
export function splitRelated(name: string, relations: Pick<Relations, 'has'>): readonly [relation: string, field: string] | undefined {
  const dot = name.indexOf('.')
  return dot !== -1 && relations.has(name.slice(0, dot)) ? [name.slice(0, dot), name.slice(dot + 1)] : undefined
}

/** The rows of the relations of a row, by name: an object or null, or `{ items, more }`. */
export type IncludedRows = Readonly<Record<string, unknown>>
