import { defineErrors } from '@concordat/conventions'

export const authorErrors = defineErrors({
  AUTHOR_EXISTS: {
    statusCode: 409,
    message: { en: 'The name is in use. Choose another one.' },
    remedy: 'Choose another name.'
  },
  // [books] begin
  AUTHOR_HAS_BOOKS: {
    statusCode: 409,
    message: { en: 'The author has books. Delete these first.' },
    remedy: 'Delete the books of the author.'
  }
  // [books] end
})
