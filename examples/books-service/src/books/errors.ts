import { defineErrors } from '@concordat/conventions'

export const bookErrors = defineErrors(
  {
    UNKNOWN_AUTHOR: {
      statusCode: 422,
      message: { en: 'The author does not exist. Choose one from /authors.' },
      remedy: 'Send the id of an author from /authors.'
    }
  },
  { unknownAuthor: { en: 'is not the id of an author' } }
)
