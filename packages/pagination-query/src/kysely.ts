import { type AliasedExpression, type KyselyPlugin, type RawBuilder, type SelectQueryBuilder, type SelectQueryNode, sql } from 'kysely'
import { type Counter, countTotal, plannedRows } from './counting.ts'
import type { KeyRange } from './key-ranges.ts'
import type { ListQuery } from './list-query.ts'
import { type Page, pageOf } from './page.ts'
import type { SqlColumns } from './sql-columns.ts'
import { type Fragment, joined } from './sql-fragment.ts'
import {
  answeredSelections,
  conditionSql,
  orderSql,
  outerOrderSql,
  rangeSql,
  type SqlSelection,
  storedSelections,
  valueSelections
} from './sql-parts.ts'
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

type Selected = readonly AliasedExpression<unknown, string>[]

function pageQuery(from: Rows, query: ListQuery, columns: SqlColumns) {
  const { offset, perPage, ranges } = query
  const [only, ...others] = ranges as readonly [KeyRange, ...KeyRange[]]
  const order = expression(joined(orderSql(query, columns), ', '))
  const branch = (selected: Selected, range: KeyRange) => {
    const met = rangeSql(columns, query.order, range)
    const rows = met.length > 0 ? from.where(expression(joined(met, ' and '))) : from
    return rows.select(selected).orderBy(order)
  }
  if (others.length === 0 && offset === 0) return branch(aliased(answeredSelections(query, columns)), only).limit(perPage + 1)
  // Only rows of the page are made into text, behind the limits. The builder knows no other way to a subquery behind FROM than a
  // branch of a union; the branch before it is taken out of the finished query.
  const several = others.length > 0
  const stored = aliased(storedSelections(query, columns))
  const answered = aliased([...answeredSelections(query), ...valueSelections(query)])
  const sorted = expression(joined(outerOrderSql(query), ', '))
  const branches = ranges.map((range) => branch(stored, range).limit(several ? offset + perPage + 1 : perPage + 1))
  const union = sql<object>`(${sql.join(several ? branches : [branches[0]?.offset(offset)], sql` union all `)})`.as<'page'>('page')
  return from
    .select(sql`null`.as<string>('nothing'))
    .unionAll((builder) => {
      const page = builder.selectFrom(union).select(answered).orderBy(sorted)
      return several ? page.limit(perPage + 1).offset(offset) : page
    })
    .withPlugin(lastBranch)
}

/** Leaves of a union its last branch. */
const lastBranch: KyselyPlugin = {
  transformQuery: ({ node }) => (node as SelectQueryNode).setOperations?.at(-1)?.expression as SelectQueryNode,
  transformResult: async ({ result }) => result
}

function aliased(selections: readonly SqlSelection[]): Selected {
  return selections.map(({ name, sql }) => expression<unknown>(sql).as(name))
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
