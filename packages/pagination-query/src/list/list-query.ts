import type { Operator } from './operators.ts'
import type { ValueKind } from './value-text.ts'

/** A key of a sort order. Null counts as the largest value: last when ascending, first when descending. */
export interface SortKey {
  readonly field: string
  readonly kind: ValueKind
  readonly nullable: boolean
  readonly descending: boolean
}

/** The values of the sort keys of a row as text, in the order of the keys. */
export type Key = readonly (string | null)[]

/**
 * A part of the order that an index finds with a single seek: the rows whose first keys equal the values in `equal`, and whose next
 * keys are beyond the values in `beyond`. At most one of `beyond`, `isNull` and `notNull` is set. Without any of them, the range
 * contains all rows with equal first keys.
 */
export interface KeyRange {
  /** The values of the first keys. Null means that the key is null. */
  readonly equal: readonly (string | null)[]
  /**
   * The keys from `equal.length` on, compared as a single row value. All of them have the same direction, and none of the values
   * is null.
   */
  readonly beyond?: { readonly operator: '>' | '>=' | '<' | '<='; readonly values: readonly string[] } | undefined
  /** Whether the key at `equal.length` is null. */
  readonly isNull?: true | undefined
  /** Whether the key at `equal.length` is not null. */
  readonly notNull?: true | undefined
}

/** A condition that every row of the list meets. Several conditions are joined by AND. */
export interface Condition {
  /** The field of the resource, by the name that clients use. */
  readonly field: string
  readonly kind: ValueKind
  readonly operator: Operator
  /**
   * The value: an array for `in` and `nin`, a boolean for `null` and for boolean fields. Numbers and times are strings, so that no
   * digit is lost on the way to the database: decimal digits for `integer` and `decimal`, RFC 3339 for times. `ne` and `nin` also
   * match null: they are true unless the values are equal.
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
  /** The order of the rows on the page. It is a total order, because it ends with the identifier. */
  readonly order: readonly SortKey[]
  /** The fields to return. */
  readonly fields: readonly string[]
  /**
   * The kinds of the fields, where they are known. Database drivers turn times into a `Date`, which is limited to milliseconds, and
   * dates too, which can shift them by a day. Adapters return both as strings where they can.
   */
  readonly kinds?: Readonly<Record<string, ValueKind>> | undefined
  /** The number of rows on the page. Fetch one row more to know whether another page follows. */
  readonly perPage: number
  /**
   * Whether the page is read from the end; if so, fetch the rows in the opposite order and let `pageOf` reverse them. `ranges` are already in the
   * opposite order.
   */
  readonly reverse: boolean
  /** The number of rows to skip, for collections with the style `page`. */
  readonly offset: number
  /**
   * The disjoint ranges of rows to read, the range nearest to the position of the page first. The first page of a collection with the
   * style `cursor`, and every page with the style `page`, has a single range without any restriction. It is empty if no row can follow.
   */
  readonly ranges: readonly KeyRange[]
  readonly count: Count
  /** A type-only property that is never set. It only carries the type of the rows. */
  readonly row?: Row | undefined
}
