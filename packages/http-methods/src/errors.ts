import { type ApiError, defineErrors, type ErrorList, sharedDefinitions } from '@concordat/plugin-kit/api-error'

/** Every error that this package raises. The texts have no placeholders; the params are for the error handler of a service. */
export const httpMethodsErrors: ErrorList = defineErrors({
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

/** 405 with `Allow`: the URL has routes only for other methods (RFC 9110 §15.5.6). */
export function methodNotAllowed(method: string, allowed: readonly string[]): ApiError {
  const list = allowed.join(', ')
  return httpMethodsErrors.create('METHOD_NOT_ALLOWED', { params: { method, allowed: list }, headers: { allow: list } })
}

/** 501: no resource has the method (RFC 9110 §15.6.2). The error does not repeat it: over HTTP/2 it can be any text. */
export function methodNotImplemented(supported: readonly string[]): ApiError {
  return httpMethodsErrors.create('METHOD_NOT_IMPLEMENTED', { params: { supported: supported.join(', ') } })
}
