import { observeErrorHandlers } from '@concordat/plugin-kit/api-error'
import { planStep } from '@concordat/plugin-kit/steps'
import { contribute, publish, type Route, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { announcing } from './announcing.ts'
import { versioningErrors } from './errors.ts'
import { addRules, lintRoutes } from './lints.ts'
import { addMoved } from './moved.ts'
import { errorsOfEndings } from './operation-parts.ts'
import { resolveOptions, type VersioningOptions } from './options.ts'
import { Places, placeAt, placeKey, placesKey, versionName, versionsOfRequests } from './places.ts'
import { countUses } from './usage-counter.ts'
import type { VersionClient } from './usage-store.ts'
import { addVersionEntry, addVersionList } from './version-routes.ts'

/** What every Fastify instance has, whatever its server, logger and type provider. */
type VersionInstance = Pick<FastifyInstance, 'prefix' | 'version'>

/** An async function that adds the routes of a version. Its second parameter has only the options of `register`, such as `prefix`. */
type VersionPlugin<Instance> = (instance: Instance, options: Record<never, never>) => Promise<void>

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Registers routes under `/v<n>`: with an async function or a `FastifyPluginAsync`, whatever its type provider. You can call it several times for
     * the same version. Throws a `TypeError` for a number that is not in the table of versions.
     */
    apiVersion<Instance extends VersionInstance = this>(n: number, plugin: VersionPlugin<Instance>): PromiseLike<void>
    /**
     * Returns who uses the versions, as `options.store` has counted it: up to ten seconds behind. An operational route is not counted. Throws without a
     * store.
     */
    versionClients(): Promise<readonly VersionClient[]>
  }
  interface FastifyRequest {
    /** The version of this request, for example `v1`; if the path has no version, the newest current version (rule V8). */
    readonly apiVersion: string
  }
  interface FastifyReply {
    /**
     * Responds with 301, an absolute `Location` and no body (rule X4). The path is relative to the version. An absolute URL is sent
     * unchanged, so never pass input from a client.
     */
    moved(path: string): this
  }
}

/**
 * Serves routes under versioned paths, deprecates and retires versions on their configured dates, and checks at boot that all paths follow the
 * rules.
 */
async function versioning(instance: FastifyInstance, options: VersioningOptions): Promise<void> {
  const settings = resolveOptions(options, instance)
  const { versions, versionsPath, store } = settings
  const places = new Places(settings, instance.prefix)
  const registeredPaths = new Set<string>()
  const ownPaths = new Set(versionsPath === false ? [] : [instance.prefix + versionsPath])

  requireKnownConfig(instance, 'versioning')
  contribute(instance, 'errors', versioningErrors)
  addRules(instance, settings)
  observeErrorHandlers(instance)
  publish(instance, { belongsToApi, versions: { ...versionsOfRequests(instance), declaresAccess: isOwnRoute } })
  contribute(instance, 'operations', errorsOfEndings(versions))
  instance.decorate(placesKey, places)
  instance.decorate('apiVersion', apiVersion)
  instance.decorate('versionClients', versionClients)
  instance.decorateRequest('apiVersion', { getter: currentVersion })
  addMoved(instance, settings)
  instance.addHook('onRoute', requireOwnPaths)
  lintRoutes(instance, places, belongsToApi, registeredPaths)
  const { announceOrRetire, keepLinks } = announcing(places, settings)
  planStep(instance, 'onRequest', ({ isUnknown, server }) =>
    isUnknown || placeAt(server)?.ending !== undefined ? announceOrRetire : undefined
  )
  if (store !== undefined) countUses(instance, store)
  if (versionsPath !== false) addVersionList(instance, versionsPath, places, settings)

  function apiVersion(this: FastifyInstance, n: number, plugin: VersionPlugin<FastifyInstance>) {
    const version = versions.find(({ number }) => number === n)
    if (version === undefined)
      throw new TypeError(`versioning: app.apiVersion(${n}): options.versions does not contain this version. Add it.`)
    if (placeKey in this)
      throw new TypeError(`versioning: app.apiVersion(${n}) must not be called inside another version. Call it outside.`)
    const place = places.add(this.prefix, version)
    return this.register(
      async (child, options) => {
        child.decorate(placeKey, place)
        if (version.ending !== undefined) planStep(child, 'onSend', () => keepLinks)
        if (versionsPath !== false && !ownPaths.has(place.prefix)) {
          ownPaths.add(place.prefix)
          addVersionEntry(child, place, settings)
        }
        await plugin(child, options)
      },
      { prefix: `/${version.name}` }
    )
  }

  // Not collected, because Fastify would report it next, as a route that exists already.
  function requireOwnPaths(route: RouteOptions) {
    if (isTaken(route))
      throw new Error(
        `versioning: GET ${route.url} already describes the versions. Set options.versionsPath to another path, or to false for no description.`
      )
  }

  function isOwnRoute({ method, url }: { readonly method: string; readonly url: string }) {
    return (method === 'GET' || method === 'HEAD') && ownPaths.has(url)
  }

  function isTaken({ method, url, constraints }: RouteOptions) {
    return constraints === undefined && [method].flat().includes('GET') && isOwnRoute({ method: 'GET', url }) && registeredPaths.has(url)
  }

  async function versionClients() {
    if (store === undefined) throw new TypeError('versioning: app.versionClients() needs options.store, which counts the clients. Set it.')
    return store.list()
  }

  function currentVersion(this: FastifyRequest) {
    return versionName(instance, this)
  }
}

// Operational routes outside the versions, such as health checks, follow the conventions of responses, but not those of paths.
function belongsToApi(app: FastifyInstance, { config }: Route) {
  return placeKey in app || config?.operational === true
}

const plugin: FastifyPluginAsync<VersioningOptions> = fp(versioning, { name: '@concordat/versioning', fastify: '^5.12.1' })
export default plugin
