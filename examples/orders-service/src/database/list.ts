import type { ListQuery, Page } from '@concordat/pagination-query'
import { runSql, type SqlSource } from '@concordat/pagination-query/sql'
import type { Queries } from './database.ts'

/** Reads a page of a collection. By default, the table and its columns have the names of the collection and its fields in snake_case. */
export function list<Row>(database: Queries, query: ListQuery<Row>, source?: SqlSource): Promise<Page<Row>> {
  const client = { query: async (sql: string, params: unknown[]) => ({ rows: await database.query(sql, params) }) }
  return runSql(client, query, source)
}
