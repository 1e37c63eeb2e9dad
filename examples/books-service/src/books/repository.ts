import { table } from '@concordat/postgres/table'
import { bookErrors } from './errors.ts'
import { bookCollection } from './schemas.ts'

/** The statements of books. */
export const bookTable = table(bookCollection, {
  violations: {
    books_author_id_fkey: () => bookErrors.create('UNKNOWN_AUTHOR', { errors: [{ field: 'body.authorId', key: 'unknownAuthor' }] })
  }
})
