import type { DescribedRoute, OperationParts } from '@concordat/openapi'
import type { ConventionsOptions } from './options.ts'

const text = { type: 'string' }
const errorStatuses = ['4XX', '5XX']

/** Returns a function that lists the headers that the plugins read and send on a route. */
export function operationHeaders(options: ConventionsOptions): (route: DescribedRoute) => OperationParts {
  const { transportSecurity, contentNegotiation, conditionalCaching, errorCatalogue, authentication } = options
  const language = {
    name: 'Accept-Language',
    in: 'header' as const,
    required: false,
    description: 'The preferred languages of messages, in order of preference.',
    schema: text
  }
  const requestId = { description: 'The unique id of the request. Include it when you report a problem.', schema: text }
  const vary = { description: 'The request headers that the response depends on.', schema: { ...text, examples: ['accept'] } }
  const contentLanguage = { description: 'The language of the message.', schema: { ...text, examples: ['en'] }, statuses: errorStatuses }
  // openapi itself describes the headers that have no description here.
  const parts: OperationParts = {
    ...(contentNegotiation !== false && { parameters: [language] }),
    headers: {
      ...(transportSecurity !== false && { 'Request-Id': requestId }),
      ...(contentNegotiation !== false && { Vary: vary }),
      ...(conditionalCaching !== false && { 'Cache-Control': {} }),
      ...(errorCatalogue !== false && { 'Content-Language': contentLanguage }),
      ...(authentication !== false && { 'WWW-Authenticate': { statuses: ['400'] } })
    }
  }
  return ({ config }) => {
    const { job, transaction } = (config ?? {}) as { readonly job?: string; readonly transaction?: unknown }
    if (job !== 'start' && job !== 'status') return parts
    // A job that is accepted in a transaction cannot be waited for.
    return withJob(parts, job === 'status' || !transaction)
  }
}

function withJob({ parameters = [], headers }: OperationParts, canWait: boolean): OperationParts {
  const prefer = {
    name: 'Prefer',
    in: 'header' as const,
    required: false,
    description: '`wait=5`: respond when the job has ended, after five seconds at the latest (RFC 7240).',
    schema: { ...text, examples: ['wait=5'] }
  }
  const statuses = ['2XX']
  const applied = { description: 'The preference that was applied (RFC 7240).', schema: text, statuses }
  return {
    parameters: canWait ? [...parameters, prefer] : parameters,
    headers: { ...headers, 'Retry-After': { statuses }, 'Preference-Applied': applied }
  }
}
