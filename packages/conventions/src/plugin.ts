import authentication, { clientOf, isPrivate, ownerOf } from '@concordat/authentication'
import batch from '@concordat/batch'
import conditionalCaching from '@concordat/conditional-caching'
import contentNegotiation, { localeChooser } from '@concordat/content-negotiation'
import envelope from '@concordat/envelope'
import errorCatalogue from '@concordat/error-catalogue'
import httpMethods, { removeBodyLast } from '@concordat/http-methods'
import idempotency from '@concordat/idempotency'
import jobs, { type JobsOptions } from '@concordat/jobs'
import openapi, { lintIds } from '@concordat/openapi'
import paginationQuery from '@concordat/pagination-query'
import { publishErrors } from '@concordat/plugin-wiring'
import rateLimiting, { rateLimitsOf } from '@concordat/rate-limiting'
import { requireKnownConfig } from '@concordat/route-lints'
import standardSchema from '@concordat/standard-schema'
import transportSecurity, { defaultHandlerTimeoutSeconds, responseHeaders } from '@concordat/transport-security'
import versioning, { versionName, versionPrefix } from '@concordat/versioning'
import compress from '@fastify/compress'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { batchOptions } from './batch-options.ts'
import { keysWithoutPlugin, refuseIncludedPlugins, requireOrigin, requirePlace } from './boot-checks.ts'
import { compression } from './compression.ts'
import { corsHeaders, registerCors } from './cors.ts'
import { descriptionLinks } from './description-links.ts'
import { openHealth } from './health.ts'
import { operationErrors } from './operation-errors.ts'
import { operationHeaders } from './operation-headers.ts'
import { type ConventionsOptions, requireOptionNames } from './options.ts'
import { requireRouteRules, routeRules } from './route-lints.ts'
import { requireTransactionalStores } from './store-checks.ts'
import { webhooksOf } from './webhooks.ts'

// The credentials that authentication accepts, as an OpenAPI security scheme.
const bearer = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'An access token (JWT), validated according to RFC8725.'
}

/** Registers every plugin of the suite in the only order that works, each configured with what it needs from the others. */
const conventions: FastifyPluginAsync<ConventionsOptions> = async (app, options) => {
  requireOptionNames(options)
  requireKnownConfig(app, 'conventions', options.otherConfigKeys)
  requireKnownConfig(app, 'conventions', keysWithoutPlugin(options))
  const { publicUrl, allowedHosts, versions, outside, locales = ['en', 'es'], stores = {}, transactions, now = () => Date.now() } = options
  const origin = { publicUrl, allowedHosts }
  const hasVersions = options.versioning !== false
  const { authentication: authenticationOptions } = options
  if (authenticationOptions === undefined)
    throw new TypeError('conventions: options.authentication is missing. Set its issuers, or set it to false.')
  requireTransactionalStores(options)
  requireOrigin(options)
  requirePlace(app, options)
  const chooseLocale = localeChooser(locales)
  const webhooks = await webhooksOf(options)
  const securityHeadersOf = options.transportSecurity === false ? undefined : responseHeaders(options.transportSecurity)
  const corsHeadersOf = options.cors && corsHeaders(app, options.cors)

  // Before the plugins that change how the server closes.
  const addHealthRoutes = options.health && openHealth(app, options.health, authenticationOptions)
  // Before every plugin that reads the schemas of routes.
  await app.register(standardSchema)
  if (options.transportSecurity !== false) await app.register(transportSecurity, { ...origin, ...options.transportSecurity })
  if (options.errorCatalogue !== false) {
    await app.register(errorCatalogue, {
      ...origin,
      locales,
      now,
      locale: ({ headers }) => chooseLocale(headers['accept-language']),
      ...(hasVersions && { version: (request) => versionName(app, request) }),
      responseHeaders: (request) => ({ ...securityHeadersOf?.(request), ...corsHeadersOf?.(request) }),
      ...options.errorCatalogue
    })
  }
  // Before everything that can refuse a request, so that pages of other origins can read the error.
  if (options.cors && corsHeadersOf) await registerCors(app, options.cors, corsHeadersOf)
  requireRouteRules(app, options)
  // Before rate limits and authentication: an operation that is not executed is neither counted nor authenticated.
  if (options.batch !== false) await app.register(batch, batchOptions(options))
  if (options.rateLimiting !== false) {
    await app.register(rateLimiting, {
      store: stores.rateLimits,
      ...(authenticationOptions !== false && { client: clientByPrincipal }),
      ...options.rateLimiting
    })
  }
  const hasEnvelope = options.envelope !== false
  const hasPagination = options.paginationQuery !== false
  // Before the envelope, which replaces the response schemas.
  if (hasPagination) await app.register(paginationQuery, { ...origin, now, ...options.paginationQuery })
  if (hasEnvelope) {
    await app.register(envelope, {
      ...origin,
      now,
      ...(hasVersions && { version: (request) => request.apiVersion, base: versionPrefix }),
      ...options.envelope
    })
  }
  if (options.contentNegotiation !== false) await app.register(contentNegotiation, { locales, ...options.contentNegotiation })
  if (options.conditionalCaching !== false) {
    await app.register(conditionalCaching, {
      now,
      ...(authenticationOptions !== false && { isPrivate }),
      ...options.conditionalCaching
    })
  }
  // Around the handler, from the inside: preconditions, the transaction, the key. On the way out: the tag, COMMIT, the stored response,
  // compression.
  if (transactions) {
    publishErrors(app, transactions.errors)
    await transactions.register(app, { handlerTimeoutSeconds: handlerTimeoutSecondsOf(options) })
  }
  if (options.idempotency !== false) {
    await app.register(idempotency, {
      store: stores.idempotency,
      transaction: transactions?.transactionOf,
      ...(authenticationOptions !== false && { scope: clientOf }),
      ...options.idempotency
    })
  }
  if (options.compression !== false) await app.register(compress, { ...compression, ...options.compression })
  // For the route of versioning, which http-methods does not see.
  if (options.httpMethods !== false) app.addHook('onRoute', removeHeadBodyLast)
  // After the plugins above, because versioning adds a route, and hooks apply only to routes that are added after them.
  if (hasVersions) {
    if (versions === undefined)
      throw new TypeError(
        "conventions: options.versions is missing. Add them, for example { 1: { status: 'current' } }, or set versioning to false."
      )
    // pagination-query checks Q10; openapi checks the others.
    const otherRules = new Set([...routeRules, ...(options.openapi === false ? (hasPagination ? ['Q10'] : []) : lintIds)])
    const links = descriptionLinks(app, options)
    await app.register(versioning, { ...origin, versions, now, otherRules: [...otherRules], links, ...options.versioning })
  }
  if (options.httpMethods !== false) await app.register(httpMethods, { ...options.httpMethods })
  // Last, so that a retired version returns 410, and OPTIONS works for every client.
  if (authenticationOptions !== false)
    await app.register(authentication, {
      ...authenticationOptions,
      outside: { ...authenticationOptions.outside, ...outside }
    })
  // The service adds the routes of jobs and webhooks itself, in its versions.
  if (options.jobs) {
    await app.register(jobs, {
      ...origin,
      now,
      queue: stores.queue,
      store: stores.jobs,
      currentTransaction: transactions?.currentTransaction,
      ...(authenticationOptions !== false && { owner: ownerOf }),
      ...options.jobs
    } as JobsOptions)
  }
  await webhooks?.register(app)
  // After every plugin that its own routes need.
  if (options.openapi !== false) {
    await app.register(openapi, {
      publicUrl,
      ...(versions !== undefined && { versions }),
      now,
      ...(options.errorCatalogue !== false && { errors: app.errorCatalogue.entries, errorsOf: operationErrors(options) }),
      ...(options.rateLimiting !== false && { limitsOf: rateLimitsOf }),
      ...(webhooks && { webhooks: webhooks.describe(app) }),
      ...(authenticationOptions !== false && { securitySchemes: { bearer } }),
      ...(options.conditionalCaching !== false && { defaultCache: options.conditionalCaching?.cache ?? 'private' }),
      ...options.openapi,
      parts: [operationHeaders(options), ...(options.openapi?.parts ?? [])]
    })
  }
  addHealthRoutes?.()
  refuseIncludedPlugins(app, options)
}

function removeHeadBodyLast(this: FastifyInstance, route: RouteOptions) {
  removeBodyLast(this, route)
}

function clientByPrincipal(request: FastifyRequest) {
  const key = clientOf(request)
  return key === undefined ? undefined : { key }
}

function handlerTimeoutSecondsOf({ transportSecurity: transport }: ConventionsOptions) {
  return transport === false ? undefined : (transport?.handlerTimeoutSeconds ?? defaultHandlerTimeoutSeconds)
}

const plugin: FastifyPluginAsync<ConventionsOptions> = fp(conventions, { name: '@concordat/conventions', fastify: '^5.12.1' })
export default plugin
