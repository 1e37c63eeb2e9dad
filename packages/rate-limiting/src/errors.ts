import { type ApiError, defineErrors, type ErrorList } from '@concordat/api-error'
import type { Limit } from './limit.ts'

const list = defineErrors({
  RATE_LIMIT_EXCEEDED: {
    statusCode: 429,
    message: {
      en: 'More than {limit} requests in {windowSeconds} seconds. Wait for the seconds in Retry-After.',
      es: 'Más de {limit} solicitudes en {windowSeconds} segundos. Espere los segundos de Retry-After.'
    },
    remedy: 'Wait for the seconds in Retry-After; RateLimit-Policy and RateLimit say what is left before it comes to this.'
  },
  RATE_LIMIT_UNAVAILABLE: {
    statusCode: 503,
    message: {
      en: 'Requests cannot be counted at the moment. Try again after the time in Retry-After.',
      es: 'Las solicitudes no se pueden contar en este momento. Inténtelo de nuevo tras el tiempo de Retry-After.'
    },
    remedy: 'Retry after the seconds in Retry-After.'
  },
  SERVICE_OVERLOADED: {
    statusCode: 503,
    message: {
      en: 'The service has more to do than it can. Try again after the time in Retry-After.',
      es: 'El servicio tiene más trabajo del que puede atender. Inténtelo de nuevo tras el tiempo de Retry-After.'
    },
    remedy: 'Retry after the seconds in Retry-After, with growing pauses.'
  }
})

/** Every error that this package raises, for the catalogue's `include`. */
export const rateLimitingErrors: ErrorList = list

/** 429: the window has no requests left for this key (RFC 6585 §4, rule X5). */
export function rateLimitExceeded({ limit, windowSeconds }: Limit, retryAfterSeconds: number): ApiError {
  return list.create('RATE_LIMIT_EXCEEDED', {
    params: { limit, windowSeconds },
    headers: { 'retry-after': String(retryAfterSeconds) }
  })
}

/** 503: the store does not answer, and nobody is let through uncounted. */
export function rateLimitUnavailable(retryAfterSeconds: number): ApiError {
  return list.create('RATE_LIMIT_UNAVAILABLE', { headers: { 'retry-after': String(retryAfterSeconds) } })
}

/** 503: a measure of this process is over its threshold. */
export function serviceOverloaded(retryAfterSeconds: number): ApiError {
  return list.create('SERVICE_OVERLOADED', { headers: { 'retry-after': String(retryAfterSeconds) } })
}
