import type { AuthenticationOptions, RouteAccess } from '@concordat/authentication'
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
import { requirePluginNames } from '@concordat/plugin-options'
import type { RateLimitingOptions } from '@concordat/rate-limiting'
import type { TransportSecurityOptions } from '@concordat/transport-security'
import type { VersioningOptions } from '@concordat/versioning'
import type { WebhooksOptions } from '@concordat/webhooks'
import type { FastifyCompressOptions } from '@fastify/compress'
import type { FastifyCorsOptions } from '@fastify/cors'
import type { FastifyPluginAsync } from 'fastify'
import type { HealthOptions } from './health.ts'
import type { Stores } from './stores.ts'

/**
 * Options of @concordat/conventions. A setting that several plugins need is set once. Each plugin can be left out with `false`, or
 * be given its own options, which override those that the preset sets.
 */
export interface ConventionsOptions extends OriginOptions {
  /** The versions of the API and their dates. Required unless `versioning` is `false`. */
  readonly versions?: VersioningOptions['versions'] | undefined
  /**
   * The languages of messages; the first is the default.
   * @default ['en', 'es']
   */
  readonly locales?: readonly string[] | undefined
  /**
   * The issuers whose tokens are accepted, the permissions that exist, and the revocations. Required; with `false`, every client can
   * do everything that the routes themselves do not refuse.
   */
  readonly authentication?: AuthenticationOptions | false | undefined
  /**
   * The required permissions, or `'public'`, of routes outside the API versions, such as those of other plugins, by path: `{ '/metrics':
   * ['metrics:read'], '/docs/*': 'public' }`. A path ending in `/*` includes all paths below it; `/*` is only the wildcard route at the
   * root. Without a declaration here or in its `config`, such a route stops the start. Has no effect with `authentication: false`.
   * @default {}
   */
  readonly outside?: Readonly<Record<string, RouteAccess>> | undefined
  /**
   * Options of `@fastify/cors`, for pages of other origins. `origin` is required. The headers of the conventions are exposed, and preflight requests
   * get the methods of their URL. Errors that arise before the hooks, such as a malformed URL, have the headers too, unless `origin` is a function
   * that decides later.
   * @default no page of another origin can read responses
   */
  readonly cors?: FastifyCorsOptions | undefined
  /**
   * Keys in the `config` of routes that belong to the service or to plugins of others, although they are equal or similar to keys of this suite.
   * @default []
   */
  readonly otherConfigKeys?: readonly string[] | undefined
  /** The stores that all processes share. @default each process counts and stores on its own */
  readonly stores?: Stores | undefined
  /**
   * The plugin that runs routes with `config.transaction` in a transaction, in the same database as the stores, for example
   * `postgresTransactions(database)`. Required when a store or the queue in `stores` is transactional.
   * @default no transactions
   */
  readonly transactions?: FastifyPluginAsync | undefined
  /** Returns the current time in milliseconds since the Unix epoch; all plugins use it for timestamps and comparisons. @default Date.now */
  readonly now?: (() => number) | undefined
  readonly transportSecurity?: TransportSecurityOptions | false | undefined
  readonly errorCatalogue?: ErrorCatalogueOptions | false | undefined
  readonly rateLimiting?: RateLimitingOptions | false | undefined
  readonly versioning?: Omit<VersioningOptions, 'versions'> | false | undefined
  readonly httpMethods?: HttpMethodsOptions | false | undefined
  readonly contentNegotiation?: ContentNegotiationOptions | false | undefined
  readonly conditionalCaching?: ConditionalCachingOptions | false | undefined
  readonly idempotency?: IdempotencyOptions | false | undefined
  /**
   * Options of `@fastify/compress`. A route disables it with `compress: false`.
   * @default Brotli and gzip for text of at least 1024 bytes; requests are not decompressed
   */
  readonly compression?: FastifyCompressOptions | false | undefined
  readonly envelope?: EnvelopeOptions | false | undefined
  readonly paginationQuery?: PaginationQueryOptions | false | undefined
  /** Options of @concordat/jobs; `{}` for the defaults. @default no jobs */
  readonly jobs?: Partial<JobsOptions> | undefined
  /**
   * Options of @concordat/webhooks: the events that clients can subscribe to, and which clients may receive an event. `webhookRoutes`
   * adds the routes.
   * @default no webhooks
   */
  readonly webhooks?: WebhooksOptions | undefined
  /**
   * The stores of the service, for `GET /health/live` and `GET /health/ready`: those that requests need as `required`, others as `optional`. They are
   * checked every two seconds in the background.
   * @default no health checks
   */
  readonly health?: HealthOptions | undefined
  readonly batch?: BatchOptions | false | undefined
  readonly openapi?: Omit<OpenapiOptions, 'versions' | 'publicUrl'> | false | undefined
}

/** Throws a `TypeError` with a one-line message for an unknown option. Each plugin checks its own options. */
export function requireOptionNames(options: ConventionsOptions): void {
  requirePluginNames('conventions', options, {
    outside: true,
    otherConfigKeys: true,
    cors: true,
    publicUrl: true,
    allowedHosts: true,
    versions: true,
    locales: true,
    authentication: true,
    stores: { rateLimits: true, idempotency: true, queue: true, jobs: true, webhooks: true },
    transactions: true,
    now: true,
    transportSecurity: true,
    errorCatalogue: true,
    rateLimiting: true,
    versioning: true,
    httpMethods: true,
    contentNegotiation: true,
    conditionalCaching: true,
    idempotency: true,
    compression: true,
    envelope: true,
    paginationQuery: true,
    jobs: true,
    webhooks: true,
    health: true,
    batch: true,
    openapi: true
  })
}
