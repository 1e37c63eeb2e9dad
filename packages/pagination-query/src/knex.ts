import type { Knex } from 'knex'
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

/** A Knex query builder, such as `knex('orders')`, with any type of rows. */
type KnexBuilder = Pick<Knex.QueryBuilder, 'clone' | 'client'>

interface Client {
  readonly dialect: string
  queryBuilder(): Knex.QueryBuilder
  raw(sql: string, bindings: readonly unknown[]): Knex.Raw
}

/**
 * Runs a query with Knex on PostgreSQL. Rows and totals are as from `runSql`.
 *
 * @param base the builder with its tables, joins and conditions; without selection, order and limit
 * @param columns the columns of fields by their names in the database, independent of `wrapIdentifier`
 * @throws TypeError if the conditions of `base` are joined by OR, which would let other rows through, or its client is not one for PostgreSQL
 */
export async function runKnex<Row>(base: KnexBuilder, query: ListQuery<Row>, columns: SqlColumns = {}): Promise<Page<Row>> {
  readColumns(columns)
  refuseAlternatives(base)
  const client = base.client as Client
  if (/mysql|sqlite|mssql|oracle/.test(client.dialect)) throw otherDialect('runKnex', client.dialect)
  const filters = query.conditions.map((condition) => conditionSql(columns, condition))
  return fetchPage(query, pageQuery, countRows, () => fetchWritten(query, writtenSource()))

  async function pageQuery(): Promise<object[]> {
    const { columns: selected, ranges, end, page } = pageSql(query, columns)
    const each = ranges.map((met) => matching(met).select(toRaw(selected)).orderByRaw(toRaw(end)))
    if (!page) return each[0] as Knex.QueryBuilder
    const union = toRaw(fragment`(${joined(each.map(bound), ' union all ')}) as page`)
    return client.queryBuilder().select(toRaw(page.columns)).from(union).orderByRaw(toRaw(page.end))
  }

  function writtenSource(): StatementSource<Fragment> {
    return {
      key: () => JSON.stringify([base.clone().toSQL().sql, columns]),
      columns,
      select: (selected, met, end) => bound(matching(met).select(toRaw(selected)).orderByRaw(toRaw(end))),
      count: (limit) => fragment`select count(*)::text as items from ${bound(countedRows(limit).as('counted'))}`,
      render: (statement) => statement,
      // The raw result of a driver has the rows in a property.
      run: async (statement) => ((await toRaw(statement)) as unknown as { readonly rows: object[] }).rows,
      compiled: {}
    }
  }

  function matching(met: readonly Fragment[] = []) {
    return [...filters, ...met].reduce((rows, one) => rows.whereRaw(toRaw(one)), base.clone())
  }

  async function countRows(limit?: number): Promise<number> {
    const [row] = await client.queryBuilder().from(countedRows(limit).as('counted')).select(client.raw('count(*)::text as items', []))
    return Number((row as { items: string }).items)
  }

  function countedRows(limit?: number) {
    const each = matching().select(client.raw('1 as one', []))
    return limit === undefined ? each : each.limit(limit)
  }

  // Knex reads an unescaped question mark as the placeholder of a value.
  function toRaw({ strings, values }: Fragment): Knex.Raw {
    return client.raw(strings.map((text) => text.replaceAll('?', String.raw`\?`)).join('?'), values)
  }
}

// `a OR b` followed by `AND c` lets every row of `a` through. Knex cannot put parentheses around conditions afterwards.
function refuseAlternatives(base: KnexBuilder) {
  const { _statements: statements } = base as unknown as { _statements: readonly { grouping: string; bool?: string }[] }
  if (!statements.some(({ grouping, bool }) => grouping === 'where' && bool === 'or')) return
  throw new TypeError(
    'pagination-query: the conditions of the builder are joined by OR. Group them: .where((either) => either.where(…).orWhere(…))'
  )
}
