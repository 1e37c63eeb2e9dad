import type { Operator } from './operators.ts'
import type { Included, RelatedRows } from './related.ts'
import type { SortKey } from './sort-key.ts'
import type { ValueKind } from './value-text.ts'

export type { SortKey } from './sort-key.ts'

/** The values of the sort keys of a row as text, in the order of the keys. */
export type Key = readonly (string | null)[]

/**
 * A part of the order that an index finds with a single seek: the rows whose first keys equal the values in `equal`, and whose next keys are beyond
 * the values in `beyond`. At most one of `beyond`, `isNull` and `notNull` is set; without any, the range has all rows with equal first keys.
 */
export interface KeyRange {
  readonly equal: readonly (string | null)[]
  /** The keys from `equal.length` on, compared as a single row value. They have the same direction, and no value is null. */
  readonly beyond?: { readonly operator: '>' | '>=' | '<' | '<='; readonly values: readonly string[] } | undefined
  /** Whether the key at `equal.length` is null. */
  readonly isNull?: true | undefined
  readonly notNull?: true | undefined
}

/** A condition that every row of the list meets. Several conditions are joined by AND. */
export interface Condition {
  /** The name of a field, with that of its relation for a field of one of `related`: `customer.country`. */
  readonly field: string
  /** The fields of which at least one meets the condition. Then `field` is the name of the parameter. */
  readonly anyOf?: readonly string[] | undefined
  readonly kind: ValueKind
  readonly operator: Operator
  /**
   * An array for `in` and `nin`, a boolean for `null` and for boolean fields. Numbers and times are text, so that no digit is lost: decimal digits,
   * RFC 3339.
   */
  readonly value: string | boolean | readonly string[]
}

/** How the total is counted: not at all, exactly, or exactly up to a limit. */
export type Count = 'none' | 'exact' | { readonly max: number }

/** The validated, complete query of a request to a collection. Adapters run it without further validation. */
export interface ListQuery<Row = unknown> {
  /** The name of the collection. It is the table by default. */
  readonly name: string
  /** The field that identifies a row. It is the last sort key, and `fields` always contains it. */
  readonly id: string
  readonly conditions: readonly Condition[]
  /** The order of the rows on the page. It is total, because it ends with the identifier. */
  readonly order: readonly SortKey[]
  readonly fields: readonly string[]
  /** The kinds of the fields, where they are known. Adapters return dates and times as text; a `Date` has only milliseconds. */
  readonly kinds?: Readonly<Record<string, ValueKind>> | undefined
  /** The fields whose columns are read as this type: numbers that are strings in a row, with all their digits, whatever the driver returns for them. */
  readonly numberTexts?: ReadonlyMap<string, 'text' | 'text[]'> | undefined
  /** Whether the request has a tenant, so that policies of the database may limit the rows: some operators then use no index. */
  readonly hasTenant?: boolean | undefined
  /** The number of rows on the page. Fetch one row more to know whether another page follows. */
  readonly perPage: number
  /** Whether the page is read from the end: fetch the rows in the opposite order, and let `pageOf` reverse them. `ranges` are in that order already. */
  readonly reverse: boolean
  /** The number of rows to skip, with the style `page`. */
  readonly offset: number
  /** The disjoint ranges of rows to read, the nearest to the position first. `[{ equal: [] }]` has every row, `[]` none. */
  readonly ranges: readonly KeyRange[]
  readonly count: Count
  /** The relations of the rows that the client asked for. `runSql` reads them. */
  readonly include?: readonly Included[] | undefined
  /** The relations whose fields are in `conditions`, by name. `runSql` reads them. */
  readonly related?: ReadonlyMap<string, RelatedRows> | undefined
  /** A type-only property that is never set. It only carries the type of the rows. */
  readonly row?: Row | undefined
}
