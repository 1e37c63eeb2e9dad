import { defineErrors } from '@concordat/api-error'

export const customerErrors = defineErrors({
  EMAIL_IN_USE: {
    statusCode: 409,
    message: {
      en: 'Another customer has this email address. Use a different one.',
      es: 'Otro cliente tiene esta dirección de correo. Use otra distinta.'
    },
    remedy: 'Use another email address, or find the customer that has this one.'
  }
})
