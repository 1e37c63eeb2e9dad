import { defineErrors, type ErrorList } from '@concordat/plugin-kit/api-error'

export const errorList = defineErrors({
  WEBHOOK_HEADER_MISSING: {
    statusCode: 400,
    message: {
      en: 'The {header} header is missing or malformed. Send webhook-id, webhook-timestamp and webhook-signature once each.',
      es: 'El encabezado {header} falta o está mal formado. Envíe webhook-id, webhook-timestamp y webhook-signature una vez cada uno.'
    },
    remedy: 'Send the three headers of Standard Webhooks 1.0, once each.'
  },
  WEBHOOK_TIMESTAMP_REFUSED: {
    statusCode: 403,
    message: {
      en: {
        plural: 'toleranceSeconds',
        one: 'The timestamp differs from the current time by more than {toleranceSeconds, number} second. Sign each attempt again, and check the clock of the sender.',
        other:
          'The timestamp differs from the current time by more than {toleranceSeconds, number} seconds. Sign each attempt again, and check the clock of the sender.'
      },
      es: {
        plural: 'toleranceSeconds',
        one: 'La marca de tiempo difiere de la hora actual en más de {toleranceSeconds, number} segundo. Firme cada intento de nuevo y revise el reloj del remitente.',
        many: 'La marca de tiempo difiere de la hora actual en más de {toleranceSeconds, number} de segundos. Firme cada intento de nuevo y revise el reloj del remitente.',
        other:
          'La marca de tiempo difiere de la hora actual en más de {toleranceSeconds, number} segundos. Firme cada intento de nuevo y revise el reloj del remitente.'
      }
    },
    remedy: 'Sign each attempt with its own timestamp, and synchronize the clock of the sender.'
  },
  WEBHOOK_SIGNATURE_INVALID: {
    statusCode: 403,
    message: {
      en: 'No signature matches this body. Sign the exact bytes that you send, with the current secret.',
      es: 'Ninguna firma corresponde a este cuerpo. Firme los bytes exactos que envía con el secreto vigente.'
    },
    remedy: 'Sign the exact bytes that you send, with the secret of this subscription.'
  },
  WEBHOOK_PAYLOAD_INVALID: {
    statusCode: 400,
    message: {
      en: 'The body must be a JSON object with a `type` field. Send `type`, `timestamp` and `data`.',
      es: 'El cuerpo debe ser un objeto JSON con un campo `type`. Envíe `type`, `timestamp` y `data`.'
    },
    remedy: 'Send a JSON object with `type`, `timestamp` and `data`.'
  },
  WEBHOOK_IN_PROGRESS: {
    statusCode: 409,
    message: {
      en: 'This webhook is already being processed. Send it again later.',
      es: 'Este webhook ya se está procesando. Envíelo de nuevo más tarde.'
    },
    remedy: 'Send the webhook again later, with the same webhook-id.'
  }
})

/** Every error that a receiver can respond with. */
export const webhookReceiverErrors: ErrorList = errorList
