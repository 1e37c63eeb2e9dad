import { contractOf } from '@concordat/plugin-wiring'
import { requireKnownConfig } from '@concordat/route-lints'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { textSender } from './compressed-text.ts'
import { routeDescription, routeName } from './described-route.ts'
import type { OpenapiDocument } from './document.ts'
import { findingsText, lintDocument } from './lints.ts'
import { belongsTo, type RegisteredRoute } from './operation-draft.ts'
import { type OpenapiOptions, resolveOptions, type Settings, type VersionToDescribe } from './options.ts'
import type { SharedSchemas } from './published-schema.ts'
import { referenceParts, referencePolicy } from './reference-page.ts'
import { versionDocument } from './version-document.ts'

/**
 * Serves one complete OpenAPI 3.1 document per version, generated from the schemas and config of its routes. A service that breaks
 * a rule does not start.
 */
const openapi: FastifyPluginAsync<OpenapiOptions> = async (app, options) => {
  const settings = resolveOptions(options)
  const routes: RegisteredRoute[] = []

  requireKnownConfig(app, 'openapi')
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

  function rememberRoute(this: FastifyInstance, route: RouteOptions) {
    const described = route.config?.openapi
    if (described) routeDescription.read(described, `${routeName(route)}: config.openapi`)
    routes.push({ route, shared: ((id) => this.getSchema(id)) as SharedSchemas })
  }

  async function checkRules() {
    const { lint, waivers } = settings
    if (lint === 'off') return
    const findings = documents.flatMap(({ path, document }) =>
      lintDocument(document(), { waivers }).map((finding) => ({ ...finding, place: `${path} ${finding.place}` }))
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
      const document = versionDocument(own, version, settings, limits)
      known = { document, text: JSON.stringify(document) }
      documents.set(isDeprecated, known)
    }
    return known
  }
  return { path: `/${version.name}/openapi`, document: () => current().document, text: () => current().text }
}

const plugin: FastifyPluginAsync<OpenapiOptions> = fp(openapi, { name: '@concordat/openapi', fastify: '^5.12.1' })
export default plugin
