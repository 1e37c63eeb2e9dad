import { type FieldError, isApiError, type Params } from '@concordat/api-error'
import type { Catalogue, CatalogueEntry } from './catalogue.ts'
import { databaseCodeOf } from './database-codes.ts'
import { fieldErrorsOf, type ValidationFailure } from './validation-failure.ts'

/** What a client is told about anything that went wrong. */
export interface Failure {
  readonly statusCode: number
  readonly code: string
  readonly params: Params
  /** The error's own text, for a code that the catalogue does not know. */
  readonly message?: string
  readonly errors: readonly Pick<FieldError, 'field' | 'key' | 'params' | 'message'>[]
  readonly headers: Readonly<Record<string, string>>
  /** True when the schema of the route refused the request. */
  readonly validation?: boolean
}

const fastifyCodes: Readonly<Record<string, string>> = {
  FST_ERR_ASYNC_CONSTRAINT: 'INTERNAL_ERROR',
  FST_ERR_BAD_URL: 'MALFORMED_URI',
  FST_ERR_CTP_BODY_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'EMPTY_BODY',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'CONTENT_LENGTH_MISMATCH',
  FST_ERR_CTP_INVALID_JSON_BODY: 'MALFORMED_JSON',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_HANDLER_TIMEOUT: 'HANDLER_TIMEOUT',
  FST_ERR_MAX_PARAM_LENGTH: 'URI_TOO_LONG',
  // Thrown for a method that Fastify has never heard of; HTTP/2 lets any text be one.
  FST_ERR_NOT_FOUND: 'METHOD_NOT_IMPLEMENTED',
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: 'UNSUPPORTED_MEDIA_TYPE'
}

// Foreign errors may carry these to the client; everything else in their headers could be internal.
const passedHeaders = new Set(['accept', 'allow', 'retry-after', 'upgrade', 'www-authenticate'])

const noErrors: Failure['errors'] = []
const wholeRequest: Failure['errors'] = [{ field: 'body', key: 'invalid', params: {}, message: 'is not valid' }]

/** The failure of one catalogue entry. */
export function failureOf(entry: CatalogueEntry, params: Params = {}, headers: Failure['headers'] = {}): Failure {
  const errors = entry.statusCode === 422 ? wholeRequest : noErrors
  return { statusCode: entry.statusCode, code: entry.code, params, errors, headers }
}

/**
 * Tells what a client may know about anything thrown. Never throws, whatever the value does when it is read,
 * and passes on no text of an error that was not made for clients.
 */
export function failureFrom(thrown: unknown, catalogue: Catalogue, validationCode: string): Failure {
  try {
    if (isApiError(thrown)) return apiFailure(thrown)
    if (typeof thrown !== 'object' || thrown === null) return failureOf(catalogue.ofStatus(500))
    const error = thrown as { code?: unknown; statusCode?: unknown; status?: unknown; headers?: unknown }
    const validation = validationFailure(thrown, catalogue, validationCode)
    if (validation) return validation
    const code = typeof error.code === 'string' ? (fastifyCodes[error.code] ?? databaseCodeOf(thrown)) : undefined
    const entry = code === undefined ? catalogue.ofStatus(statusOf(error)) : (catalogue.find(code) as CatalogueEntry)
    return failureOf(entry, {}, foreignHeaders(error.headers))
  } catch {
    return failureOf(catalogue.ofStatus(500))
  }
}

function apiFailure(error: {
  statusCode: number
  code: string
  message: string
  params: Params
  errors: Failure['errors']
  headers: Failure['headers']
}): Failure {
  const { statusCode, code, message, params, headers } = error
  const errors = error.errors.length === 0 && statusCode === 422 ? wholeRequest : error.errors
  // A 5xx may name its code and never brings words of its own.
  return { statusCode, code, params, errors, headers, ...(statusCode < 500 ? { message } : {}) }
}

function validationFailure(error: ValidationFailure, catalogue: Catalogue, validationCode: string): Failure | undefined {
  const { validationContext, validation } = error
  if (validationContext === undefined || !Array.isArray(validation)) return undefined
  if (validationContext === 'params') return failureOf(catalogue.find('RESOURCE_NOT_FOUND') as CatalogueEntry)
  const errors = fieldErrorsOf(error)
  const missingHeader = validationContext === 'headers' && errors.some(({ key }) => key === 'required')
  if (missingHeader) return { ...failureOf(catalogue.find('MALFORMED_REQUEST') as CatalogueEntry), errors }
  return { ...failureOf(catalogue.find(validationCode) as CatalogueEntry), errors, validation: true }
}

function statusOf({ statusCode, status }: { statusCode?: unknown; status?: unknown }): number {
  const wanted = [statusCode, status].find((value) => Number.isInteger(value) && (value as number) >= 400 && (value as number) <= 599)
  return (wanted as number | undefined) ?? 500
}

function foreignHeaders(headers: unknown): Record<string, string> {
  if (typeof headers !== 'object' || headers === null) return {}
  const passed = Object.entries(headers).filter(([name]) => passedHeaders.has(name.toLowerCase()))
  return Object.fromEntries(passed.map(([name, value]) => [name.toLowerCase(), String(value)]))
}
