import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { type Counter, countTotal, plannedRows } from './counting.ts'
import type { KeyRange } from './key-ranges.ts'
import type { ListQuery } from './list-query.ts'
import { type Page, pageOf } from './page.ts'
import { readingOrder } from './reading-order.ts'
import type { SqlColumns } from './sql-columns.ts'
import type { Fragment } from './sql-fragment.ts'
import { conditionSql, orderSql, rangeSql, selections, valueName } from './sql-parts.ts'
import { keyedRows } from './sql-rows.ts'

export type { SqlColumn, SqlColumns } from './sql-columns.ts'

// Which tables there are doesn't matter here: all columns are expressions.
type Rows = SelectQueryBuilder<Record<string, object>, string, object>

/**
 * Runs a query on PostgreSQL by Kysely. Rows are as the driver gives them, except that dates and times are text (RFC 3339, in
 * UTC, all digits kept) where the query knows their kind. The total costs a second statement, unless the page tells it already.
 *
 * @param base the builder with its tables, joins and conditions; without selection, order and limit
 * @param columns the columns of members by their names in the database, also with the CamelCasePlugin
 */
export async function runKysely<DB, TB extends keyof DB, Row>(
  base: SelectQueryBuilder<DB, TB, object>,
  query: ListQuery<Row>,
  columns: SqlColumns = {}
): Promise<Page<Row>> {
  const met = query.conditions.map((condition) => expression(conditionSql(columns, condition)))
  const from = met.reduce((rows, part) => rows.where(part), base as unknown as Rows)
  const rows: object[] = query.ranges.length === 0 ? [] : await pageQuery(from, query, columns).execute()
  return pageOf(query, keyedRows(query, rows), await countTotal(query, rows.length, counterOf(from)))
}

function pageQuery(from: Rows, query: ListQuery, columns: SqlColumns) {
  const { offset, perPage, ranges } = query
  const [only, ...others] = ranges as readonly [KeyRange, ...KeyRange[]]
  const selected = from.select(selections(query, columns, others.length > 0).map((one) => expression<unknown>(one.sql).as(one.name)))
  const branch = (range: KeyRange) => {
    const met = rangeSql(columns, query.order, range).reduce((rows, part) => rows.where(expression(part)), selected)
    return orderSql(query, columns).reduce((rows, key) => rows.orderBy(expression(key)), met)
  }
  if (others.length === 0)
    return branch(only)
      .limit(perPage + 1)
      .offset(offset)
  // An order of the first branch would become that of the whole, so the union begins with a branch without rows.
  const union = ranges.reduce(
    (rows, range) => rows.unionAll(({ parens }) => parens(branch(range).limit(offset + perPage + 1))),
    selected.where(sql<boolean>`false`)
  )
  return readingOrder(query)
    .reduce((rows, { descending }, index) => rows.orderBy(sql.ref(valueName(index)), descending ? 'desc' : 'asc'), union)
    .limit(perPage + 1)
    .offset(offset)
}

function counterOf(from: Rows): Counter {
  const items = sql<string>`count(*)::text`.as('items')
  const each = from.select(sql<number>`1`.as('one'))
  return {
    async count(limit) {
      if (limit === undefined) return Number((await from.select(items).executeTakeFirstOrThrow()).items)
      // The builder knows no other way to a subquery behind FROM than the branch of a union.
      const counted = from
        .select(sql<string>`''`.as('items'))
        .where(sql<boolean>`false`)
        .unionAll((builder) => builder.selectFrom(each.limit(limit).as('counted')).select(items))
      return Number((await counted.executeTakeFirstOrThrow()).items)
    },
    async estimate() {
      return plannedRows(await each.explain('json'))
    }
  }
}

function expression<Value = boolean>({ strings, values }: Fragment): RawBuilder<Value> {
  return sql<Value>(Object.assign([...strings], { raw: strings }), ...values)
}
