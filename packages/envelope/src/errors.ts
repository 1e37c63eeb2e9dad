import { type ApiError, defineErrors, type ErrorList } from '@concordat/api-error'

/** The errors that the envelope can raise; both are mistakes of the service, so a client learns no more than that. */
export const envelopeErrors: ErrorList = defineErrors({
  INTERNAL_ERROR: {
    statusCode: 500,
    message: {
      en: 'Something went wrong on our side. Report the Request-Id if it happens again.',
      es: 'Algo ha fallado por nuestra parte. Comunique el Request-Id si vuelve a ocurrir.'
    },
    remedy: 'Retry later; report the Request-Id.'
  }
})

/** The answer can not be enveloped; `reason` is for the log. */
export function unenvelopedAnswer(reason: string): ApiError {
  return envelopeErrors.create('INTERNAL_ERROR', { cause: new Error(reason) })
}
