import { type BatchOptions, defaultForwardedHeaders } from '@concordat/batch'
import type { ConventionsOptions } from './options.ts'

/** What a batch needs of the others: who calls, what is undone together, and keys that are made of its own. */
export function batchOptions({ authentication, stores, batch }: ConventionsOptions): BatchOptions {
  const { runAsOne, transactionOf } = stores?.unitOfWork ?? {}
  return {
    ...(runAsOne && transactionOf && { transactions: { run: runAsOne, includes: (request) => transactionOf(request) !== undefined } }),
    operationKey: ({ idempotency }, id) => idempotency?.derivedKey(id),
    forwardedHeaders: [...defaultForwardedHeaders, ...credentialHeaders(authentication)],
    ...batch
  }
}

// Where a caller may be told by, besides Authorization. A cookie is believed by where the page comes from.
function credentialHeaders(authentication: ConventionsOptions['authentication']): readonly string[] {
  if (authentication === undefined || authentication === false) return []
  const { apiKeys, cookie } = authentication
  const key = apiKeys && (apiKeys.header ?? 'x-api-key')
  return [...(key === undefined || key === 'authorization' ? [] : [key]), ...(cookie ? ['cookie', 'origin', 'sec-fetch-site'] : [])]
}
