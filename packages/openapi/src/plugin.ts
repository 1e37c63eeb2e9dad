import { requireKnownNames } from '@concordat/plugin-options'
import { contractOf, contribute, publish } from '@concordat/plugin-wiring'
import { requireKnownConfig } from '@concordat/route-lints'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { textSender } from './compressed-text.ts'
import { type RouteDescription, routeName } from './described-route.ts'
import type { OpenapiDocument } from './document.ts'
import { findingsText, lintDocument, lintIds } from './lints.ts'
import { belongsTo, type RegisteredRoute } from './operation-draft.ts'
import { type OpenapiOptions, resolveOptions, type Settings, type VersionToDescribe } from './options.ts'
import { withPublishedFacts } from './published-facts.ts'
import type { SharedSchemas } from './published-schema.ts'
import { referenceParts, referencePolicy } from './reference-page.ts'
import { versionDocument } from './version-document.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Additions to the description of the route, or `false` to leave the route out of the documents. */
    openapi?: RouteDescription | false | undefined
  }
  // The same declarations as those of @fastify/swagger, so that a service can use both.
  interface FastifySchema {
    hide?: boolean
    deprecated?: boolean
    tags?: readonly string[]
    description?: string
    summary?: string
    consumes?: readonly string[]
    produces?: readonly string[]
    security?: ReadonlyArray<{ [securityLabel: string]: readonly string[] }>
    operationId?: string
  }
}

/**
 * Serves one complete OpenAPI 3.1 document per version, generated from the schemas and config of its routes. A service that breaks
 * a rule does not start.
 */
const openapi: FastifyPluginAsync<OpenapiOptions> = async (app, options) => {
  const settings = resolveOptions(options)
  const routes: RegisteredRoute[] = []

  requireKnownConfig(app, 'openapi')
  contribute(app, 'rules', [...lintIds])
  publish(app, { descriptionLinks })
  app.addHook('onRoute', rememberRoute)
  const documents = settings.versions.map((version) => describeVersion(app, version, routes, settings))
  app.addHook('onReady', checkRules)
  for (const { path, text } of documents) {
    const send = textSender('application/json')
    app.get(path, { config: settings.routeConfig }, async (request: FastifyRequest, reply: FastifyReply) => send(request, reply, text()))
  }

  if (settings.reference !== false) {
    const contentSecurityPolicy = referencePolicy(settings.publicUrl)
    for (const { path, mediaType, text } of referenceParts(settings.reference, settings)) {
      const own = { contentSecurityPolicy, produces: [mediaType] }
      // Their plugins may be missing.
      const config: object = {
        ...settings.routeConfig,
        ...own,
        otherConfigKeys: [...Object.keys(own), ...[settings.routeConfig['otherConfigKeys'] ?? []].flat()]
      }
      const send = textSender(mediaType)
      app.get(path, { config }, async (request: FastifyRequest, reply: FastifyReply) =>
        send(request, reply.header('cache-control', 'no-cache'), await text())
      )
    }
  }

  function descriptionLinks(version: string) {
    const links = [
      { rel: 'service-desc', path: `/${version}/openapi` },
      { rel: 'service-doc', path: settings.reference || '/reference' }
    ]
    return links.filter(({ path }) => app.hasRoute({ method: 'GET', url: path }))
  }

  function rememberRoute(this: FastifyInstance, route: RouteOptions) {
    requireKnownNames(
      'openapi',
      route.config?.openapi,
      { errors: true, headers: true, optionalBody: true },
      `${routeName(route)}: config.openapi`
    )
    routes.push({ route, shared: ((id) => this.getSchema(id)) as SharedSchemas })
  }

  async function checkRules() {
    const { lint, routeLints, waivers } = settings
    if (lint === 'off') return
    const findings = documents.flatMap(({ path, document }) =>
      lintDocument(document(), { routeLints, waivers }).map((finding) => ({ ...finding, place: `${path} ${finding.place}` }))
    )
    if (findings.length === 0) return
    if (lint === 'error') throw new Error(`openapi: ${findingsText(findings)}`)
    for (const { rule, place, problem, remedy } of findings) app.log.warn({ rule, place }, `openapi: ${problem} ${remedy}`)
  }
}

/** A document that is available once all routes are registered. */
interface Described {
  /** The path at which the document is served. */
  readonly path: string
  readonly document: () => OpenapiDocument
  readonly text: () => string
}

/** Returns the path of the document of a version, and its content as the routes describe it when it is first needed. */
function describeVersion(
  app: FastifyInstance,
  version: VersionToDescribe,
  routes: readonly RegisteredRoute[],
  settings: Settings
): Described {
  const base = `${app.prefix}/${version.name}`
  const limits = { maxUriLength: contractOf(app, 'maxUriLength'), bodyLimit: app.initialConfig.bodyLimit as number }
  // A version can become deprecated while the service runs.
  const documents = new Map<boolean, { readonly document: OpenapiDocument; readonly text: string }>()
  function current() {
    const isDeprecated = version.ending !== undefined && settings.now() >= version.ending.deprecatedAt
    let known = documents.get(isDeprecated)
    if (known === undefined) {
      const own = routes.filter(({ route }) => belongsTo(route, base))
      const document = versionDocument(own, version, withPublishedFacts(app, settings), limits)
      known = { document, text: JSON.stringify(document) }
      documents.set(isDeprecated, known)
    }
    return known
  }
  return { path: `/${version.name}/openapi`, document: () => current().document, text: () => current().text }
}

const plugin: FastifyPluginAsync<OpenapiOptions> = fp(openapi, { name: '@concordat/openapi', fastify: '^5.12.1' })
export default plugin
