import type { DescribedRoute, OperationParts } from '@concordat/plugin-kit/wiring'
import { maxPreferLength } from './prefer.ts'

const errors = {
  start: ['JOB_INPUT_INVALID', 'JOB_LIMIT_EXCEEDED'],
  status: ['JOB_NOT_FOUND', 'JOB_EXPIRED'],
  cancel: ['JOB_NOT_FOUND', 'JOB_EXPIRED', 'JOB_ALREADY_OVER'],
  result: ['JOB_NOT_FOUND', 'JOB_EXPIRED', 'JOB_HAS_NO_RESULT']
}
const text = { type: 'string' }
const prefer = {
  name: 'Prefer',
  in: 'header',
  required: false,
  description: '`wait=5`: respond when the job has ended, after five seconds at the latest (RFC 7240).',
  schema: { ...text, maxLength: maxPreferLength, examples: ['wait=5'] }
}
const statuses = ['2XX']
const headers = {
  'Retry-After': { statuses },
  'Preference-Applied': {
    description: 'The preference that was applied (RFC 7240).',
    schema: { ...text, pattern: String.raw`^(respond-async)?(, )?(wait=\d{1,6})?$`, maxLength: 26, examples: ['wait=5'] },
    statuses
  }
}

/** Returns what the job operation of a route adds to its description. */
export function operationParts({ config = {} }: DescribedRoute): OperationParts {
  const { job, permissions, transaction } = config as { readonly permissions?: unknown; readonly transaction?: unknown } & typeof config
  if (job === undefined) return {}
  // A route that requires permissions knows its client.
  const all = [...errors[job], ...(job === 'start' && permissions === undefined ? ['CLIENT_NOT_IDENTIFIED'] : [])]
  if (job !== 'start' && job !== 'status') return { errors: all }
  // A job that is accepted in a transaction cannot be waited for.
  return { errors: all, headers, parameters: job === 'start' && transaction ? [] : [prefer] }
}
