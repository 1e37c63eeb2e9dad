import { type ApiError, defineErrors, type ErrorList } from '@concordat/api-error'

/** The errors that the envelope can raise. They are faults of the service, so the client receives no details. */
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

/** Returns the error for a response that cannot be enveloped; `reason` is only logged. */
export function unenvelopedAnswer(reason: string): ApiError {
  return envelopeErrors.create('INTERNAL_ERROR', { cause: new Error(reason) })
}
