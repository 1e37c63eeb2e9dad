import { type ApiError, defineErrors, type ErrorList, sharedDefinitions } from '@concordat/plugin-kit/api-error'

/** The errors of this package. */
export const errors = defineErrors(
  {
    IDEMPOTENCY_KEY_REQUIRED: {
      statusCode: 400,
      message: {
        en: 'The Idempotency-Key header is required. Send a new value with each request, and the same value with each retry.',
        es: 'El encabezado Idempotency-Key es obligatorio. Envíe un valor nuevo con cada petición y el mismo valor con cada reintento.'
      },
      remedy: 'Send Idempotency-Key with a random value, for example a UUID, and the same value when you retry.'
    },
    IDEMPOTENCY_KEY_INVALID: {
      statusCode: 400,
      message: {
        en: 'The Idempotency-Key header is invalid. Send it once, as a quoted string of 1 to 255 ASCII characters, for example "8e03978e-40d5".',
        es: 'El encabezado Idempotency-Key no es válido. Envíelo una sola vez, como cadena entre comillas de 1 a 255 caracteres ASCII, por ejemplo "8e03978e-40d5".'
      },
      remedy: 'Send one Idempotency-Key: a quoted string of 1 to 255 ASCII characters, for example "8e03978e-40d5-43dd-bc93-6894a57f9324".'
    },
    IDEMPOTENCY_KEY_REUSED: {
      statusCode: 422,
      message: {
        en: 'This idempotency key was used for a different request. Send a new key, or retry with the same method, URL and body.',
        es: 'Esta clave de idempotencia se usó para otra petición. Envíe una clave nueva o reintente con el mismo método, URL y cuerpo.'
      },
      remedy: 'Create a new key for each new request. When you retry, keep the method, URL and body unchanged.'
    },
    IDEMPOTENCY_IN_PROGRESS: {
      statusCode: 409,
      retry: 'later',
      effect: 'unknown',
      message: {
        en: 'A request with this idempotency key is still in progress. Retry after the number of seconds in Retry-After.',
        es: 'Una petición con esta clave de idempotencia aún está en curso. Reinténtelo tras los segundos que indica Retry-After.'
      },
      remedy: 'Repeat the same request after the number of seconds in Retry-After to get the response of the first one.'
    },
    IDEMPOTENCY_OUTCOME_UNKNOWN: {
      statusCode: 409,
      retry: 'never',
      effect: 'unknown',
      message: {
        en: 'The request with this idempotency key was interrupted and will not be executed again. Check whether it took effect before you send a new request.',
        es: 'La petición con esta clave de idempotencia se interrumpió y no se volverá a ejecutar. Compruebe si tuvo efecto antes de enviar una petición nueva.'
      },
      remedy: 'Fetch the resource to check whether the request took effect. If it did not, send it again with a new key.'
    },
    IDEMPOTENCY_RESPONSE_UNAVAILABLE: {
      statusCode: 409,
      retry: 'never',
      effect: 'done',
      message: {
        en: 'The request with this idempotency key completed with status {status}, but its response was not stored. Fetch the resource instead.',
        es: 'La petición con esta clave de idempotencia terminó con el estado {status}, pero su respuesta no se guardó. Obtenga el recurso en su lugar.'
      },
      remedy: 'Do not send the request again: it completed. Fetch the resource, at Location if that header is present.'
    },
    IDEMPOTENCY_RESPONSE_TOO_LARGE: {
      statusCode: 422,
      effect: 'none',
      message: {
        en: {
          plural: 'limit',
          one: 'The response has more than {limit, number} byte and cannot be stored for its idempotency key, so the request had no effect. Split it into smaller requests.',
          other:
            'The response has more than {limit, number} bytes and cannot be stored for its idempotency key, so the request had no effect. Split it into smaller requests.'
        },
        es: {
          plural: 'limit',
          one: 'La respuesta tiene más de {limit, number} byte y no se puede guardar para su clave de idempotencia, por lo que la petición no tuvo efecto. Divídala en peticiones más pequeñas.',
          many: 'La respuesta tiene más de {limit, number} de bytes y no se puede guardar para su clave de idempotencia, por lo que la petición no tuvo efecto. Divídala en peticiones más pequeñas.',
          other:
            'La respuesta tiene más de {limit, number} bytes y no se puede guardar para su clave de idempotencia, por lo que la petición no tuvo efecto. Divídala en peticiones más pequeñas.'
        }
      },
      remedy: 'Split the request into smaller ones, for example a batch into several batches, and send each with a new key.'
    },
    IDEMPOTENCY_STORAGE_EXCEEDED: {
      statusCode: 429,
      message: {
        en: 'The stored responses to your requests with idempotency keys have reached the size limit. Retry after the number of seconds in Retry-After.',
        es: 'Las respuestas guardadas de sus peticiones con clave de idempotencia alcanzaron el tamaño límite. Reinténtelo tras los segundos que indica Retry-After.'
      },
      remedy: 'Repeat the request with the same key after the number of seconds in Retry-After. Send fewer requests with large responses.'
    },
    IDEMPOTENCY_STORE_UNAVAILABLE: {
      statusCode: 503,
      retry: 'later',
      effect: 'none',
      message: {
        en: 'Idempotency keys cannot be checked at the moment, so the request was not executed. Retry after the number of seconds in Retry-After.',
        es: 'Las claves de idempotencia no se pueden comprobar en este momento, por lo que la petición no se ejecutó. Reinténtelo tras los segundos que indica Retry-After.'
      },
      remedy: 'Repeat the request with the same key after the number of seconds in Retry-After.'
    },
    CLIENT_NOT_IDENTIFIED: sharedDefinitions.CLIENT_NOT_IDENTIFIED,
    JSON_TOO_DEEP: sharedDefinitions.JSON_TOO_DEEP
  },
  {
    IDEMPOTENCY_KEY_REUSED: {
      en: 'was used for a different request; send a new key',
      es: 'se usó para otra petición; envíe una clave nueva'
    },
    IDEMPOTENCY_RESPONSE_TOO_LARGE: {
      en: 'requires a response that can be stored; split the request',
      es: 'requiere una respuesta que se pueda guardar; divida la petición'
    }
  }
)

/** All errors that this package raises, for the catalogue's `include`. */
export const idempotencyErrors: ErrorList = errors

const keyField = 'header.idempotency-key'

/** 422: the key was used with another method, URI or body (rule I5). */
export function keyReused(): ApiError {
  return errors.create('IDEMPOTENCY_KEY_REUSED', { errors: [{ field: keyField, key: 'IDEMPOTENCY_KEY_REUSED' }] })
}

/** 409: another request with the same key is still in progress. Retry-After is the time left of its lease, from 1 to 30 seconds (rule I4). */
export function inProgress(leaseMs: number): ApiError {
  const seconds = Math.min(Math.max(Math.ceil(leaseMs / 1000), 1), 30)
  return errors.create('IDEMPOTENCY_IN_PROGRESS', { headers: { 'retry-after': String(seconds) } })
}

/** 409: the request ran, but its response was a stream or too large to store. */
export function responseUnavailable(status: number, location: string | undefined): ApiError {
  return errors.create('IDEMPOTENCY_RESPONSE_UNAVAILABLE', {
    params: { status },
    ...(location !== undefined && { headers: { location } })
  })
}

/** 422: the response is too large to be stored, and its transaction is rolled back. */
export function responseTooLarge(limit: number): ApiError {
  const field = { field: keyField, key: 'IDEMPOTENCY_RESPONSE_TOO_LARGE' } as const
  return errors.create('IDEMPOTENCY_RESPONSE_TOO_LARGE', { params: { limit }, errors: [field] })
}

/** 429: the stored responses of the client have reached twice `maxClientBytes`. Retry-After is the time until the first of them expires. */
export function storageExceeded(retryMs: number): ApiError {
  return errors.create('IDEMPOTENCY_STORAGE_EXCEEDED', { headers: { 'retry-after': String(Math.max(Math.ceil(retryMs / 1000), 1)) } })
}
