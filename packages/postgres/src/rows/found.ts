import { rowMissing } from './errors.ts'

/** Returns the row if it exists. Throws a 404 `RESOURCE_NOT_FOUND` when it is undefined. */
export function found<Row>(row: Row | undefined): Row {
  if (row === undefined) throw rowMissing()
  return row
}
