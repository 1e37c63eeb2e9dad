import { type Condition, countTotal, type KeyRange, type ListQuery, type Page, pageOf, type ValueKind } from '@concordat/pagination-query'
import type { Knex } from 'knex'

type Value = string | number | null

/**
 * Runs the query of a collection with Knex on MySQL. `base` has the tables and conditions of the list, without selection, order and limit. The connection
 * needs `supportBigNumbers` and `dateStrings`, so that no digit is lost. Times are stored in UTC.
 */
export async function runMysql<Row>(
  base: Knex.QueryBuilder,
  query: ListQuery<Row>,
  columns: Record<string, string> = {}
): Promise<Page<Row>> {
  const raw = (sql: string, values: readonly unknown[]): Knex.Raw => base.client.raw(sql, values)
  const columnOf = (field: string) => columns[field] ?? field
  const order = query.order.map((key) => ({ ...key, descending: key.descending !== query.reverse }))
  const matching = query.conditions.reduce((rows, one) => rows.whereRaw(conditionSql(one)), base.clone())
  const found: Record<string, Value>[] = []
  for (const range of query.ranges) {
    const missing = query.perPage + 1 - found.length
    if (missing > 0) found.push(...(await rowsIn(range).offset(query.offset).limit(missing)))
  }
  const fetched = found.map((row) => ({
    row: Object.fromEntries(query.fields.map((field) => [field, jsonOf(query.kinds?.[field], row[field] as Value)])) as Row,
    key: order.map(({ kind }, at) => jsonOf(kind, row[`key ${at}`] as Value)?.toString() ?? null)
  }))
  return pageOf(query, fetched, await countTotal(query, fetched.length, countRows))

  function rowsIn({ equal, beyond, isNull, notNull }: KeyRange) {
    const rows = matching.clone().select(...query.fields.map((field) => ({ [field]: columnOf(field) })))
    for (const [at, { field, kind, descending }] of order.entries()) {
      rows.select({ [`key ${at}`]: columnOf(field) })
      if (at < equal.length) rows.whereRaw(raw('?? <=> ?', [columnOf(field), valueSql(kind, equal[at] as string | null)]))
      // MySQL sorts null first; in a collection it is the largest value.
      rows.orderByRaw(`?? is null ${descending ? 'desc' : 'asc'}, ?? ${descending ? 'desc' : 'asc'}`, [columnOf(field), columnOf(field)])
    }
    const next = order.slice(equal.length)
    if (isNull || notNull) rows.whereRaw(raw(`?? is ${isNull ? '' : 'not '}null`, [columnOf(next[0]?.field as string)]))
    if (beyond === undefined) return rows
    const keys = next.slice(0, beyond.values.length)
    const tuple = keys.map(() => '?').join(', ')
    const values = beyond.values.map((value, at) => valueSql(keys[at]?.kind as ValueKind, value))
    return rows.whereRaw(
      raw(`(${tuple}) ${beyond.operator} (${tuple})`, [...keys.map(({ field }) => raw('??', [columnOf(field)])), ...values])
    )
  }

  function conditionSql({ anyOf, ...condition }: Condition): Knex.Raw {
    if (anyOf === undefined) return fieldSql(condition)
    const each = anyOf.map((field) => fieldSql({ ...condition, field }))
    return raw(`(${each.map(() => '?').join(' or ')})`, each)
  }

  function fieldSql({ field, kind, operator, value }: Condition): Knex.Raw {
    const column = columnOf(field)
    const values = [value].flat().map((one) => valueSql(kind, String(one)))
    const list = values.map(() => '?').join(', ')
    if (operator === 'null') return raw(`?? is ${value === true ? '' : 'not '}null`, [column])
    if (operator === 'in') return raw(`?? in (${list})`, [column, ...values])
    if (operator === 'nin') return raw(`(?? not in (${list}) or ?? is null)`, [column, ...values, column])
    const literal = String(value).replaceAll(/[\\%_]/g, String.raw`\$&`)
    if (operator === 'prefix') return raw('?? like ?', [column, `${literal}%`])
    if (operator === 'contains') return raw('lower(??) like lower(?)', [column, `%${literal}%`])
    const comparison = { eq: '?? = ?', ne: 'not (?? <=> ?)', gt: '?? > ?', gte: '?? >= ?', lt: '?? < ?', lte: '?? <= ?' }[operator]
    return raw(comparison, [column, ...values])
  }

  // MySQL would compare a number with a text as two floating-point numbers.
  function valueSql(kind: ValueKind, text: string | null) {
    if (text === null) return raw('null', [])
    if (kind === 'integer') return raw('cast(? as signed)', [text])
    if (kind === 'decimal') return raw('cast(? as decimal(65, 30))', [text])
    if (kind === 'boolean') return raw('?', [text === 'true'])
    if (kind !== 'date-time') return raw('?', [text])
    const [fraction = ''] = /\.\d+/.exec(text) ?? []
    return raw('cast(? as datetime(6))', [new Date(text).toISOString().slice(0, 19) + fraction])
  }

  async function countRows(limit = Number.MAX_SAFE_INTEGER): Promise<number> {
    const counted = matching.clone().select(raw('1 as one', [])).limit(limit).as('counted')
    const [row] = await base.client.queryBuilder().from(counted).count({ items: '*' })
    return Number(row.items)
  }
}

function jsonOf(kind: ValueKind | undefined, value: Value) {
  if (value === null) return null
  if (kind === 'boolean') return Boolean(value)
  return kind === 'date-time' ? `${String(value).replace(' ', 'T')}Z` : value
}
