import type { ListQuery, Page } from '@concordat/pagination-query'
import type { Queries } from '../database/database.ts'
import { list } from '../database/list.ts'
import type { Category } from './schemas.ts'

export function listCategories(database: Queries, query: ListQuery<Category>): Promise<Page<Category>> {
  return list(database, query)
}

export async function findCategory(database: Queries, id: string): Promise<Category | undefined> {
  const [category] = await database.query<Category>('SELECT id, name, description FROM categories WHERE id = $1', [id])
  return category
}
