import { type ApiError, defineErrors, type ErrorList } from '@concordat/api-error'

const list = defineErrors({
  WEBHOOK_HEADER_MISSING: {
    statusCode: 400,
    message: {
      en: 'The header {header} is missing or malformed. Send webhook-id, webhook-timestamp and webhook-signature, each once.',
      es: 'Falta la cabecera {header} o está mal formada. Envíe webhook-id, webhook-timestamp y webhook-signature, una vez cada una.'
    },
    remedy: 'Send the three headers of Standard Webhooks 1.0, each once.'
  },
  WEBHOOK_TIMESTAMP_REFUSED: {
    statusCode: 403,
    message: {
      en: 'The timestamp is more than {toleranceSeconds} seconds away from now. Sign each attempt anew, and check the clock.',
      es: 'La marca de tiempo dista más de {toleranceSeconds} segundos de ahora. Firme cada intento de nuevo y revise el reloj.'
    },
    remedy: 'Sign each attempt with its own time, by a clock that is right.'
  },
  WEBHOOK_SIGNATURE_INVALID: {
    statusCode: 403,
    message: {
      en: 'No signature fits this body and the keys known here. Sign the bytes that are sent, with the current secret.',
      es: 'Ninguna firma corresponde a este cuerpo y a las claves conocidas. Firme los bytes enviados con el secreto vigente.'
    },
    remedy: 'Sign exactly the bytes that are sent, with the secret of this subscription.'
  },
  WEBHOOK_PAYLOAD_INVALID: {
    statusCode: 400,
    message: {
      en: 'The body is no JSON object with a type. Send type, timestamp and data.',
      es: 'El cuerpo no es un objeto JSON con un tipo. Envíe type, timestamp y data.'
    },
    remedy: 'Send a JSON object with type, timestamp and data.'
  },
  WEBHOOK_IN_PROGRESS: {
    statusCode: 409,
    message: {
      en: 'This webhook is being worked on. Send it again later.',
      es: 'Este webhook se está procesando. Envíelo de nuevo más tarde.'
    },
    remedy: 'Send the webhook again later, with the same webhook-id.'
  }
})

/** Every error that a receiver can answer with. */
export const receiverErrors: ErrorList = list

export function headerMissing(header: string): ApiError {
  return list.create('WEBHOOK_HEADER_MISSING', { params: { header } })
}

export function timestampRefused(toleranceSeconds: number): ApiError {
  return list.create('WEBHOOK_TIMESTAMP_REFUSED', { params: { toleranceSeconds } })
}

export function signatureInvalid(): ApiError {
  return list.create('WEBHOOK_SIGNATURE_INVALID')
}

export function payloadInvalid(cause?: unknown): ApiError {
  return list.create('WEBHOOK_PAYLOAD_INVALID', { cause })
}

export function inProgress(): ApiError {
  return list.create('WEBHOOK_IN_PROGRESS')
}
