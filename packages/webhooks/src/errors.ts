import { type ApiError, defineErrors, type ErrorList } from '@concordat/api-error'

const list = defineErrors({
  WEBHOOKS_PATH_TOO_LONG: {
    statusCode: 414,
    message: {
      en: 'The path is longer than {limit} characters. Shorten it.',
      es: 'La ruta tiene más de {limit} caracteres. Acórtela.'
    },
    remedy: 'Send a shorter path.'
  }
})

/** Every error that this package can raise. */
export const webhooksErrors: ErrorList = list

export function pathTooLong(limit: number): ApiError {
  return list.create('WEBHOOKS_PATH_TOO_LONG', { params: { limit } })
}
