import { collection } from '@concordat/pagination-query'
import { type Static, Type } from '@sinclair/typebox'
import { Id, removable, Timestamp } from '../fields.ts'

const Summary = Type.String({ maxLength: 4000 })

export const NewBook = Type.Object({
  title: Type.String({ minLength: 1, maxLength: 120 }),
  authorId: Id,
  year: Type.Integer({ minimum: 1450, maximum: 2100 }),
  summary: Type.Optional(Summary)
})

export const BookChanges = Type.Partial(Type.Object({ ...NewBook.properties, summary: removable(Summary) }))

export const Book = Type.Object({ id: Id, ...NewBook.properties, createdAt: Timestamp })
export type Book = Static<typeof Book>

export const Books = Type.Array(Book)

// [webhooks] begin
/** The form of a book in events. */
export const bookEvent = Book

// [webhooks] end
/** How lists are sorted, filtered and divided into pages. */
export const bookCollection = collection(Book)({
  name: 'books',
  style: 'cursor',
  id: 'id',
  defaultSort: ['-createdAt'],
  sort: { keys: ['createdAt', 'title', 'year'] },
  filter: { authorId: ['eq'], title: ['prefix'], year: ['gte', 'lte'] }
})
