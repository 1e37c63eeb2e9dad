import type { ValueKind } from './value-text.ts'

/** A key of a sort order. Null counts as the largest value: last when ascending, first when descending. */
export interface SortKey {
  readonly field: string
  readonly kind: ValueKind
  readonly nullable: boolean
  readonly descending: boolean
}
