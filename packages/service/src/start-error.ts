import { isApiError } from '@concordat/api-error'

/** An error that an operator can fix. Its message is one line. */
export class ConfigurationError extends Error {}

/** Returns what an operator must know of an error, in one line. The message of an ApiError is for clients, so its cause is shown. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return isApiError(error) && error.cause !== undefined ? reasonOf(error.cause) : error.message.replaceAll(/\s*\n\s*/g, ' ')
}
