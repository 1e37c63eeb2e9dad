import {
  type AliasedExpression,
  type KyselyPlugin,
  type RawBuilder,
  SelectionNode,
  type SelectQueryBuilder,
  type SelectQueryNode,
  sql
} from 'kysely'
import { bound, type Fragment, fragment, joined } from './list/fragment.ts'
import type { ListQuery } from './list/list-query.ts'
import type { Page } from './list/page.ts'
import type { SqlColumns } from './sql/columns.ts'
import { otherDialect } from './sql/other-dialect.ts'
import { pageSql } from './sql/page.ts'
import { conditionSql } from './sql/parts.ts'
import { fetchPage } from './sql/rows.ts'
import { readColumns } from './sql/source.ts'
import { fetchWritten, type StatementSource } from './sql/written-page.ts'

// The types of the tables do not matter here, because all columns are expressions.
type Rows = SelectQueryBuilder<Record<string, object>, string, object>

/**
 * Runs a query with Kysely on PostgreSQL. Rows and totals are as from `runSql`.
 *
 * @param base the builder with its tables, joins and conditions; without selection, order and limit
 * @param columns the columns of fields by their names in the database, also with the CamelCasePlugin
 * @throws TypeError if the query fails and its parameters are not those of PostgreSQL
 */
export async function runKysely<DB, TB extends keyof DB, Row>(
  base: SelectQueryBuilder<DB, TB, object>,
  query: ListQuery<Row>,
  columns: SqlColumns = {}
): Promise<Page<Row>> {
  readColumns(columns)
  const met = query.conditions.map((condition) => expression(conditionSql(columns, condition)))
  const from = met.reduce((rows, part) => rows.where(part), base as unknown as Rows)
  return fetchPage(
    query,
    () => pageQuery(from, query, columns).execute(),
    (limit) => countRows(from, limit),
    () =>
      fetchWritten(
        query,
        writtenSource(from, () => base.compile().sql, columns)
      )
  ).catch((error: unknown) => {
    // Only then, because it compiles a statement.
    const { sql: text } = from.select(sql`${1}`.as('one')).compile()
    throw /\$\d/.test(text) ? error : otherDialect('runKysely', text, error)
  })
}

function writtenSource(from: Rows, base: () => string, columns: SqlColumns): StatementSource<Fragment> {
  return {
    key: () => JSON.stringify([base(), columns]),
    columns,
    select(selected, met, end) {
      const rows = from.select(listOf(selected)).modifyEnd(expression(fragment`order by ${end}`))
      return bound(met.length > 0 ? rows.where(expression(joined(met, ' and '))) : rows)
    },
    count: (limit) => fragment`select ${countSql(from, limit)}`,
    render: (statement) => statement,
    // The builder adds the SELECT itself.
    run: ({ strings: [first, ...others], values }) =>
      from.withPlugin(inPlaceBy(listOf({ strings: [first.replace(/^select /, ''), ...others], values }))).execute(),
    compiled: {}
  }
}

function pageQuery(from: Rows, query: ListQuery, columns: SqlColumns) {
  const { columns: selected, ranges, end, page } = pageSql(query, columns)
  const ordered = from.select(listOf(selected)).modifyEnd(expression(fragment`order by ${end}`))
  const each = ranges.map((met) => (met.length > 0 ? ordered.where(expression(joined(met, ' and '))) : ordered))
  if (!page) return each[0] as Rows
  const union = joined(each.map(bound), ' union all ')
  return from.withPlugin(inPlaceBy(listOf(fragment`${page.columns} from (${union}) as page order by ${page.end}`)))
}

// Passes the whole list of columns, and the SQL after it, where the builder expects a single named column.
function listOf(columns: Fragment) {
  return expression(columns) as unknown as AliasedExpression<unknown, string>
}

/** Creates a Kysely plugin that replaces the query of the builder, which has no other way to select from a subquery. */
function inPlaceBy(selected: AliasedExpression<unknown, string>): KyselyPlugin {
  const query: SelectQueryNode = { kind: 'SelectQueryNode', selections: [SelectionNode.create(selected.toOperationNode())] }
  return { transformQuery: () => query, transformResult: async ({ result }) => result }
}

async function countRows(from: Rows, limit?: number) {
  const counted = from.withPlugin(inPlaceBy(listOf(countSql(from, limit))))
  return Number(((await counted.executeTakeFirstOrThrow()) as { items: string }).items)
}

function countSql(from: Rows, limit?: number): Fragment {
  const each = from.select(sql<number>`1`.as('one'))
  const rows = limit === undefined ? each : each.limit(limit)
  return fragment`count(*)::text as items from (${bound(rows)}) as counted`
}

function expression<Value = boolean>({ strings, values }: Fragment): RawBuilder<Value> {
  return sql<Value>(strings as unknown as TemplateStringsArray, ...values)
}
