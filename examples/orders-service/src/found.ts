import { httpErrors } from '@concordat/error-catalogue'

/** The row, or a 404 in its place. */
export function found<Row>(row: Row | undefined): Row {
  if (row === undefined) throw httpErrors.create('RESOURCE_NOT_FOUND')
  return row
}
