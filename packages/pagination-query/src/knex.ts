import type { Knex } from 'knex'
import { countTotal, plannedRows } from './counting.ts'
import type { ListQuery } from './list-query.ts'
import { type Page, pageOf } from './page.ts'
import { quoted, type SqlColumns } from './sql-columns.ts'
import { type Fragment, fragment, joined, raw } from './sql-fragment.ts'
import { conditionSql, orderSql, outerOrderSql, rangeSql, selections } from './sql-parts.ts'
import { keyedRows } from './sql-rows.ts'

export type { SqlColumn, SqlColumns } from './sql-columns.ts'

/** What of `knex('orders').where(…)` is used, whatever its rows are. */
export type KnexBuilder = Pick<Knex.QueryBuilder, 'clone' | 'client'>

/**
 * Runs a query by Knex, on PostgreSQL. The builder says where the rows come from and what they meet besides the conditions:
 * `knex('orders').where('customer_id', id)`, joins included. It is not changed; what it selects, sorts by and limits to is replaced.
 *
 * Rows are as the driver gives them, except that dates and times are text (RFC 3339, in UTC, all digits kept) where the query
 * knows their kind. The total costs a second statement, unless the page tells it already.
 *
 * @param columns the columns of members; by default the member's name in snake_case
 * @throws TypeError when the builder joins filters by OR, which would let rows pass by the conditions
 */
export async function runKnex<Row>(builder: KnexBuilder, query: ListQuery<Row>, columns: SqlColumns = {}): Promise<Page<Row>> {
  refuseAlternatives(builder)
  const { offset, perPage, ranges } = query
  const client = builder.client as Knex.Client & { raw(sql: string, bindings: readonly unknown[]): Knex.Raw }
  const source = allOf(builder.clone().clearSelect().clearOrder().clear('limit').clear('offset'), query.conditions.map((one) => conditionSql(columns, one)))

  const rows = await fetch()
  return pageOf(query, keyedRows(query, rows), await countTotal(query, rows.length, { count, estimate }))

  async function fetch(): Promise<object[]> {
    const [first, ...others] = ranges.map((range) => allOf(source.clone(), rangeSql(columns, query.order, range)).select())
    return []
  }
}
