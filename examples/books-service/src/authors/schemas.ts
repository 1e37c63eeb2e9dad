import { collection } from '@concordat/pagination-query'
import { type Static, Type } from '@sinclair/typebox'
import { Id, Timestamp } from '../fields.ts'

export const NewAuthor = Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) })

export const AuthorChanges = Type.Partial(NewAuthor)

export const Author = Type.Object({ id: Id, ...NewAuthor.properties, createdAt: Timestamp })
export type Author = Static<typeof Author>

export const Authors = Type.Array(Author)

/** How lists are sorted, filtered and divided into pages. */
export const authorCollection = collection(Author)({
  name: 'authors',
  style: 'page',
  id: 'id',
  defaultSort: ['name'],
  sort: { keys: ['name', 'createdAt'] },
  filter: { name: ['eq', 'prefix'] }
})
