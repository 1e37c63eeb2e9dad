import type { FastifyInstance, RouteOptions } from 'fastify'
import { checkAtStart, readEachRoute } from '../findings/findings.ts'
import { misspeltKeys, otherKeysRemedy, packageOfSetting } from './config-keys.ts'
import { unknownParts } from './schema-parts.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route is an operational endpoint that is not part of the API, such as a health check. No rule about routes applies to it. */
    operational?: boolean | undefined
    /**
     * Keys of this config that belong to the service or to plugins of others, although they are equal or similar to keys of this project, and keys of
     * the `schema` of the route that others read: `schema.audit`.
     */
    otherConfigKeys?: readonly string[] | undefined
  }
}

// Registered, so that two copies of this module find the same checks.
const checksKey: unique symbol = Symbol.for('concordat.configChecks') as never

interface ConfigChecks {
  readonly plugins: { readonly name: string; readonly app: FastifyInstance }[]
  readonly otherKeys: Set<string>
  readonly hookedContexts: Set<FastifyInstance>
  readonly check: (this: FastifyInstance, route: RouteOptions) => void
}

/**
 * Checks the keys in the `config` and the `schema` of all routes that are added after this call, in every context. A misspelt key stops the start, and
 * so does a setting whose plugin is not registered where the route is. `otherKeys` are allowed on all routes. Throws a `TypeError` of one line.
 */
export function requireKnownConfig(app: FastifyInstance, plugin: string, otherKeys: readonly string[] = []): void {
  if (!areNames(otherKeys)) throw noNames(`${plugin}: options`)
  const contexts = contextsOf(app)
  const root = contexts.at(-1) as FastifyInstance & { [checksKey]?: ConfigChecks }
  if (root[checksKey] === undefined) root.decorate(checksKey, newChecks(root))
  const { plugins, hookedContexts, check, otherKeys: allowed } = root[checksKey] as unknown as ConfigChecks
  plugins.push({ name: plugin, app })
  for (const key of otherKeys) allowed.add(key)
  // A context has the hooks that the contexts around it had when it was created, so the hook is added to each of them.
  for (const context of contexts) {
    if (hookedContexts.has(context)) continue
    hookedContexts.add(context)
    readEachRoute(context, check)
  }
}

/** Returns the context and those around it, the root instance last. */
function contextsOf(app: FastifyInstance): FastifyInstance[] {
  const parent = Object.getPrototypeOf(app) as FastifyInstance
  return 'printRoutes' in parent ? [app, ...contextsOf(parent)] : [app]
}

function newChecks(root: FastifyInstance): ConfigChecks {
  const plugins: ConfigChecks['plugins'] = []
  const otherKeys = new Set<string>()
  const checked = new WeakSet<RouteOptions>()
  return { plugins, otherKeys, hookedContexts: new Set(), check }

  function check(this: FastifyInstance, route: RouteOptions) {
    const { config = {}, method, url } = route
    if (checked.has(route)) return
    checked.add(route)
    const name = `${[method].flat().join(', ')} ${url}`
    const { otherConfigKeys = [] } = config
    if (!areNames(otherConfigKeys)) throw noNames(`plugin-kit: ${name}: config`)
    const allowed = new Set([...otherKeys, ...otherConfigKeys])
    // Before the plugins read the route, whose findings would be consequences: a route with a misspelt `permissions` does not declare its access.
    const unknown = [...misspeltKeys(name, config, allowed), ...unknownParts(name, route.schema, allowed)]
    if (unknown.length > 0) throw new AggregateError(unknown)
    for (const [key, value] of Object.entries(config)) {
      const owner = allowed.has(key) ? undefined : packageOfSetting(key, value)
      // Only then, because some plugins also apply to routes that were added before them.
      if (owner !== undefined) checkAtStart(root, () => requirePlugin(this, name, key, owner), route)
    }
  }

  function requirePlugin(app: FastifyInstance, route: string, key: string, owner: string) {
    const isRegistered = plugins.some(({ name, app: context }) => name === owner && contextsOf(app).includes(context))
    if (!isRegistered)
      throw new TypeError(
        `${owner}: ${route}: config.${key} has no effect, because the plugin of @concordat/${owner} is not registered for this route. Register it, in the preset with its option, or remove the key. ${otherKeysRemedy(key)}`
      )
  }
}

function areNames(keys: unknown): boolean {
  return Array.isArray(keys) && keys.every((key) => typeof key === 'string')
}

function noNames(where: string) {
  return new TypeError(`${where}.otherConfigKeys must be an array of the names of keys, for example ['audit'].`)
}
