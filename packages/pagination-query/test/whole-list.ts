import type { ListQuery } from '@concordat/pagination-query'

/** Returns the query for the first ten rows in the order of the identifier, with the changes of a test. */
export function wholeList<Row>(changes: Partial<ListQuery<Row>> = {}): ListQuery<Row> {
  return {
    name: 'items',
    id: 'id',
    conditions: [],
    order: [{ field: 'id', kind: 'integer', nullable: false, descending: false }],
    fields: ['id'],
    perPage: 10,
    reverse: false,
    offset: 0,
    ranges: [{ equal: [] }],
    count: 'none',
    ...changes
  }
}
