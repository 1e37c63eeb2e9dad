import type { AuditTrailStore } from '@concordat/audit-trail'
import type { FileStore } from '@concordat/files'
import type { IdempotencyStore } from '@concordat/idempotency'
import type { JobStore } from '@concordat/jobs'
import type { RateLimitStore } from '@concordat/rate-limiting'
import type { VersionUsageStore } from '@concordat/versioning'
import type { WebhookStore } from '@concordat/webhooks'
import type { WorkQueue } from '@concordat/work-queue'

/** The stores that all processes of a service share. Each member implements the contract of one plugin. */
export interface Stores {
  /** The store that counts requests for the rate limits. */
  readonly rateLimits?: RateLimitStore | undefined
  /** The store of the responses to requests with an idempotency key. */
  readonly idempotency?: IdempotencyStore | undefined
  /** The queue for work that continues after the response, such as jobs and webhook deliveries. You must close it yourself, after the service. */
  readonly queue?: WorkQueue | undefined
  /** The store of the job records, in the same database as the queue. */
  readonly jobs?: JobStore | undefined
  /** The store of webhook subscriptions and deliveries, in the same database as the queue. */
  readonly webhooks?: WebhookStore | undefined
  /** The store that counts who uses which version. Without it, nobody counts. */
  readonly versionUsage?: VersionUsageStore | undefined
  /** The store of a record of each request that can change something. Without it, nothing is recorded. */
  readonly auditTrail?: AuditTrailStore | undefined
  /** The store of files. Without it, there are no uploads with `config.upload`, and no `reply.file`. */
  readonly files?: FileStore | undefined
}
