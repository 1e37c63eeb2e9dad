import { httpErrors } from '@concordat/error-catalogue'

/** Returns the row, or throws a 404 when it is undefined. */
export function found<Row>(row: Row | undefined): Row {
  if (row === undefined) throw httpErrors.create('RESOURCE_NOT_FOUND')
  return row
}
