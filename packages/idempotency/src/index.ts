export { idempotencyErrors } from './errors.ts'
export { type LintedRoute, lints } from './lints.ts'
export type { MemoryIdempotencyStoreOptions } from './memory-store.ts'
export { memoryIdempotencyStore } from './memory-store.ts'
export type { IdempotencyOptions } from './options.ts'
export type { IdempotencyOutcome, OnOutcome } from './outcome.ts'
export { default } from './plugin.ts'
export type { PublishedIdempotency } from './published-policy.ts'
export { idempotencyOf } from './published-policy.ts'
export type { PolicyOptions, RouteIdempotency } from './route-policy.ts'
export type { RequestIdempotency } from './run.ts'
export type {
  BeginOutcome,
  Claim,
  ClaimTerms,
  IdempotencyStore,
  LostClaim,
  StoredResponse,
  StoreGuarantees
} from './store.ts'
