import type { ListQuery } from './list-query.ts'
import type { KeyedRow } from './page.ts'
import { keyName, memberName } from './sql-parts.ts'

/** Reads rows as the statement answers them: the members by their names, apart from them the sort keys. */
export function keyedRows<Row>(query: ListQuery<Row>, rows: readonly object[]): KeyedRow<Row>[] {
  return rows.map((row) => {
    const found = row as Record<string, unknown>
    return {
      row: Object.fromEntries(query.fields.map((field, index) => [field, found[memberName(index)]])) as Row,
      key: query.order.map((_, index) => found[keyName(index)] as string | null)
    }
  })
}
