import type { FastifyInstance, RouteOptions } from 'fastify'
import { otherKeysRemedy, packageOfSetting, requireConfigKeys } from './config-keys.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Keys of this config that belong to the service or to plugins of others, although they are equal or similar to keys of this project. */
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
 * Checks the keys in the `config` of all routes that are added after this call, in every context. A misspelt key stops the start, and so does a setting
 * whose plugin is not registered where the route is. `otherKeys` are allowed on all routes. Throws a `TypeError` of one line.
 */
export function requireKnownConfig(app: FastifyInstance, plugin: string, otherKeys: readonly string[] = []): void {
  requireNames(`${plugin}: options`, otherKeys)
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
    context.addHook('onRoute', check)
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
  const laterChecks: (() => void)[] = []

  // Only then, because some plugins also apply to routes that were added before them.
  root.addHook('onReady', async () => {
    for (const check of laterChecks.splice(0)) check()
  })
  return { plugins, otherKeys, hookedContexts: new Set(), check }

  function check(this: FastifyInstance, route: RouteOptions) {
    const { config = {}, method, url } = route
    if (checked.has(route)) return
    checked.add(route)
    const name = `${[method].flat().join(', ')} ${url}`
    const { otherConfigKeys = [] } = config
    requireNames(`plugin-wiring: ${name}: config`, otherConfigKeys)
    const allowed = new Set([...otherKeys, ...otherConfigKeys])
    requireConfigKeys(name, config, allowed)
    for (const [key, value] of Object.entries(config)) {
      const owner = allowed.has(key) ? undefined : packageOfSetting(key, value)
      if (owner !== undefined) laterChecks.push(() => requirePlugin(this, name, key, owner))
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

function requireNames(where: string, keys: unknown) {
  if (Array.isArray(keys) && keys.every((key) => typeof key === 'string')) return
  throw new TypeError(`${where}.otherConfigKeys must be an array of the names of keys, for example ['audit'].`)
}
