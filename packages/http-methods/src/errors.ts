import { type ApiError, defineErrors, type ErrorList } from '@concordat/api-error'

const errors = defineErrors({
  RESOURCE_NOT_FOUND: {
    statusCode: 404,
    message: {
      en: 'The resource was not found. Check the path and the identifiers in it.',
      es: 'No se encontró el recurso. Revise la ruta y los identificadores que contiene.'
    },
    remedy: 'Follow the links in other responses, or take the path from the API description.'
  },
  METHOD_NOT_ALLOWED: {
    statusCode: 405,
    message: {
      en: 'This resource does not support {method}. Use one of these methods: {allowed}.',
      es: 'Este recurso no admite {method}. Use uno de estos métodos: {allowed}.'
    },
    remedy: 'Use one of the methods in the Allow header.'
  },
  METHOD_NOT_IMPLEMENTED: {
    statusCode: 501,
    message: {
      en: 'The server does not support this method. Use one of these methods: {supported}.',
      es: 'El servidor no admite este método. Use uno de estos métodos: {supported}.'
    },
    remedy: 'Use a standard HTTP method, in uppercase.'
  }
})

/** Every error that this package raises, for the catalogue's `include`. */
export const methodErrors: ErrorList = errors

/** 404: the URL has no route for any method. */
export function resourceNotFound(): ApiError {
  return errors.create('RESOURCE_NOT_FOUND')
}

/** 405 with `Allow`: the URL exists, with other methods (RFC 9110 §15.5.6). `allowed` is sent in the given order. */
export function methodNotAllowed(method: string, allowed: readonly string[]): ApiError {
  const list = allowed.join(', ')
  return errors.create('METHOD_NOT_ALLOWED', { params: { method, allowed: list }, headers: { allow: list } })
}

/**
 * 501: the server does not support the method for any resource (RFC 9110 §15.6.2).
 * The error does not repeat the method: over HTTP/2 it can be any text.
 */
export function methodNotImplemented(supported: readonly string[]): ApiError {
  return errors.create('METHOD_NOT_IMPLEMENTED', { params: { supported: supported.join(', ') } })
}
