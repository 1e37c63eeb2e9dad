import { describeOptions, integer, type OptionsOf, value } from '@concordat/plugin-kit/options'
import type { Collection } from './collection.ts'
import { deletionConditions } from './declaration/deleted-rows.ts'
import { kindsOf } from './declaration/field.ts'
import { rangesFrom } from './list/key-ranges.ts'
import type { Condition, Count, ListQuery } from './list/list-query.ts'
import type { Page } from './list/page.ts'

/** The description of {@link WalkOptions}. */
const walkOptions = describeOptions('pagination-query', {
  /** The conditions that every row meets, joined by AND. */
  conditions: value<readonly Condition[]>({ default: [] }),
  /** The sort order, a key of `collection.sorts`. By default that of the collection. */
  sort: value<string>(),
  /** The number of rows on a page, which is one statement. */
  perPage: integer({ default: 100, min: 1 }),
  /** How the total of the first page is counted. */
  count: value<Count>({ default: 'none', names: { max: true } })
})

/** Options of {@link walkPages}. */
export interface WalkOptions extends OptionsOf<typeof walkOptions> {}

/**
 * Reads a whole collection page by page, for example for exports. Each row that exists during the whole walk is read exactly once, even while others
 * are inserted and deleted. Nothing stays open in the database between pages.
 *
 * @example
 * for await (const { rows } of walkPages(orders, (query) => runSql(pool, query))) await archive(rows)
 */
export async function* walkPages<Row>(
  collection: Collection<Row>,
  run: (query: ListQuery<Row>) => Page<Row> | Promise<Page<Row>>,
  options: WalkOptions = {}
): AsyncGenerator<Page<Row>, void, undefined> {
  const { conditions, sort: wanted, perPage, count } = walkOptions.read(options)
  const { name, id, fields, numberTexts, sorts, defaultSort } = collection
  const sort = wanted ?? defaultSort
  const order = sorts.get(sort)
  if (order === undefined) {
    throw new TypeError(`pagination-query: options.sort must be one of ${[...sorts.keys()].join('; ')}, but is "${sort}".`)
  }
  const read = { fields: [...fields.keys()], kinds: kindsOf(fields), numberTexts }
  const all = {
    name,
    id,
    conditions: [...conditions, ...deletionConditions(collection)],
    order,
    ...read,
    perPage,
    reverse: false,
    offset: 0
  }
  let page = await run({ ...all, ranges: [{ equal: [] }], count })
  yield page
  while (page.hasMore && page.last !== undefined) {
    page = await run({ ...all, ranges: rangesFrom(order, page.last, false), count: 'none' })
    yield page
  }
}
