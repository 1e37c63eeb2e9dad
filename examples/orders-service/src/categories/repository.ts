import type { Queries } from '../database/database.ts'
import type { Category } from './schemas.ts'

export function listCategories(database: Queries): Promise<Category[]> {
  return database.query<Category>('SELECT id, name, description FROM categories ORDER BY name, id LIMIT 25')
}

export async function findCategory(database: Queries, id: string): Promise<Category | undefined> {
  const [category] = await database.query<Category>('SELECT id, name, description FROM categories WHERE id = $1', [id])
  return category
}
