import type { Operator, ValueKind } from './operators.ts'
import type { KeyRange } from './order/key-ranges.ts'
import type { SortKey } from './order/sort-key.ts'

export type { SortKey } from './order/sort-key.ts'

/** A condition that every row of the list meets; several are joined by AND. */
export interface Condition {
  /** The member of the resource, as clients name it. */
  readonly field: string
  readonly kind: ValueKind
  readonly operator: Operator
  /**
   * Numbers and times stay text, so that no digit is lost on the way to the database: decimal digits for `integer` and
   * `decimal`, RFC 3339 for times. An array for `in` and `nin`, a boolean for `null` and for boolean fields.
   * `ne` and `nin` hold for null as well: they are true unless equal.
   */
  readonly value: string | boolean | readonly string[]
}

/** How many rows there are in all: not asked, all of them, all up to a limit, or what the planner of the database believes. */
export type Count = 'none' | 'exact' | 'estimated' | { readonly atMost: number }

/** What one request asks of a collection, checked and complete. Adapters run it; nothing in it needs another check. */
export interface ListQuery<Row = unknown> {
  /** The name of the collection; the table by default. */
  readonly name: string
  /** The member that identifies a row. It is the last sort key and always among `fields`. */
  readonly id: string
  readonly conditions: readonly Condition[]
  /** The order of the answer; total, since it ends with the identifier. */
  readonly order: readonly SortKey[]
  /** The members to answer with. */
  readonly fields: readonly string[]
  /**
   * What the values of members are, where that is known. Databases' drivers make a `Date` of times, which ends at the
   * millisecond, and of dates, which moves them by a day; adapters that can, answer both as text.
   */
  readonly kinds?: Readonly<Record<string, ValueKind>> | undefined
  /** Rows on the page. Fetch one more to know whether there is another page. */
  readonly perPage: number
  /**
   * Read from the end: fetch in the opposite order, and let `pageOf` turn the rows around. `ranges` are in the opposite order
   * already.
   */
  readonly reverse: boolean
  /** Rows to skip, of collections by page. */
  readonly offset: number
  /**
   * Where to read: disjoint parts of the order, nearest first. One without any restriction at the beginning of a walk, and on
   * every page of collections by page; none when nothing can follow.
   */
  readonly ranges: readonly KeyRange[]
  readonly count: Count
  /** Never set: it carries the type of the rows. */
  readonly row?: Row
}
