import { type ApiError, defineErrors, type ErrorList, sharedDefinitions } from '@concordat/plugin-kit/api-error'
import type { Limit } from './limit.ts'

// RATE_LIMIT_EXCEEDED has no placeholders; its params are for the error handler of a service.
const list = defineErrors({
  RATE_LIMIT_EXCEEDED: sharedDefinitions.RATE_LIMIT_EXCEEDED,
  RATE_LIMIT_UNAVAILABLE: {
    statusCode: 503,
    retry: 'later',
    message: {
      en: 'The rate limit cannot be checked at the moment. Try again after the number of seconds in Retry-After.',
      es: 'El límite de peticiones no se puede comprobar en este momento. Inténtelo de nuevo tras los segundos que indica Retry-After.'
    },
    remedy: 'Retry after the number of seconds in Retry-After.'
  },
  SERVICE_OVERLOADED: {
    statusCode: 503,
    retry: 'later',
    message: {
      en: 'The service is overloaded. Try again after the number of seconds in Retry-After.',
      es: 'El servicio está sobrecargado. Inténtelo de nuevo tras los segundos que indica Retry-After.'
    },
    remedy: 'Retry after the number of seconds in Retry-After, with exponential backoff.'
  }
})

/** Every error that this package throws, for the catalogue's `include`. */
export const rateLimitingErrors: ErrorList = list

/** 429: the window has no requests left for this key (RFC 6585 §4, rule X5). */
export function rateLimitExceeded({ limit, windowSeconds }: Limit, retryAfterSeconds: number): ApiError {
  return list.create('RATE_LIMIT_EXCEEDED', {
    params: { limit, windowSeconds },
    headers: { 'retry-after': String(retryAfterSeconds) }
  })
}

/** 503: the store is unavailable, and no request is accepted uncounted. */
export function rateLimitUnavailable(): ApiError {
  return list.create('RATE_LIMIT_UNAVAILABLE', { headers: { 'retry-after': '1' } })
}

/** The longest time after which a request that an overloaded process refuses may be sent again. */
export const longestRetrySeconds = 30

// Created once, because a stack trace for each of many refused requests would cost as much as its response. With a cause it counts as an outage, which
// is logged once and then once a minute.
const cause = new Error('The event loop is late, requests wait for connections, or too many requests are in flight.')
const overloaded = Array.from({ length: longestRetrySeconds + 1 }, (_, seconds) =>
  list.create('SERVICE_OVERLOADED', { headers: { 'retry-after': String(seconds), 'cache-control': 'no-store' }, cause })
)

/** 503: the process has too much to do. Never cached. */
export function serviceOverloaded(retryAfterSeconds: number): ApiError {
  return overloaded[retryAfterSeconds] as ApiError
}
