import type { DescribedRoute, OperationParts } from '@concordat/plugin-kit/wiring'

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
const sizeAndTypeErrors = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'UNSUPPORTED_CHARSET', 'UNSUPPORTED_CONTENT_ENCODING']
const schema = { type: 'string', pattern: '^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$', maxLength: 35, examples: ['en'] }
const ofErrors = { description: 'The language of the message.', schema, statuses: ['4XX', '5XX'] }
const ofTexts = { description: 'The language of the message, or of the texts.', schema, statuses: ['2XX', '4XX', '5XX'] }

interface Config {
  readonly validationCode?: string | undefined
  readonly consumes?: readonly string[] | undefined
}

/** Returns the function that returns the errors that any request to a route can cause before its handler, and the language header, for its description. */
export function operationParts(hasTexts: boolean): (route: DescribedRoute) => OperationParts {
  const headers = { 'Content-Language': hasTexts ? ofTexts : ofErrors }
  return (route) => ({ errors: errorsOf(route), headers })
}

function errorsOf({ url, schema, config = {} }: DescribedRoute): readonly string[] {
  const { validationCode = 'VALIDATION_FAILED', consumes = [] } = config as Config
  const isMultipart = consumes.some((type) => type.startsWith('multipart/'))
  const isValidated = isMultipart || [schema?.body, schema?.querystring, schema?.headers].some((part) => part !== undefined)
  return [
    ...requestErrors,
    ...(schema?.body === undefined ? [] : jsonErrors),
    ...(isMultipart ? ['MALFORMED_MULTIPART'] : []),
    ...(schema?.body !== undefined || consumes.some((type) => type !== 'application/json') ? sizeAndTypeErrors : []),
    ...(url.includes(':') ? ['RESOURCE_NOT_FOUND'] : []),
    ...(isValidated ? [validationCode] : [])
  ]
}
