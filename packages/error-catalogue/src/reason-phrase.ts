import { STATUS_CODES } from 'node:http'

// RFC 9110 renamed two that Node still has under their old names.
const renamed = new Map([
  [413, 'Content Too Large'],
  [422, 'Unprocessable Content']
])

/** The registered reason phrase of a status; `undefined` for one that is not registered. */
export function reasonPhraseOf(statusCode: number): string | undefined {
  return renamed.get(statusCode) ?? STATUS_CODES[statusCode]
}
