import { defineErrors } from '@concordat/conventions'

export const authorErrors = defineErrors({
  AUTHOR_EXISTS: {
    statusCode: 409,
    message: { en: 'The name is in use. Choose another one.' },
    remedy: 'Choose another name.'
  }
})
