import type { ErrorList } from '@concordat/api-error'
import { authenticationErrors } from '@concordat/authentication'
import { isBatch } from '@concordat/batch'
import { idempotencyErrors } from '@concordat/idempotency'
import type { DescribedRoute } from '@concordat/openapi'
import { paginationQueryErrors } from '@concordat/pagination-query'
import { rateLimitingErrors, rateLimitsOf } from '@concordat/rate-limiting'
import { transportSecurityErrors } from '@concordat/transport-security'
import type { ConventionsOptions } from './options.ts'

const requestErrors = [
  'MALFORMED_REQUEST',
  'MALFORMED_URI',
  'DUPLICATE_HEADER',
  'URI_TOO_LONG',
  'HEADERS_TOO_LARGE',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE'
]
const jsonErrors = ['MALFORMED_JSON', 'EMPTY_BODY', 'INVALID_UTF8', 'JSON_TOO_DEEP', 'CONTENT_LENGTH_MISMATCH']
const mediaTypeErrors = ['UNSUPPORTED_MEDIA_TYPE', 'UNSUPPORTED_CHARSET', 'UNSUPPORTED_CONTENT_ENCODING']

const jobErrors = {
  start: ['JOB_INPUT_INVALID'],
  status: ['JOB_NOT_FOUND', 'JOB_EXPIRED'],
  cancel: ['JOB_NOT_FOUND', 'JOB_EXPIRED', 'JOB_ALREADY_OVER'],
  result: ['JOB_NOT_FOUND', 'JOB_EXPIRED', 'JOB_HAS_NO_RESULT']
} as const

type Config = DescribedRoute['config'] & {
  readonly validationCode?: string | undefined
  readonly public?: boolean | string | undefined
  readonly transaction?: unknown
  readonly consumes?: readonly string[] | undefined
  readonly job?: keyof typeof jobErrors | undefined
}
type CodesOf = (route: DescribedRoute, config: NonNullable<Config>) => readonly string[]

/** Returns a function that lists the error codes with which the plugins of the preset can respond on a route. */
export function operationErrors(options: ConventionsOptions): (route: DescribedRoute) => readonly string[] {
  const { versions = {}, versioning, transportSecurity, contentNegotiation, rateLimiting, authentication } = options
  const sunsetPaths = Object.entries(versions).flatMap(([number, version]) => ('sunsetAt' in version ? [`/v${number}/`] : []))
  // Only the errors that ask the client to retry (503): the others mean only that something failed.
  const transactionCodes = Object.entries(options.transactions?.errors.definitions ?? {}).flatMap(([code, { statusCode }]) =>
    statusCode === 503 ? [code] : []
  )
  const sources: readonly (CodesOf | false)[] = [
    () => requestErrors,
    bodyErrors,
    validationErrors,
    transportSecurity !== false && (() => codesOf(transportSecurityErrors)),
    rateLimiting !== false && ((route) => (rateLimitsOf(route) === undefined ? [] : codesOf(rateLimitingErrors))),
    authentication !== false && accessErrors,
    contentNegotiation !== false && (() => ['NOT_ACCEPTABLE']),
    versioning !== false && (({ url }) => (sunsetPaths.some((path) => url.includes(path)) ? ['VERSION_RETIRED'] : [])),
    options.httpMethods !== false && (({ method }) => (method === 'PUT' ? ['PARTIAL_PUT_NOT_SUPPORTED'] : [])),
    options.paginationQuery !== false && listErrors,
    options.conditionalCaching !== false && conditionErrors,
    options.idempotency !== false && keyErrors,
    (_route, { transaction }) => (transaction ? transactionCodes : []),
    (_route, { job }) => (job === undefined ? [] : jobErrors[job]),
    (_route, config) => (config.job === 'start' ? clientErrors(config) : [])
  ]
  return (route) => sources.flatMap((source) => (source === false ? [] : source(route, route.config ?? {})))
}

function codesOf({ definitions }: ErrorList) {
  return Object.keys(definitions)
}

function bodyErrors({ schema }: DescribedRoute, { consumes = [] }: NonNullable<Config>) {
  if (schema?.body !== undefined) return [...jsonErrors, 'PAYLOAD_TOO_LARGE', ...mediaTypeErrors]
  const partErrors = isMultipart(consumes) ? ['MALFORMED_MULTIPART'] : []
  return consumes.some((type) => type !== 'application/json') ? [...partErrors, 'PAYLOAD_TOO_LARGE', ...mediaTypeErrors] : []
}

function isMultipart(consumes: readonly string[] = []) {
  return consumes.some((type) => type.startsWith('multipart/'))
}

function validationErrors({ schema, url }: DescribedRoute, config: NonNullable<Config>) {
  const { validationCode = 'VALIDATION_FAILED' } = config
  const declared = [schema?.body, schema?.querystring, schema?.headers]
  const isValidated = declared.some((part) => part !== undefined) || isMultipart(config.consumes)
  return [
    ...(url.includes(':') ? ['RESOURCE_NOT_FOUND'] : []),
    ...(isValidated ? [validationCode] : []),
    ...(isBatch({ config }) ? ['BATCH_INVALID'] : [])
  ]
}

// A public route accepts requests without credentials, and refuses credentials that are invalid.
const onlyWithPermissions = new Set(['RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSION', 'CROSS_SITE_REQUEST'])

// A resource whose existence is hidden from the caller returns 404, which only an item can do.
function accessErrors({ url }: DescribedRoute, { permissions, public: isPublic }: NonNullable<Config>) {
  if (permissions === undefined && isPublic !== true) return ['CREDENTIALS_IN_URI']
  if (permissions === undefined) return codesOf(authenticationErrors).filter((code) => !onlyWithPermissions.has(code))
  return codesOf(authenticationErrors).filter((code) => code !== 'RESOURCE_NOT_FOUND' || url.includes(':'))
}

function listErrors(_route: DescribedRoute, { collection }: NonNullable<Config>) {
  if (collection === undefined) return ['INVALID_QUERY_PARAMETERS']
  return codesOf(paginationQueryErrors).filter((code) => collection.style === 'cursor' || !code.startsWith('CURSOR_'))
}

function conditionErrors({ method }: DescribedRoute, { validator, requireIfMatch }: NonNullable<Config>) {
  if (method === 'GET' || (validator === undefined && requireIfMatch !== true)) return []
  return requireIfMatch === true ? ['PRECONDITION_FAILED', 'PRECONDITION_REQUIRED'] : ['PRECONDITION_FAILED']
}

// A route that requires permissions knows its client.
function clientErrors({ permissions }: NonNullable<Config>) {
  return permissions === undefined ? ['CLIENT_NOT_IDENTIFIED'] : []
}

function keyErrors(_route: DescribedRoute, config: NonNullable<Config>) {
  const { idempotency } = config
  const key = typeof idempotency === 'object' && idempotency !== null && 'key' in idempotency ? idempotency.key : idempotency
  if (key !== 'required' && key !== 'accepted') return []
  const exceptions = new Set([...(key === 'required' ? [] : ['IDEMPOTENCY_KEY_REQUIRED']), 'CLIENT_NOT_IDENTIFIED'])
  return [...codesOf(idempotencyErrors).filter((code) => !exceptions.has(code)), ...clientErrors(config)]
}
