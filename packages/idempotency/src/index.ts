export { idempotencyErrors } from './errors.ts'
export type { IdempotencyOptions } from './options.ts'
export { default } from './plugin.ts'
export type { BeginOutcome, Claim, ClaimTerms, IdempotencyStore, RequestTransaction, StoredAnswer, StoreGuarantees } from './store.ts'
