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

export const BookChanges = NewBook.extend({ summary: Summary.nullable().meta({ description: '`null` removes it.' }) }).partial()

export const Book = z.object({ id: Id, ...NewBook.shape, createdAt: Timestamp }).meta({ id: 'Book' })
export type Book = z.infer<typeof Book>

export const Books = z.array(Book)

// [webhooks] begin
/** The form of a book in events. */
export const bookEvent = z.toJSONSchema(Book)

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
