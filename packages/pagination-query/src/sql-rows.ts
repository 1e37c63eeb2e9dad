import type { ListQuery } from './list-query.ts'
import type { KeyedRow } from './page.ts'
import { keyName } from './sql-parts.ts'

/** Takes the sort keys out of rows as the statement answers them. */
export function keyedRows<Row>(query: ListQuery<Row>, rows: readonly object[]): KeyedRow<Row>[] {
  return rows.map((row) => {
    const found = row as Record<string, unknown>
    return {
      row: Object.fromEntries(query.fields.map((field) => [field, found[field]])) as Row,
      key: query.order.map((_, index) => found[keyName(index)] as string | null)
    }
  })
}
