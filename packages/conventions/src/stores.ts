import type { IdempotencyStore } from '@concordat/idempotency'
import type { JobStore } from '@concordat/jobs'
import type { RateLimitStore } from '@concordat/rate-limiting'
import type { WebhookStore } from '@concordat/webhooks'
import type { WorkQueue } from '@concordat/work-queue'

/** The stores that all processes of a service share. Each member implements the contract of one plugin. */
export interface Stores {
  /** Counts requests. */
  readonly rateLimits?: RateLimitStore | undefined
  /** Stores the responses to requests with a key. */
  readonly idempotency?: IdempotencyStore | undefined
  /** Runs work that outlives the request. You must close it yourself, after the service. */
  readonly queue?: WorkQueue | undefined
  /** Stores the records of jobs, in the database of the queue. */
  readonly jobs?: JobStore | undefined
  /** Stores webhook subscriptions and deliveries, in the database of the queue. */
  readonly webhooks?: WebhookStore | undefined
}
