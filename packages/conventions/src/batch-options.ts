import type { BatchOptions } from '@concordat/batch'
import type { ConventionsOptions } from './options.ts'

/**
 * Returns the options that connect `@concordat/batch` to the other plugins: forwarded credentials, transactions, and idempotency keys.
 */
export function batchOptions({ authentication, transactions, batch }: ConventionsOptions): BatchOptions {
  return {
    ...(transactions?.runAsOne && { transactions }),
    batchKey: ({ idempotency }) => idempotency,
    forwardedHeaders: credentialHeaders(authentication),
    ...batch
  }
}

// The headers besides Authorization that identify a caller. A cookie is accepted depending on the origin of the page.
function credentialHeaders(authentication: ConventionsOptions['authentication']): readonly string[] {
  if (authentication === undefined || authentication === false) return []
  const { apiKeys, cookie } = authentication
  const key = apiKeys && (apiKeys.header ?? 'x-api-key')
  return [...(key === undefined || key === 'authorization' ? [] : [key]), ...(cookie ? ['cookie', 'origin', 'sec-fetch-site'] : [])]
}
