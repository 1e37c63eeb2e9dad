import { collection } from '@concordat/pagination-query'
import { type Static, Type } from '@sinclair/typebox'
import { Id, Timestamp } from '../fields.ts'

const Summary = Type.String({ maxLength: 4000 })

export const NewBook = Type.Object({
  title: Type.String({ minLength: 1, maxLength: 120 }),
  authorId: Id,
  year: Type.Integer({ minimum: 1450, maximum: 2100 }),
  summary: Type.Optional(Summary)
})
export type NewBook = Static<typeof NewBook>

const NewSummary = Type.Union([Summary, Type.Null()], { description: '`null` removes it.' })
export const BookChanges = Type.Partial(Type.Object({ ...NewBook.properties, summary: NewSummary }))
export type BookChanges = Static<typeof BookChanges>

export const Book = Type.Object({ id: Id, ...NewBook.properties, createdAt: Timestamp })
export type Book = Static<typeof Book>

export const Books = Type.Array(Book)

/** The form of a book in events. */
export const bookEvent = Book // [webhooks]

/** How lists are sorted, filtered and divided into pages. */
export const bookCollection = collection(Book)({
  name: 'books',
  style: 'cursor',
  id: 'id',
  defaultSort: ['-createdAt'],
  sort: { keys: ['createdAt', 'title', 'year'] },
  filter: { authorId: ['eq'], title: ['prefix'], year: ['eq', 'gte', 'lte'] }
})
