import type { AuthenticationOptions } from '@concordat/authentication'
import type { BatchOptions } from '@concordat/batch'
import type { ConditionalCachingOptions } from '@concordat/conditional-caching'
import type { ContentNegotiationOptions } from '@concordat/content-negotiation'
import type { EnvelopeOptions } from '@concordat/envelope'
import type { ErrorCatalogueOptions } from '@concordat/error-catalogue'
import type { HttpMethodsOptions } from '@concordat/http-methods'
import type { IdempotencyOptions } from '@concordat/idempotency'
import type { JobsOptions } from '@concordat/jobs'
import type { OriginOptions } from '@concordat/links'
import type { OpenapiOptions } from '@concordat/openapi'
import type { PaginationQueryOptions } from '@concordat/pagination-query'
import type { RateLimitingOptions } from '@concordat/rate-limiting'
import type { TransportSecurityOptions } from '@concordat/transport-security'
import type { VersioningOptions } from '@concordat/versioning'
import type { WebhooksOptions } from '@concordat/webhooks'
import type { FastifyCompressOptions } from '@fastify/compress'
import type { Stores } from './stores.ts'

/**
 * Settings of the preset. What several plugins need is said once; each plugin can be left out with `false` or be given
 * settings of its own, which win over what the preset fills in.
 */
export interface ConventionsOptions extends OriginOptions {
  /** The versions of the API and their dates. Needed unless `versioning` is `false`. */
  readonly versions?: VersioningOptions['versions']
  /**
   * The languages of messages; the first is the default.
   * @default ['en', 'es']
   */
  readonly locales?: readonly string[]
  /**
   * Whose tokens are accepted, which permissions there are, and what was revoked. Needed; `false` lets everybody do everything that
   * the routes themselves don't refuse.
   */
  readonly authentication?: AuthenticationOptions | false
  /** What all processes share. @default each counts and keeps for itself, and there are no transactions */
  readonly stores?: Stores
  /** The clock of what shows or compares a time, in milliseconds. @default Date.now */
  readonly now?: () => number
  readonly transportSecurity?: TransportSecurityOptions | false
  readonly errorCatalogue?: ErrorCatalogueOptions | false
  readonly rateLimiting?: RateLimitingOptions | false
  readonly versioning?: Omit<VersioningOptions, 'versions'> | false
  readonly httpMethods?: HttpMethodsOptions | false
  readonly contentNegotiation?: ContentNegotiationOptions | false
  readonly conditionalCaching?: ConditionalCachingOptions | false
  readonly idempotency?: IdempotencyOptions | false
  /**
   * Settings of `@fastify/compress`. A route leaves it out with `compress: false`.
   * @default Brotli and gzip for text of 1024 bytes and more; requests are not decompressed
   */
  readonly compression?: FastifyCompressOptions | false
  readonly envelope?: EnvelopeOptions | false
  readonly paginationQuery?: PaginationQueryOptions | false
  /** What jobs are told; `{}` where there is nothing to say. @default there are no jobs */
  readonly jobs?: Partial<JobsOptions> | undefined
  /**
   * The events that clients can subscribe to, and which of them may see one. `webhookRoutes` are the routes.
   * @default there are no webhooks
   */
  readonly webhooks?: WebhooksOptions | undefined
  readonly batch?: BatchOptions | false
  readonly openapi?: Omit<OpenapiOptions, 'versions' | 'publicUrl'> | false
}
