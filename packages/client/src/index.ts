export type { Api, CallOptions, Described, LargeJson, OperationFacts, Verb } from './api.ts'
export {
  ApiError,
  type ApiErrorFacts,
  type ConnectionCode,
  ConnectionError,
  type Effect,
  type FieldError,
  isCode,
  type Retry
} from './api-error.ts'
export type { BatchOperation } from './batch.ts'
export type { Call, Result } from './call.ts'
export { type BatchBuilder, type BatchOptions, type BatchResults, type Client, type CodeOf, createClient } from './client.ts'
export type { Job, JobResultOptions } from './job.ts'
export type { List, Page } from './list.ts'
export { createSession, type Session, type SessionOptions, type TokenStore, type Tokens } from './session.ts'
export type { ClientOptions, Deprecation } from './settings.ts'
export type { Loaded } from './update.ts'
