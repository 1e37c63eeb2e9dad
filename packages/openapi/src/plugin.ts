import { onEachRoute, reasonsOf, serviceWaiversOf } from '@concordat/plugin-kit/findings'
import { isFromThisMachine } from '@concordat/plugin-kit/links'
import { contractOf, contribute, publish, requireKnownConfig, waiveForService } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { announceDigests, compareDigest } from './announced-digests.ts'
import { ownErrorsOf } from './describe/error-responses.ts'
import { belongsTo, type RegisteredRoute } from './describe/operation-draft.ts'
import { withPublishedFacts } from './describe/published-facts.ts'
import type { SharedSchemas } from './describe/published-schema.ts'
import { versionDocument } from './describe/version-document.ts'
import { routeDescription, routeName } from './document/described-route.ts'
import type { OpenapiDocument } from './document/document.ts'
import { findingsText, lintDocument, lintIds } from './lints/lints.ts'
import { type OpenapiOptions, resolveOptions, type Settings, type VersionToDescribe } from './options.ts'
import { textSender } from './page/compressed-text.ts'
import { referenceDocument } from './page/reference-document.ts'
import { referenceParts, referencePath, referencePolicy } from './page/reference-page.ts'

/**
 * Serves one complete OpenAPI 3.1 document per version, generated from the schemas and config of its routes. A service that breaks
 * a rule does not start.
 */
const openapi: FastifyPluginAsync<OpenapiOptions> = async (app, options) => {
  const settings = resolveOptions(options)
  const reference = referencePath(settings, app.log)
  const routes: RegisteredRoute[] = []

  requireKnownConfig(app, 'openapi')
  contribute(app, 'rules', [...lintIds])
  waiveForService(app, 'openapi: options.waivers', settings.waivers)
  publish(app, { descriptionLinks })
  announceDigests(app, settings)
  onEachRoute(app, rememberRoute)
  const documents = settings.versions.map((version) => describeVersion(app, version, routes, settings))
  app.addHook('onReady', checkRules)
  for (const { path, current } of documents) {
    const send = textSender('application/json')
    app.get(path, { config: settings.routeConfig }, async (request, reply) => send(request, reply, current().text))
  }

  if (reference !== false) {
    const contentSecurityPolicy = referencePolicy(settings.publicUrl)
    for (const { path, mediaType, text } of [...referenceParts(reference, settings), ...documents.map(({ page }) => page(reference))]) {
      const own = { contentSecurityPolicy, produces: [mediaType] }
      // Their plugins may be missing.
      const config: object = {
        ...settings.routeConfig,
        ...own,
        otherConfigKeys: [...Object.keys(own), ...[settings.routeConfig['otherConfigKeys'] ?? []].flat()]
      }
      const send = textSender(mediaType)
      app.get(path, { config, onRequest: admitToPage }, async (request, reply) =>
        send(request, reply.header('cache-control', 'no-cache'), await text())
      )
    }
  }

  // A page that no option asks for is one of development.
  async function admitToPage(request: FastifyRequest, reply: FastifyReply) {
    if (settings.reference === undefined && !isFromThisMachine(request)) return reply.callNotFound()
  }

  function descriptionLinks(version: string) {
    const links = [
      { rel: 'service-desc', path: `/${version}/openapi` },
      { rel: 'service-doc', path: reference || '/reference' }
    ]
    return links.filter(({ path }) => app.hasRoute({ method: 'GET', url: path }))
  }

  function rememberRoute(this: FastifyInstance, route: RouteOptions) {
    const described = route.config?.openapi
    if (described) routeDescription.read(described, `${routeName(route)}: config.openapi`)
    routes.push({ route, shared: ((id) => this.getSchema(id)) as SharedSchemas })
  }

  async function checkRules() {
    const { lint } = settings
    if (lint === 'off') return
    // The start warns of a waiver that has ended, and never fails for it.
    const waive = reasonsOf(serviceWaiversOf(app))
    const findings = documents.flatMap(({ path, current }) =>
      lintDocument(current().document, { waive }).map((finding) => ({ ...finding, place: `${path} ${finding.place}` }))
    )
    if (findings.length === 0) return
    if (lint === 'error') throw new Error(`openapi: ${findingsText(findings)}`)
    for (const { rule, place, problem, remedy } of findings) app.log.warn({ rule, place }, `openapi: ${problem} ${remedy}`)
  }
}

interface Limits {
  readonly bodyLimit?: number
  readonly maxParamLength?: number
}

/** Returns the path of the document of a version, and its content, once all routes are registered, as it is when it is first needed. */
function describeVersion(app: FastifyInstance, version: VersionToDescribe, routes: readonly RegisteredRoute[], settings: Settings) {
  const { bodyLimit = 0, maxParamLength = 0, routerOptions } = app.initialConfig as Limits & { readonly routerOptions?: Limits }
  const limits = {
    maxUriLength: contractOf(app, 'catalogue')?.maxUriLength,
    bodyLimit,
    maxParamLength: routerOptions?.maxParamLength ?? maxParamLength
  }
  // A version can become deprecated while the service runs.
  const known = new Map<
    boolean,
    { readonly document: OpenapiDocument; readonly text: string; readonly page: (reference: string) => string }
  >()
  function current() {
    const isDeprecated = version.ending !== undefined && Date.now() >= version.ending.deprecatedAt
    const earlier = known.get(isDeprecated)
    if (earlier !== undefined) return earlier
    const own = routes.filter(({ route }) => belongsTo(route, `${app.prefix}/${version.name}`))
    const document = versionDocument(own, version, withPublishedFacts(app, settings), limits)
    compareDigest(app, version, document)
    const described = { document, text: JSON.stringify(document), page: pageOf(document, own, version.name) }
    known.set(isDeprecated, described)
    return described
  }
  const page = (reference: string) => ({
    path: `${reference}/${version.name}.json`,
    mediaType: 'application/json',
    text: () => current().page(reference)
  })
  return { path: `/${version.name}/openapi`, current, page }
}

/** Returns a function that returns the text of the document for the page, which few clients open. */
function pageOf(document: OpenapiDocument, routes: readonly RegisteredRoute[], name: string) {
  let text: string | undefined
  return (reference: string) => {
    // Relative to the page, which works under any host name and path.
    const url = `${'../'.repeat(reference.split('/').length - 2)}${name}/openapi`
    text ??= JSON.stringify(referenceDocument(document, ownErrorsOf(routes.map(({ route }) => route)), url))
    return text
  }
}

const plugin: FastifyPluginAsync<OpenapiOptions> = fp(openapi, { name: '@concordat/openapi', fastify: '^5.12.1' })
export default plugin
