import { type ApiError, defineErrors, type ErrorList, sharedDefinitions } from '@concordat/api-error'

// The texts have no placeholders; the params are for the error handler of a service.
const errors = defineErrors({
  RESOURCE_NOT_FOUND: sharedDefinitions.RESOURCE_NOT_FOUND,
  METHOD_NOT_ALLOWED: sharedDefinitions.METHOD_NOT_ALLOWED,
  METHOD_NOT_IMPLEMENTED: sharedDefinitions.METHOD_NOT_IMPLEMENTED,
  PARTIAL_PUT_NOT_SUPPORTED: {
    statusCode: 400,
    message: {
      en: 'PUT replaces the whole resource, so Content-Range is not supported. Send the whole resource without it.',
      es: 'PUT sustituye el recurso completo, por lo que no se admite Content-Range. Envíe el recurso completo sin ese encabezado.'
    },
    remedy: 'Send the whole resource without Content-Range, or change a part of it with PATCH.'
  }
})

/** Every error that this package raises, for the catalogue's `include`. */
export const httpMethodsErrors: ErrorList = errors

/** 404: the URL has no route for any method. */
export function resourceNotFound(): ApiError {
  return errors.create('RESOURCE_NOT_FOUND')
}

/** 405 with `Allow`: the URL has routes only for other methods (RFC 9110 §15.5.6). `allowed` is sent in the given order. */
export function methodNotAllowed(method: string, allowed: readonly string[]): ApiError {
  const list = allowed.join(', ')
  return errors.create('METHOD_NOT_ALLOWED', { params: { method, allowed: list }, headers: { allow: list } })
}

/** 400: a PUT with `Content-Range`, whose partial content must not be stored as the whole resource (RFC 9110 §14.5). */
export function partialPutNotSupported(): ApiError {
  return errors.create('PARTIAL_PUT_NOT_SUPPORTED')
}

/**
 * 501: the server does not support the method for any resource (RFC 9110 §15.6.2).
 * The error does not repeat the method: over HTTP/2 it can be any text.
 */
export function methodNotImplemented(supported: readonly string[]): ApiError {
  return errors.create('METHOD_NOT_IMPLEMENTED', { params: { supported: supported.join(', ') } })
}
