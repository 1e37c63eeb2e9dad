import { rowMissing } from './errors.ts'

/** Returns the row. Throws a 404 `RESOURCE_NOT_FOUND` when it is undefined. */
export function found<Row>(row: Row | undefined): Row {
  if (row === undefined) throw rowMissing()
  return row
}
