import { collection } from '@concordat/pagination-query'
import { z } from 'zod'
import { Id, Timestamp } from '../fields.ts'

const Summary = z.string().max(4000)

export const NewBook = z.object({
  title: z.string().min(1).max(120),
  authorId: Id,
  year: z.int().min(1450).max(2100),
  summary: Summary.optional()
})
export type NewBook = z.infer<typeof NewBook>

const NewSummary = Summary.nullable().meta({ description: '`null` removes it.' })
export const BookChanges = NewBook.extend({ summary: NewSummary }).partial()
export type BookChanges = z.infer<typeof BookChanges>

export const Book = z.object({ id: Id, ...NewBook.shape, createdAt: Timestamp }).meta({ id: 'Book' })
export type Book = z.infer<typeof Book>

export const Books = z.array(Book)

/** The form of a book in events. */
export const bookEvent = z.toJSONSchema(Book) // [webhooks]

/** How lists are sorted, filtered and divided into pages. */
export const bookCollection = collection(Book)({
  name: 'books',
  style: 'cursor',
  id: 'id',
  defaultSort: ['-createdAt'],
  sort: { keys: ['createdAt', 'title', 'year'] },
  filter: { authorId: ['eq'], title: ['prefix'], year: ['eq', 'gte', 'lte'] }
})
