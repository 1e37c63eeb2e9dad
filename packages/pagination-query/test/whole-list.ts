import type { ListQuery } from '@concordat/pagination-query'

/** What asks for the first ten rows by their identifier, with what a test changes. */
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
