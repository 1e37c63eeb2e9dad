import type { AuthenticationOptions, RouteAccess } from '@concordat/authentication'
import type { BatchOptions } from '@concordat/batch'
import type { ConditionalCachingOptions } from '@concordat/conditional-caching'
import type { ContentNegotiationOptions } from '@concordat/content-negotiation'
import type { EnvelopeOptions } from '@concordat/envelope'
import type { ErrorCatalogueOptions } from '@concordat/error-catalogue'
import type { HttpMethodsOptions } from '@concordat/http-methods'
import type { IdempotencyOptions } from '@concordat/idempotency'
import type { JobsOptions } from '@concordat/jobs'
import type { OpenapiOptions } from '@concordat/openapi'
import type { PaginationQueryOptions } from '@concordat/pagination-query'
import { serviceWaivers } from '@concordat/plugin-kit/findings'
import { describeOptions, type OptionsOf, type SettingsOf, value } from '@concordat/plugin-kit/options'
import type { TextList } from '@concordat/plugin-kit/texts'
import type { RateLimitingOptions } from '@concordat/rate-limiting'
import type { TelemetryOptions } from '@concordat/telemetry'
import type { TransportSecurityOptions } from '@concordat/transport-security'
import type { VersioningOptions, VersionTable } from '@concordat/versioning'
import type { WebhooksOptions } from '@concordat/webhooks'
import type { FastifyCorsOptions } from '@fastify/cors'
import type { FastifyPluginAsync } from 'fastify'
import type { CompressionOptions } from './compression.ts'
import type { HealthOptions } from './health.ts'
import type { Stores } from './stores.ts'

/** The description of {@link ConventionsOptions}. */
export const conventionsOptions = describeOptions('conventions', {
  /** The URL of the service, for links. Required in production, unless `allowedHosts` is set. */
  publicUrl: value<string>(),
  /** Without `publicUrl`: the hosts that links may contain when a request was sent to them. */
  allowedHosts: value<readonly string[]>({ default: [] }),
  /** The versions of the API and their dates. Required unless `versioning` is `false`. */
  versions: value<VersionTable>(),
  /** The issuers whose tokens are accepted, and the permissions that exist. Required; with `false`, no client is authenticated. */
  authentication: value<AuthenticationOptions | false>(),
  /** The permissions, or `'public'`, of routes outside the versions, by path. An undeclared route stops the start. */
  outside: value<Readonly<Record<string, RouteAccess>>>({ default: {} }),
  /** Options of `@fastify/cors`, for pages of other origins; `origin` is required. Without them, no such page can read responses. */
  cors: value<FastifyCorsOptions>(),
  /** The languages of messages; the first is the default. */
  locales: value<readonly string[]>({ default: ['en', 'es'] }),
  /** The folder with translations, `<language>.json` each, as an absolute path or a file URL. */
  translations: value<string | URL>(),
  /** Texts of the service for `request.text`. */
  texts: value<readonly TextList[]>({ default: [] }),
  /** The time zone of dates in texts. */
  timeZone: value<string>({ default: 'UTC' }),
  /** The stores that all processes share. Without a store, each process counts and stores on its own. */
  stores: value<Stores>({
    default: {},
    names: {
      rateLimits: true,
      idempotency: true,
      queue: true,
      jobs: true,
      webhooks: true,
      versionUsage: true,
      auditTrail: true,
      files: true
    }
  }),
  /**
   * The plugin that runs routes with `config.transaction` in a transaction, such as `postgresTransactions(database)`. Required with transactional
   * stores.
   */
  transactions: value<FastifyPluginAsync>(),
  /** The stores of the service, for `GET /health/live` and `GET /health/ready`. Without it, there are no such routes. */
  health: value<HealthOptions>(),
  /** Options of telemetry: `{ prometheus: true }` serves `GET /metrics`. Without them, nothing is measured. */
  telemetry: value<TelemetryOptions>(),
  /** Rules that no route follows until a day, by id, so that an API with clients can move: `{ P2: { reason, until: '2027-06-30' } }`. */
  waivers: serviceWaivers(),
  /** Keys in the `config` of routes that belong to the service, although they are equal or similar to keys of this suite; `schema.audit` for one in `schema`. */
  otherConfigKeys: value<readonly string[]>(),
  /** Options of jobs; `{}` for the defaults. Without them, there are no jobs. */
  jobs: value<Partial<JobsOptions>>(),
  /** Options of webhooks: `events` and `mayReceive`. `webhookRoutes` adds the routes. Without them, there are no webhooks. */
  webhooks: value<WebhooksOptions>(),
  /** Options of `@fastify/compress`. By default Brotli and gzip for text of at least 1,024 bytes, and no encoded request bodies. */
  compression: value<CompressionOptions | false>(),
  /** Options of the plugin; `false` leaves it out, as for the following. */
  transportSecurity: value<TransportSecurityOptions | false>(),
  /** Options of the plugin. `include` adds the errors of the service. */
  errorCatalogue: value<ErrorCatalogueOptions | false>(),
  /** Options of the plugin. */
  rateLimiting: value<RateLimitingOptions | false>(),
  /** Options of the plugin. */
  versioning: value<Omit<VersioningOptions, 'versions'> | false>(),
  /** Options of the plugin. */
  httpMethods: value<HttpMethodsOptions | false>(),
  /** Options of the plugin. */
  contentNegotiation: value<ContentNegotiationOptions | false>(),
  /** Options of the plugin. */
  conditionalCaching: value<ConditionalCachingOptions | false>(),
  /** Options of the plugin. */
  idempotency: value<IdempotencyOptions | false>(),
  /** Options of the plugin. */
  envelope: value<EnvelopeOptions | false>(),
  /** Options of the plugin. */
  paginationQuery: value<PaginationQueryOptions | false>(),
  /** Options of the plugin. */
  batch: value<BatchOptions | false>(),
  /** Options of the plugin. */
  openapi: value<Omit<OpenapiOptions, 'versions' | 'publicUrl'> | false>()
})

/**
 * Options of @concordat/conventions. A setting that several plugins need is set once. The options of a plugin override those that the preset sets;
 * `false` leaves it out.
 */
export interface ConventionsOptions extends OptionsOf<typeof conventionsOptions> {}

/** The options with defaults applied. */
export type Settings = SettingsOf<(typeof conventionsOptions)['members']>
