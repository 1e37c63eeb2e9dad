import { type ApiError, defineErrors, type ErrorList } from '@concordat/api-error'
import type { UrlRule } from './callback-url.ts'

const list = defineErrors(
  {
    WEBHOOK_URL_REFUSED: {
      statusCode: 422,
      validation: true,
      message: {
        en: 'Webhooks can not be sent to this URL. Correct what errors names.',
        es: 'No se pueden enviar webhooks a esta URL. Corrija lo que indica errors.'
      },
      remedy: 'Give an https URL with a public host name, on an allowed port, without user information and fragment.'
    },
    WEBHOOK_EVENT_TYPE_UNKNOWN: {
      statusCode: 422,
      validation: true,
      message: {
        en: 'There are event types that this service does not have. Correct what errors names.',
        es: 'Hay tipos de evento que este servicio no tiene. Corrija lo que indica errors.'
      },
      remedy: 'Subscribe to event types that the description lists under webhooks.'
    },
    WEBHOOK_SUBSCRIPTION_LIMIT: {
      statusCode: 409,
      message: {
        en: 'There are {limit} subscriptions already, and no more are possible. Remove one first.',
        es: 'Ya hay {limit} suscripciones y no se permiten más. Elimine antes alguna.'
      },
      remedy: 'Remove a subscription that is not needed any more, or give one more event types.'
    },
    WEBHOOK_SUBSCRIPTION_NOT_FOUND: {
      statusCode: 404,
      message: {
        en: 'There is no such webhook subscription. Check its id.',
        es: 'No existe esa suscripción de webhooks. Revise su id.'
      },
      remedy: 'Take the id from the list of subscriptions.'
    },
    WEBHOOK_SUBSCRIPTION_DISABLED: {
      statusCode: 409,
      message: {
        en: 'The webhook subscription is disabled. Enable it first.',
        es: 'La suscripción de webhooks está desactivada. Actívela antes.'
      },
      remedy: 'Set the status of the subscription to enabled, once its receiver works.'
    },
    WEBHOOK_DELIVERY_NOT_FOUND: {
      statusCode: 404,
      message: {
        en: 'There is no such webhook delivery. Check its id; old ones are removed.',
        es: 'No existe esa entrega de webhook. Revise su id; las antiguas se eliminan.'
      },
      remedy: 'Take the id from the list of deliveries of the subscription.'
    },
    WEBHOOK_DELIVERY_PENDING: {
      statusCode: 409,
      message: {
        en: 'The webhook delivery is still being tried. Wait until it has ended.',
        es: 'La entrega de webhook aún se está intentando. Espere a que termine.'
      },
      remedy: 'Redeliver what has been delivered, has failed or was cancelled.'
    },
    WEBHOOK_RANGE_INVALID: {
      statusCode: 422,
      validation: true,
      message: {
        en: 'The time range is empty. Correct what errors names.',
        es: 'El intervalo de tiempo está vacío. Corrija lo que indica errors.'
      },
      remedy: 'Give an until that is later than since.'
    }
  },
  {
    urlFormat: {
      en: 'This is no URL of at most 2048 characters without blanks and backslashes.',
      es: 'No es una URL de 2048 caracteres como máximo, sin espacios ni barras invertidas.'
    },
    urlScheme: { en: 'The URL must begin with https://.', es: 'La URL debe empezar por https://.' },
    urlUserinfo: { en: 'The URL must not contain a user name or @.', es: 'La URL no debe contener un nombre de usuario ni @.' },
    urlFragment: { en: 'The URL must not have a fragment.', es: 'La URL no debe tener fragmento.' },
    urlPort: { en: 'The URL must name an allowed port, as 443.', es: 'La URL debe indicar un puerto permitido, como 443.' },
    urlAddress: { en: 'The host must be a name, not an address.', es: 'El host debe ser un nombre, no una dirección.' },
    urlName: {
      en: 'The host must be a public name, as hooks.example.com.',
      es: 'El host debe ser un nombre público, como hooks.example.com.'
    },
    eventTypeUnknown: { en: 'There are no such events.', es: 'No existen esos eventos.' },
    untilBeforeSince: { en: 'This must be later than since.', es: 'Debe ser posterior a since.' }
  }
)

/** Every error that this package's routes can raise. */
export const webhooksErrors: ErrorList = list

/** 422: the callback URL breaks a rule of the guard, which is named; no look-up was made (rule W5). */
export function urlRefused(rule: UrlRule): ApiError {
  return list.create('WEBHOOK_URL_REFUSED', { errors: [{ field: 'body.url', key: rule }] })
}

/** 422: the positions of the unknown types in the list. */
export function eventTypesUnknown(positions: readonly number[]): ApiError {
  const errors = positions.map((position) => ({ field: `body.eventTypes.${position}`, key: 'eventTypeUnknown' as const }))
  return list.create('WEBHOOK_EVENT_TYPE_UNKNOWN', { errors })
}

export function subscriptionLimit(limit: number): ApiError {
  return list.create('WEBHOOK_SUBSCRIPTION_LIMIT', { params: { limit } })
}

export function subscriptionNotFound(): ApiError {
  return list.create('WEBHOOK_SUBSCRIPTION_NOT_FOUND')
}

export function subscriptionDisabled(): ApiError {
  return list.create('WEBHOOK_SUBSCRIPTION_DISABLED')
}

export function deliveryNotFound(): ApiError {
  return list.create('WEBHOOK_DELIVERY_NOT_FOUND')
}

export function deliveryPending(): ApiError {
  return list.create('WEBHOOK_DELIVERY_PENDING')
}

export function rangeInvalid(): ApiError {
  return list.create('WEBHOOK_RANGE_INVALID', { errors: [{ field: 'body.until', key: 'untilBeforeSince' }] })
}
