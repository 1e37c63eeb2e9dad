import { type ApiError, type FieldError, isApiError, isErrorCode } from '@concordat/plugin-kit/api-error'
import { isObject } from '@concordat/plugin-kit/json-schema'
import type { Messages, Params } from '@concordat/plugin-kit/texts'
import type { FastifyRequest } from 'fastify'
import { multipartCodeOf } from '../bodies/multipart.ts'
import type { CatalogueEntry, TranslatedCatalogue } from '../catalogue/catalogue.ts'
import { type GivenOutcome, givenOutcome } from '../catalogue/outcome.ts'
import { isErrorStatus, type TranslatedError } from '../catalogue/translation.ts'
import { fieldErrorsOf, partOf, type ValidationFailure } from './validation-failure.ts'

type Texts = Partial<Messages>

/** The properties of an error that the client may see. */
export interface Failure extends GivenOutcome {
  readonly statusCode: number
  readonly code: string
  readonly params: Params
  /** The messages of the error, by language. Without them, the texts of its error code in the catalogue are used. */
  readonly messages?: Texts | undefined
  /** The message of the error, for an error code that is not in the catalogue. */
  readonly message?: string | undefined
  readonly errors: readonly (FieldError & { readonly messages?: Texts | undefined })[]
  readonly headers: Readonly<Record<string, string>>
  /**
   * What knows the error: the suite, the option `translate`, or the error itself, by its status code or its database code. Without it, the status code
   * is 500 only because nothing is known.
   */
  readonly knownBy?: 'suite' | 'translate' | 'error' | undefined
  /** Whether the request does not match the schema of the route. */
  readonly validation?: boolean | undefined
}

const notMultipart = 'FST_INVALID_MULTIPART_CONTENT_TYPE'

const fastifyCodes = new Map([
  ['FST_ERR_ASYNC_CONSTRAINT', 'INTERNAL_ERROR'],
  ['FST_ERR_BAD_URL', 'MALFORMED_URI'],
  ['FST_ERR_CTP_BODY_TOO_LARGE', 'PAYLOAD_TOO_LARGE'],
  ['FST_ERR_CTP_EMPTY_JSON_BODY', 'EMPTY_BODY'],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'CONTENT_LENGTH_MISMATCH'],
  ['FST_ERR_CTP_INVALID_JSON_BODY', 'MALFORMED_JSON'],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'UNSUPPORTED_MEDIA_TYPE'],
  ['FST_ERR_HANDLER_TIMEOUT', 'HANDLER_TIMEOUT'],
  ['FST_ERR_MAX_PARAM_LENGTH', 'URI_TOO_LONG'],
  // Thrown for a method that Fastify does not support. HTTP/2 allows any text as a method.
  ['FST_ERR_NOT_FOUND', 'METHOD_NOT_IMPLEMENTED'],
  ['FST_ERR_ROUTE_MISSING_CONTENT_TYPE', 'UNSUPPORTED_MEDIA_TYPE'],
  // Thrown by @fastify/multipart with 406, which is about the response.
  ['FST_INVALID_JSON_FIELD_ERROR', 'MALFORMED_JSON'],
  [notMultipart, 'UNSUPPORTED_MEDIA_TYPE']
])

// SQLSTATE classes and codes (PostgreSQL, appendix A) with a more specific meaning for clients than an internal error.
const bySqlState = new Map([
  ['23503', 'CONFLICT'], // foreign key
  ['23505', 'CONFLICT'], // unique
  ['23P01', 'CONFLICT'], // exclusion
  ['40001', 'SERVICE_UNAVAILABLE'], // serialization failure
  ['40P01', 'SERVICE_UNAVAILABLE'], // deadlock
  ['55P03', 'SERVICE_UNAVAILABLE'] // lock not available
])
const byClass = new Map([
  ['08', 'SERVICE_UNAVAILABLE'], // connection
  ['53', 'SERVICE_UNAVAILABLE'], // resources
  ['57', 'SERVICE_UNAVAILABLE'] // shutdown, and a cancelled statement: 504 is for gateways (RFC 9110 §15.6.5), and few operations describe it
])

// The headers that errors of other libraries may send to the client, with a usual length. Their other headers could be internal.
const maxPassedLength = 1024
const passedHeaders = new Set(['accept', 'allow', 'retry-after', 'upgrade', 'www-authenticate'])

const noErrors: Failure['errors'] = []
/** The errors of a 422 of which no field is known. */
export const wholeBody: Failure['errors'] = wholePart('body')

/** Returns the failure for a catalogue entry. */
export function failureOf({ statusCode, code, message, retry, effect }: CatalogueEntry, headers: Failure['headers'] = {}): Failure {
  return { statusCode, code, params: {}, messages: message, errors: statusCode === 422 ? wholeBody : noErrors, headers, retry, effect }
}

/**
 * Returns the failure for any thrown value. Never throws, even when reading the value throws, and never includes the text of an error that was not made
 * for clients. `translate` is called for a value that the suite does not know.
 */
export function failureFrom(
  thrown: unknown,
  catalogue: TranslatedCatalogue,
  validationCode: string,
  translate: (error: unknown) => Failure | undefined
): Failure {
  const unknown = failureOf(catalogue.ofStatus(500))
  if (thrown === null || thrown === undefined) return unknown
  return safely(
    () => suiteFailure(thrown, catalogue, validationCode) ?? translate(thrown) ?? foreignFailure(thrown, catalogue) ?? unknown,
    unknown
  )
}

/** Returns the failure for a valid result of the option `translate`. */
export function translatedFailure(result: ApiError | TranslatedError, catalogue: TranslatedCatalogue): Failure {
  if (isApiError(result)) return { ...apiFailure(result, catalogue), knownBy: 'translate' }
  const { statusCode, code, message, errors = [], headers = {} } = result
  const general = catalogue.ofStatus(statusCode)
  const fields = errors.map((error) => ({
    field: error.field,
    key: '',
    params: {},
    message: '',
    messages: textsIn(error.message, catalogue)
  }))
  return {
    ...failureOf({ ...general, code: code ?? general.code }, headerFields(headers)),
    ...(fields.length > 0 && { errors: fields }),
    messages: message === undefined ? (catalogue.find(code ?? '') ?? general).message : textsIn(message, catalogue),
    knownBy: 'translate'
  }
}

function suiteFailure(thrown: unknown, catalogue: TranslatedCatalogue, validationCode: string): Failure | undefined {
  if (!isObject(thrown)) return undefined
  if (isApiError(thrown)) return { ...apiFailure(thrown, catalogue), knownBy: 'suite' }
  const validation = validationFailure(thrown, catalogue, validationCode)
  if (validation) return { ...validation, knownBy: 'suite' }
  const code = fastifyCodes.get(thrown['code'] as string) ?? multipartCodeOf(thrown)
  if (code === undefined) return undefined
  const accept = thrown['code'] === notMultipart ? { accept: 'multipart/form-data' } : {}
  const headers = { ...accept, ...foreignHeaders(thrown['headers']) }
  return { ...failureOf(catalogue.find(code) as CatalogueEntry, headers), knownBy: 'suite' }
}

function foreignFailure(thrown: unknown, catalogue: TranslatedCatalogue): Failure | undefined {
  if (!isObject(thrown)) return undefined
  const code = databaseCodeOf(thrown)
  const statusCode = [thrown['statusCode'], thrown['status']].find(isStatus)
  if (code === undefined && statusCode === undefined) return undefined
  const entry = code === undefined ? catalogue.ofStatus(statusCode as number) : (catalogue.find(code) as CatalogueEntry)
  return { ...failureOf(entry, foreignHeaders(thrown['headers'])), knownBy: 'error' }
}

// A text in one language is sent in each.
function textsIn(text: string | Texts, { locales }: TranslatedCatalogue): Texts {
  return typeof text === 'string' ? Object.fromEntries(locales.map((locale) => [locale, text])) : text
}

/** Returns whether a status code reports an error of the service. 501 and 505 do not: any client can cause them. */
export function isOurFault(statusCode: number): boolean {
  return statusCode >= 500 && statusCode !== 501 && statusCode !== 505
}

/** Returns whether a thrown value, which gets this status code, reports that something behind the service fails, such as a database. */
export function isOutage(thrown: unknown, statusCode: number): boolean {
  return statusCode === 503 && safely(() => !isApiError(thrown) || thrown.cause !== undefined, false)
}

/** Returns whether a value was thrown because `request.signal` was aborted, by a client that left. */
export function isOfClientThatLeft({ raw }: FastifyRequest, thrown: unknown): boolean {
  return raw.aborted && safely(() => (thrown as { name?: unknown } | null)?.name === 'AbortError', false)
}

/** Returns the status code of a thrown value, or 500. */
export function statusOf(thrown: unknown): number {
  return safely(() => {
    // A response that was sent without an error has none to read, and to catch a TypeError costs as much as the whole response.
    const { statusCode, status } = (thrown ?? {}) as { statusCode?: unknown; status?: unknown }
    return [statusCode, status].find(isStatus) ?? 500
  }, 500)
}

// Reading a property of a thrown value can throw.
function safely<Value>(read: () => Value, otherwise: Value): Value {
  try {
    return read()
  } catch {
    return otherwise
  }
}

// The error can come from another copy of the package or from JavaScript, so every property is checked.
function apiFailure(error: { readonly [Member in keyof ApiError]: unknown }, catalogue: TranslatedCatalogue): Failure {
  const statusCode = isStatus(error.statusCode) ? error.statusCode : 500
  if (!isErrorStatus(statusCode)) return failureOf(catalogue.ofStatus(statusCode))
  const errors = Array.isArray(error.errors) ? (error.errors as unknown[]).filter(isFieldError) : noErrors
  const code = isErrorCode(error.code) ? error.code : catalogue.ofStatus(statusCode).code
  return {
    statusCode,
    code,
    ...givenOutcome(error, catalogue.find(code)),
    params: isObject(error.params) ? (error.params as Params) : {},
    errors: errors.length === 0 && statusCode === 422 ? wholeBody : errors,
    headers: isObject(error.headers) ? headerFields(error.headers) : {},
    ...(isObject(error.messages) ? { messages: catalogue.translationsOf(error.messages) ?? textsOf(error.messages) } : {}),
    // A 5xx keeps its error code, but never its own message.
    ...(statusCode < 500 && typeof error.message === 'string' ? { message: error.message } : {})
  }
}

function validationFailure(
  error: ValidationFailure & { readonly statusCode?: unknown },
  catalogue: TranslatedCatalogue,
  validationCode: string
): Failure | undefined {
  const { validationContext, statusCode } = error
  // Fastify sets 400 when a validator rejects the request, and 500 when the validator throws, which is not the fault of the client.
  if (typeof validationContext !== 'string' || !isStatus(statusCode) || statusCode >= 500) return undefined
  if (validationContext === 'params') return failureOf(catalogue.find('RESOURCE_NOT_FOUND') as CatalogueEntry)
  const found = fieldErrorsOf(error)
  const errors = found.length > 0 ? found : wholePart(partOf(error))
  const missingHeader = validationContext === 'headers' && errors.some(({ key }) => key === 'required')
  if (missingHeader)
    return {
      ...failureOf(catalogue.find('MALFORMED_REQUEST') as CatalogueEntry),
      messages: catalogue.translated.get('general.headerMissing'),
      errors
    }
  // A route that was registered before this plugin can have a validationCode that is not in the catalogue.
  const entry = (catalogue.find(validationCode) ?? catalogue.find('VALIDATION_FAILED')) as CatalogueEntry
  return { ...failureOf(entry), errors, validation: true }
}

/** Returns the errors of a part of the request that is invalid as a whole, or in an unknown field. */
export function wholePart(part: string): Failure['errors'] {
  return [{ field: part, key: 'invalid', params: {}, message: 'is invalid' }]
}

function isFieldError(value: unknown): value is FieldError {
  if (!isObject(value)) return false
  const { field, pointer = '', key, params, message } = value
  return [field, pointer, key, message].every((text) => typeof text === 'string') && isObject(params)
}

function isStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 400 && (value as number) <= 599
}

function foreignHeaders(headers: unknown): Record<string, string> {
  if (!isObject(headers)) return {}
  const passed = Object.entries(headerFields(headers)).filter(([name, value]) => passedHeaders.has(name) && value.length <= maxPassedLength)
  return Object.fromEntries(passed)
}

function textsOf(messages: Readonly<Record<string, unknown>>): Texts {
  return Object.fromEntries(Object.entries(messages).filter(([, text]) => typeof text === 'string' || isObject(text))) as Texts
}

/** Returns headers with names in lower case, and values that are texts. */
export function headerFields(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
}

// As thrown by `pg` and PGlite.
function databaseCodeOf(thrown: object): string | undefined {
  const { code, severity } = thrown as { code?: unknown; severity?: unknown }
  // Other libraries have codes of five characters too. Only PostgreSQL errors have a severity.
  if (typeof code !== 'string' || typeof severity !== 'string') return undefined
  return bySqlState.get(code) ?? byClass.get(code.slice(0, 2))
}
