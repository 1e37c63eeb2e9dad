import { type ApiError, defineErrors, type ErrorList, sharedDefinitions } from '@concordat/plugin-kit/api-error'

/** The errors that the envelope can raise. They are faults of the service, so the client receives no details. */
export const envelopeErrors: ErrorList = defineErrors({
  INTERNAL_ERROR: sharedDefinitions.INTERNAL_ERROR
})

/** Returns the error for a response that cannot be enveloped; `reason` is only logged. */
export function unenvelopedResponse(reason: string): ApiError {
  return envelopeErrors.create('INTERNAL_ERROR', { cause: new Error(reason) })
}
