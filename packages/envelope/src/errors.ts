import { type ApiError, defineErrors, type ErrorList } from '@concordat/api-error'

/** The errors that the envelope can raise; both are mistakes of the service, so a client learns no more than that. */
export const envelopeErrors: ErrorList = defineErrors({
  INTERNAL_ERROR: {
    statusCode: 500,
    message: {
      en: 'The service failed to process the request. If it happens again, report the Request-Id.',
      es: 'El servicio no pudo procesar la petición. Si vuelve a ocurrir, comunique el Request-Id.'
    },
    remedy: 'Try again later. If it keeps failing, report the Request-Id.'
  }
})

/** The answer can not be enveloped; `reason` is for the log. */
export function unenvelopedAnswer(reason: string): ApiError {
  return envelopeErrors.create('INTERNAL_ERROR', { cause: new Error(reason) })
}
