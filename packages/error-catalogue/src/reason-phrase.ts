import { STATUS_CODES } from 'node:http'

// RFC 9110 renamed two reason phrases. Node.js still uses the old names.
const renamed = new Map([
  [413, 'Content Too Large'],
  [422, 'Unprocessable Content']
])

/** Returns the registered reason phrase of a status code, or undefined for an unregistered status code. */
export function reasonPhraseOf(statusCode: number): string | undefined {
  return renamed.get(statusCode) ?? STATUS_CODES[statusCode]
}
