import { describeOptions, type OptionsOf, required, value } from '@concordat/plugin-options'
import { and, Column, is, SQL, type Subquery, sql } from 'drizzle-orm'
import type { PgColumn, PgDatabase, PgMaterializedView, PgQueryResultHKT, PgTable, PgView } from 'drizzle-orm/pg-core'
import { bound, type Fragment } from './list/fragment.ts'
import type { ListQuery } from './list/list-query.ts'
import type { Page } from './list/page.ts'
import { columnOf as namedColumn, type SqlColumns } from './sql/columns.ts'
import { otherDialect } from './sql/other-dialect.ts'
import { branchSelections, conditionSql, orderSql, rangeSql, storedNames } from './sql/parts.ts'
import { fetchPage } from './sql/rows.ts'

/** A Drizzle database on PostgreSQL, with any driver, or a transaction. */
type DrizzleDatabase = Pick<PgDatabase<PgQueryResultHKT>, 'select'>

/** The description of {@link DrizzleSource}. */
const drizzleSource = describeOptions('pagination-query', {
  /** A table or a view. For joins, a subquery named with `.as()`. */
  table: required(value<PgTable | PgView | PgMaterializedView | Subquery>()),
  /** The columns for fields that have no column of the same name in `table`. */
  columns: value<Readonly<Record<string, PgColumn | SQL>>>({ default: {} }),
  /** A further condition on the rows, for example on their owner. */
  where: value<SQL>()
})

/** The source of the rows. All of it comes from the author of the service, none of it from a client. */
interface DrizzleSource extends OptionsOf<typeof drizzleSource> {}

/**
 * Runs a query with Drizzle on PostgreSQL, which maps the values; dates, times and totals are as from `runSql`. Throws a `TypeError` for a column of
 * another database.
 */
export async function runDrizzle<Row>(db: DrizzleDatabase, query: ListQuery<Row>, source: DrizzleSource): Promise<Page<Row>> {
  const { table, where } = drizzleSource.read(source, 'source')
  const { offset, perPage, ranges } = query
  const columns = columnsOf(query, source)
  const nameOf = (field: string) => namedColumn(columns, field)
  const always = and(where && sql`(${where})`, ...query.conditions.map((condition) => toSql(conditionSql(columns, condition))))

  return fetchPage(query, fetchRows, countRows)

  async function fetchRows(): Promise<object[]> {
    const [first, ...others] = ranges.map((range) => {
      const met = rangeSql(columns, query.order, range).map(toSql)
      const ordered = db
        .select(selected())
        .from(table)
        .where(and(always, ...met))
        .orderBy(...orderSql(query, nameOf).map(toSql))
      return ordered.limit(offset + perPage + 1).$dynamic()
    })
    if (!first) return []
    if (others.length === 0) return first.limit(perPage + 1).offset(offset)
    const union = others.reduce((left, right) => left.unionAll(right), first)
    return union
      .orderBy(...orderSql(query, storedNames(query)).map(toSql))
      .limit(perPage + 1)
      .offset(offset)
  }

  function selected() {
    return Object.fromEntries(branchSelections(query, columns).map(({ name, sql }) => [name, decoded(sql).as(name)]))
  }

  async function countRows(limit?: number): Promise<number> {
    const from =
      limit === undefined
        ? table
        : db
            .select({ one: sql`1`.as('one') })
            .from(table)
            .where(always)
            .limit(limit)
            .as('counted')
    const [row] = await db
      .select({ items: sql<string>`count(*)::text` })
      .from(from)
      .where(limit === undefined ? always : undefined)
    return Number(row?.items)
  }
}

function columnsOf({ fields, order, conditions }: ListQuery, { table, columns = {} }: DrizzleSource): SqlColumns {
  const members = new Set([...fields, ...[...order, ...conditions].map(({ field }) => field)])
  return Object.fromEntries([...members].map((member) => [member, columnOf(member)]))

  function columnOf(member: string) {
    const column: unknown = Object.hasOwn(columns, member) ? columns[member] : Reflect.get(table, member)
    if (is(column, Column) && !column.columnType.startsWith('Pg')) throw otherDialect('runDrizzle', column.columnType)
    if (is(column, Column) || is(column, SQL) || is(column, SQL.Aliased)) return { sql: bound(column) }
    throw new TypeError(`pagination-query: the table has no column "${member}". Add it to columns.`)
  }
}

// For an unchanged column, Drizzle knows how to decode the values.
function decoded(expression: Fragment) {
  const [column] = expression.values
  return expression.strings.join('') === '' && is(column, Column) ? toSql(expression).mapWith(column) : toSql(expression)
}

function toSql({ strings, values }: Fragment): SQL {
  return sql(strings as unknown as TemplateStringsArray, ...values)
}
