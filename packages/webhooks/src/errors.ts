import { defineErrors, type ErrorList, sharedDefinitions } from '@concordat/plugin-kit/api-error'

export const errorList = defineErrors(
  {
    WEBHOOK_URL_REFUSED: {
      statusCode: 422,
      validation: true,
      message: {
        en: 'Webhooks cannot be sent to this URL. Fix the fields listed in `errors`.',
        es: 'No se pueden enviar webhooks a esta URL. Corrija los campos indicados en `errors`.'
      },
      remedy: 'Use an https URL with a public host name and an allowed port, without user information and without a fragment.'
    },
    WEBHOOK_EVENT_TYPE_UNKNOWN: {
      statusCode: 422,
      validation: true,
      message: {
        en: 'Some event types do not exist. Fix the fields listed in `errors`.',
        es: 'Algunos tipos de evento no existen. Corrija los campos indicados en `errors`.'
      },
      remedy: 'Subscribe to event types that the API description lists under `webhooks`.'
    },
    WEBHOOK_SUBSCRIPTION_LIMIT: {
      statusCode: 409,
      message: {
        en: {
          plural: 'limit',
          one: 'The limit of {limit, number} subscription is reached. Remove a subscription first.',
          other: 'The limit of {limit, number} subscriptions is reached. Remove a subscription first.'
        },
        es: {
          plural: 'limit',
          one: 'Se alcanzó el límite de {limit, number} suscripción. Elimine antes una suscripción.',
          many: 'Se alcanzó el límite de {limit, number} de suscripciones. Elimine antes una suscripción.',
          other: 'Se alcanzó el límite de {limit, number} suscripciones. Elimine antes una suscripción.'
        }
      },
      remedy: 'Remove a subscription that is no longer needed, or add event types to an existing one.'
    },
    WEBHOOK_CHANGE_LIMIT: {
      statusCode: 429,
      message: {
        en: {
          plural: 'seconds',
          one: 'Your subscriptions were created, changed or pinged too often: the limit per hour is {limit, number}. Try again in {seconds, number} second.',
          other:
            'Your subscriptions were created, changed or pinged too often: the limit per hour is {limit, number}. Try again in {seconds, number} seconds.'
        },
        es: {
          plural: 'seconds',
          one: 'Sus suscripciones se crearon, cambiaron o probaron con un ping con demasiada frecuencia: el límite por hora es {limit, number}. Inténtelo de nuevo en {seconds, number} segundo.',
          many: 'Sus suscripciones se crearon, cambiaron o probaron con un ping con demasiada frecuencia: el límite por hora es {limit, number}. Inténtelo de nuevo en {seconds, number} de segundos.',
          other:
            'Sus suscripciones se crearon, cambiaron o probaron con un ping con demasiada frecuencia: el límite por hora es {limit, number}. Inténtelo de nuevo en {seconds, number} segundos.'
        }
      },
      remedy:
        'Wait for the number of seconds in Retry-After. Each new subscription, new URL, enabled subscription and requested ping sends a request, so they are limited together for each owner.'
    },
    WEBHOOK_SUBSCRIPTION_NOT_FOUND: {
      statusCode: 404,
      message: {
        en: 'The webhook subscription was not found. Check its id.',
        es: 'No se encontró la suscripción de webhooks. Revise su identificador.'
      },
      remedy: 'Take the id from the list of subscriptions.'
    },
    WEBHOOK_SUBSCRIPTION_DISABLED: {
      statusCode: 409,
      message: {
        en: 'The webhook subscription is disabled. Enable it first.',
        es: 'La suscripción de webhooks está desactivada. Actívela antes.'
      },
      remedy: 'Set the `status` of the subscription to `enabled` once its receiver works again.'
    },
    WEBHOOK_DISABLED_BY_ADMINISTRATOR: {
      statusCode: 409,
      message: {
        en: 'An administrator has disabled the webhook subscription. Ask the operators of the service to enable it.',
        es: 'Un administrador ha desactivado la suscripción de webhooks. Pida a los operadores del servicio que la activen.'
      },
      remedy: 'Ask the operators of the service. The subscription can still be read and removed.'
    },
    WEBHOOK_DELIVERY_NOT_FOUND: {
      statusCode: 404,
      message: {
        en: 'The webhook delivery was not found. Check its id; old deliveries are removed.',
        es: 'No se encontró la entrega de webhook. Revise su identificador; las entregas antiguas se eliminan.'
      },
      remedy: 'Take the id from the list of deliveries of the subscription.'
    },
    WEBHOOK_DELIVERY_PENDING: {
      statusCode: 409,
      message: {
        en: 'The webhook delivery is still pending. Wait until it has ended.',
        es: 'La entrega de webhook aún está pendiente. Espere a que termine.'
      },
      remedy: 'Redeliver only deliveries with the status `delivered`, `failed` or `cancelled`.'
    },
    WEBHOOK_RANGE_INVALID: {
      statusCode: 422,
      validation: true,
      message: {
        en: 'The time range is empty. Fix the fields listed in `errors`.',
        es: 'El intervalo de tiempo está vacío. Corrija los campos indicados en `errors`.'
      },
      remedy: 'Set `until` to a time that is later than `since`.'
    },
    CLIENT_NOT_IDENTIFIED: sharedDefinitions.CLIENT_NOT_IDENTIFIED
  },
  {
    urlFormat: {
      en: 'must be a URL of at most 2048 characters without spaces or backslashes',
      es: 'debe ser una URL de 2048 caracteres como máximo, sin espacios ni barras invertidas'
    },
    urlScheme: { en: 'must start with https://', es: 'debe empezar por https://' },
    urlUserinfo: { en: 'must not contain a user name or @', es: 'no debe contener un nombre de usuario ni @' },
    urlFragment: { en: 'must not have a fragment', es: 'no debe tener fragmento' },
    urlPort: { en: 'must use an allowed port, for example 443', es: 'debe usar un puerto permitido, por ejemplo 443' },
    urlAddress: { en: 'must have a host name, not an IP address', es: 'debe tener un nombre de host, no una dirección IP' },
    urlName: {
      en: 'must have a public host name, for example hooks.example.com',
      es: 'debe tener un nombre de host público, por ejemplo hooks.example.com'
    },
    eventTypeUnknown: { en: 'is not a known event type', es: 'no es un tipo de evento conocido' },
    untilBeforeSince: { en: 'must be later than `since`', es: 'debe ser posterior a `since`' }
  }
)

/** Every error that the routes of this package can raise. */
export const webhooksErrors: ErrorList = errorList
