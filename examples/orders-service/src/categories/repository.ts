import type { ListQuery, Page } from '@concordat/pagination-query'
import { runSql } from '@concordat/pagination-query/sql'
import type { Statements } from '@concordat/postgres/rows'
import type { Category } from './schemas.ts'

export function listCategories(database: Statements, query: ListQuery<Category>): Promise<Page<Category>> {
  return runSql(database.client, query)
}

export async function findCategory(database: Statements, id: string): Promise<Category | undefined> {
  const [category] = await database.query<Category>('SELECT id, name, description FROM categories WHERE id = $1', [id])
  return category
}
