import { isApiError } from '@concordat/plugin-kit/api-error'

/** An error that an operator can fix. Its message is one line. */
export class ConfigurationError extends Error {}

/** Returns what an operator must know of an error, in one line, unless it is a list. The message of an ApiError is for clients, so its cause is shown. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (isApiError(error) && error.cause !== undefined) return reasonOf(error.cause)
  // Node.js tried each address of a host name, and the error itself has no message.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join(', ')
  // A list of findings stays a list.
  return /\n {2}\S/.test(error.message) ? error.message : error.message.replaceAll(/\s*\n\s*/g, ' ')
}
