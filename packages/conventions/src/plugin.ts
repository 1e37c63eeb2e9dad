import authentication, { clientOf } from '@concordat/authentication'
import batch from '@concordat/batch'
import conditionalCaching from '@concordat/conditional-caching'
import contentNegotiation, { localeChooser } from '@concordat/content-negotiation'
import envelope from '@concordat/envelope'
import errorCatalogue, { problemTypeRoutes } from '@concordat/error-catalogue'
import files from '@concordat/files'
import httpMethods, { removeBodyLast } from '@concordat/http-methods'
import idempotency from '@concordat/idempotency'
import jobs from '@concordat/jobs'
import openapi from '@concordat/openapi'
import paginationQuery from '@concordat/pagination-query'
import { composeSteps } from '@concordat/plugin-kit/steps'
import { requireKnownConfig } from '@concordat/plugin-kit/wiring'
import rateLimiting from '@concordat/rate-limiting'
import standardSchema from '@concordat/standard-schema'
import { openTelemetry } from '@concordat/telemetry'
import transportSecurity from '@concordat/transport-security'
import versioning from '@concordat/versioning'
import type { FastifyInstance, FastifyPluginAsync, FastifyPluginCallback, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { addAuditTrail } from './audit-trail.ts'
import { keysWithoutPlugin, refuseIncludedPlugins, requireParts, requirePlace } from './boot-checks.ts'
import { addCompression } from './compression.ts'
import { addCors } from './cors.ts'
import { openHealth } from './health.ts'
import { type ConventionsOptions, conventionsOptions } from './options.ts'
import { requireRouteRules } from './route-lints.ts'
import { requireTransactionalStores } from './store-checks.ts'
import { addWebhooks } from './webhooks.ts'

/** Registers every plugin of the suite in the only order that works. What a plugin needs from the others, it finds by their contracts. */
const conventions: FastifyPluginAsync<ConventionsOptions> = async (app, given) => {
  const options = conventionsOptions.readPlugin(given)
  requireKnownConfig(app, 'conventions', options.otherConfigKeys)
  requireKnownConfig(app, 'conventions', keysWithoutPlugin(options))
  requireParts(options)
  requireTransactionalStores(options)
  requirePlace(app, options)
  const { publicUrl, allowedHosts, versions = {}, locales, translations, texts, timeZone, stores } = options
  const origin = { publicUrl, allowedHosts }
  const localeOf = localeChooser(locales)
  const access = options.authentication || undefined
  // What the plugins do at one stage of a request becomes one hook.
  const steps = composeSteps(app)

  // Before the plugins that it measures.
  const addMetricsRoute = options.telemetry && (await openTelemetry(app, options.telemetry))
  // Before the plugins that change how the server closes.
  const addHealthRoutes = options.health && openHealth(app, options.health, access)
  // Before every plugin that reads the schemas of routes.
  await app.register(standardSchema)
  await use(transportSecurity, origin, options.transportSecurity)
  const locale = ({ headers }: Pick<FastifyRequest, 'headers'>) => localeOf(headers['accept-language'])
  await use(errorCatalogue, { ...origin, locales, translations, texts, timeZone, locale }, options.errorCatalogue)
  // Before everything that can refuse a request, so that pages of other origins can read the error.
  if (options.cors) {
    steps.addCollected()
    await addCors(app, options.cors)
  }
  requireRouteRules(app, options)
  // Before rate limits and authentication: an operation that is not executed is neither counted nor authenticated.
  await use(batch, {}, options.batch)
  await use(rateLimiting, { store: stores.rateLimits, ...(access && { client: clientByPrincipal }) }, options.rateLimiting)
  // Before the envelope, which replaces the response schemas.
  await use(paginationQuery, origin, options.paginationQuery)
  await use(envelope, origin, options.envelope)
  // Before the plugins that read which media types a route accepts, and inside the transaction and the idempotency gate.
  if (stores.files) await use(files, { store: stores.files })
  await use(contentNegotiation, { locales }, options.contentNegotiation)
  await use(conditionalCaching, {}, options.conditionalCaching)
  // Around the handler, from the inside: preconditions, the transaction, the key. On the way out: the tag, COMMIT, the stored response,
  // compression.
  if (options.transactions) {
    steps.addCollected()
    await app.register(options.transactions)
  }
  // Inside the idempotency gate, so that a replay is not recorded, and after COMMIT.
  if (stores.auditTrail) await addAuditTrail(app, stores.auditTrail)
  await use(idempotency, { store: stores.idempotency }, options.idempotency)
  if (options.compression !== false) await addCompression(app, options.compression)
  // For the route of versioning, which http-methods does not see.
  if (options.httpMethods !== false) app.addHook('onRoute', removeHeadBodyLast)
  // After the plugins above, because versioning adds a route, and hooks apply only to routes that are added after them.
  await use(versioning, { ...origin, versions, store: stores.versionUsage }, options.versioning)
  await use(httpMethods, {}, options.httpMethods)
  // Last, so that a retired version returns 410, and OPTIONS works for every client.
  if (access) await app.register(authentication, { ...access, outside: { ...access.outside, ...options.outside } })
  // The service adds the routes of jobs and webhooks itself, in its versions.
  if (options.jobs) await use(jobs, { ...origin, queue: stores.queue, store: stores.jobs }, options.jobs)
  if (options.webhooks) await addWebhooks(app, options)
  // After every plugin that its own routes need.
  await use(openapi, { publicUrl, ...(options.versions && { versions }) }, options.openapi)
  if ((options.errorCatalogue || {}).problemDetails?.length) await app.register(problemTypeRoutes)
  addHealthRoutes?.()
  addMetricsRoute?.()
  steps.end()
  refuseIncludedPlugins(app, options)

  async function use<Options extends object>(
    plugin: FastifyPluginAsync<Options> | FastifyPluginCallback<Options>,
    shared: Partial<Options>,
    own: Partial<Options> | false = {}
  ) {
    if (own !== false) await app.register<object>(plugin as FastifyPluginAsync<object>, { ...shared, ...own })
  }
}

function removeHeadBodyLast(this: FastifyInstance, route: RouteOptions) {
  removeBodyLast(this, route)
}

function clientByPrincipal(request: FastifyRequest) {
  const key = clientOf(request)
  return key === undefined ? undefined : { key }
}

const plugin: FastifyPluginAsync<ConventionsOptions> = fp(conventions, { name: '@concordat/conventions', fastify: '^5.12.1' })
export default plugin
