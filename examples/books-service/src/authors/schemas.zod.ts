import { collection } from '@concordat/pagination-query'
import { z } from 'zod'
import { Id, Timestamp } from '../fields.ts'

export const NewAuthor = z.object({ name: z.string().min(1).max(200) })

export const AuthorChanges = NewAuthor.partial()

export const Author = z.object({ id: Id, ...NewAuthor.shape, createdAt: Timestamp }).meta({ id: 'Author' })
export type Author = z.infer<typeof Author>

export const Authors = z.array(Author)

/** How lists are sorted, filtered and divided into pages. */
export const authorCollection = collection(Author)({
  name: 'authors',
  style: 'page',
  id: 'id',
  defaultSort: ['name'],
  sort: { keys: ['name', 'createdAt'] },
  filter: { name: ['eq', 'prefix'] }
})
