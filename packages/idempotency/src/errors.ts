import { type ApiError, defineErrors, type ErrorList } from '@concordat/api-error'

const list = defineErrors(
  {
    IDEMPOTENCY_KEY_REQUIRED: {
      statusCode: 400,
      message: {
        en: 'The header Idempotency-Key is missing. Send a value that is new for each request and the same for each retry.',
        es: 'Falta la cabecera Idempotency-Key. Envíe un valor nuevo para cada solicitud y el mismo en cada reintento.'
      },
      remedy: 'Send Idempotency-Key with a random value, as a UUID, and the same one when you retry.'
    },
    IDEMPOTENCY_KEY_INVALID: {
      statusCode: 400,
      message: {
        en: 'The header Idempotency-Key can not be read. Send it once, as a quoted string of 1 to 255 ASCII characters: "8e03978e-40d5".',
        es: 'La cabecera Idempotency-Key no se puede leer. Envíela una vez, como texto entre comillas de 1 a 255 caracteres ASCII: "8e03978e-40d5".'
      },
      remedy: 'Send one Idempotency-Key, a quoted string of 1 to 255 ASCII characters, as "8e03978e-40d5-43dd-bc93-6894a57f9324".'
    },
    IDEMPOTENCY_KEY_REUSED: {
      statusCode: 422,
      message: {
        en: 'This idempotency key was used for another request. Send a new one; a retry has the same method, URL and body.',
        es: 'Esta clave de idempotencia se usó para otra solicitud. Envíe una nueva; un reintento tiene el mismo método, URL y cuerpo.'
      },
      remedy: 'Make a new key for each new request, and repeat method, URL and body unchanged when you retry.'
    },
    IDEMPOTENCY_IN_PROGRESS: {
      statusCode: 409,
      message: {
        en: 'The request with this idempotency key is still being carried out. Repeat it after the time in Retry-After.',
        es: 'La solicitud con esta clave de idempotencia aún se está ejecutando. Repítala tras el tiempo de Retry-After.'
      },
      remedy: 'Repeat the request unchanged after the seconds in Retry-After; the answer of the first is then given.'
    },
    IDEMPOTENCY_OUTCOME_UNKNOWN: {
      statusCode: 409,
      message: {
        en: 'The request with this idempotency key was interrupted, and is not run again. Look whether it took effect before you send a new one.',
        es: 'La solicitud con esta clave de idempotencia se interrumpió y no se repite. Compruebe si tuvo efecto antes de enviar una nueva.'
      },
      remedy: 'Read the resource to see whether the request took effect; if not, send it with a new key.'
    },
    IDEMPOTENCY_RESPONSE_UNAVAILABLE: {
      statusCode: 409,
      message: {
        en: 'The request with this idempotency key was carried out and answered {status}, but its answer was not kept. Read the resource instead.',
        es: 'La solicitud con esta clave de idempotencia se ejecutó y respondió {status}, pero su respuesta no se guardó. Lea el recurso.'
      },
      remedy: 'Do not send the request again: it was carried out. Read the resource, at Location where there is one.'
    },
    IDEMPOTENCY_STORE_UNAVAILABLE: {
      statusCode: 503,
      message: {
        en: 'Idempotency keys can not be looked up at the moment, so the request was not carried out. Repeat it after the time in Retry-After.',
        es: 'Las claves de idempotencia no se pueden consultar ahora, por lo que la solicitud no se ejecutó. Repítala tras el tiempo de Retry-After.'
      },
      remedy: 'Repeat the request with the same key after the seconds in Retry-After.'
    },
    IDEMPOTENCY_BODY_TOO_NESTED: {
      statusCode: 400,
      message: {
        en: 'The body is nested deeper than {limit} levels. Send it flatter.',
        es: 'El cuerpo tiene más de {limit} niveles de anidamiento. Envíelo con menos.'
      },
      remedy: 'Send a body with fewer levels of objects and arrays.'
    }
  },
  {
    IDEMPOTENCY_KEY_REUSED: {
      en: 'was used for another request; send a new one',
      es: 'se usó para otra solicitud; envíe una nueva'
    }
  }
)

/** Every error that this package raises, for the catalogue's `include`. */
export const idempotencyErrors: ErrorList = list

type Headers = Readonly<Record<string, string>>

/** 400: the route needs a key (draft-07 §2.7). */
export function keyRequired(headers: Headers): ApiError {
  return list.create('IDEMPOTENCY_KEY_REQUIRED', { headers })
}

/** 400: the key is neither a structured-field String nor a bare key, or there are two. */
export function keyInvalid(headers: Headers): ApiError {
  return list.create('IDEMPOTENCY_KEY_INVALID', { headers })
}

/** 422: the key stands for another method, URI or body (rule I5, draft-07 §2.7). */
export function keyReused(): ApiError {
  return list.create('IDEMPOTENCY_KEY_REUSED', { errors: [{ field: 'headers.idempotency-key', key: 'IDEMPOTENCY_KEY_REUSED' }] })
}

/** 409: another runs the request. Retry-After is what is left of its lease, from 1 to 30 seconds (rule I4). */
export function inProgress(leaseMilliseconds: number): ApiError {
  const seconds = Math.min(Math.max(Math.ceil(leaseMilliseconds / 1000), 1), 30)
  return list.create('IDEMPOTENCY_IN_PROGRESS', { headers: { 'retry-after': String(seconds) } })
}

/** 409: its owner is gone, and the route forbids to run it again. */
export function outcomeUnknown(): ApiError {
  return list.create('IDEMPOTENCY_OUTCOME_UNKNOWN')
}

/** 409: it ran, and its answer was a stream or too large to keep. */
export function responseUnavailable(status: number, location: string | undefined): ApiError {
  return list.create('IDEMPOTENCY_RESPONSE_UNAVAILABLE', {
    params: { status },
    ...(location !== undefined && { headers: { location } })
  })
}

/** 503: nothing runs unprotected. */
export function storeUnavailable(cause: unknown): ApiError {
  return list.create('IDEMPOTENCY_STORE_UNAVAILABLE', { headers: { 'retry-after': '2' }, cause })
}

/** 400: what can not be compared is not run. */
export function bodyTooNested(limit: number): ApiError {
  return list.create('IDEMPOTENCY_BODY_TOO_NESTED', { params: { limit } })
}
