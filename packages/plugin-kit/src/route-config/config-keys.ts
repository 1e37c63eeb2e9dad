import { nearestName } from '../options/nearest-name.ts'

/** The keys of a route's `config` that the packages of this project read, each with the package that declares it. */
export const configKeys: Readonly<Record<string, string>> = {
  permissions: 'authentication',
  public: 'authentication',
  tenant: 'authentication',
  cache: 'conditional-caching',
  requireIfMatch: 'conditional-caching',
  validator: 'conditional-caching',
  consumes: 'content-negotiation',
  produces: 'content-negotiation',
  envelope: 'envelope',
  validationCode: 'error-catalogue',
  upload: 'files',
  idempotency: 'idempotency',
  job: 'jobs',
  openapi: 'openapi',
  collection: 'pagination-query',
  projection: 'pagination-query',
  transaction: 'postgres',
  rateLimit: 'rate-limiting',
  operational: 'plugin-kit',
  otherConfigKeys: 'plugin-kit',
  waivers: 'plugin-kit',
  contentSecurityPolicy: 'transport-security',
  directAccess: 'transport-security'
}

// They belong to no plugin, permit what their plugin would refuse, or only describe the route.
const withoutPlugin = new Set(['otherConfigKeys', 'operational', 'waivers', 'public', 'directAccess', 'openapi'])

/**
 * Returns an error for each misspelt key of this project in a route's `config`, unless it is one of `otherKeys`. Other keys are allowed, because plugins
 * of others and the service itself share the object.
 */
export function misspeltKeys(route: string, config: object, otherKeys: ReadonlySet<string>): readonly TypeError[] {
  return Object.keys(config).flatMap((key) => {
    if (Object.hasOwn(configKeys, key) || otherKeys.has(key)) return []
    const nearest = nearestName(key, Object.keys(configKeys), key.length > 6 ? 2 : 1)
    if (nearest === undefined) return []
    const problem = `config.${key} is unknown. Did you mean config.${nearest}?`
    return [new TypeError(`${configKeys[nearest]}: ${route}: ${problem} ${otherKeysRemedy(key)}`)]
  })
}

/** Returns the package whose plugin a setting of a route requires, or undefined for a key of others and for a setting that holds without the plugin. */
export function packageOfSetting(key: string, setting: unknown): string | undefined {
  if (!Object.hasOwn(configKeys, key) || withoutPlugin.has(key)) return undefined
  if (setting === undefined || setting === false || setting === 'off') return undefined
  // @fastify/rate-limit reads the same key, with other members.
  if (key === 'rateLimit' && !(typeof setting === 'object' && setting !== null && ('limit' in setting || 'cost' in setting)))
    return undefined
  return configKeys[key]
}

/** Returns the end of the message about a key of `config` or `schema`: how to allow it if it belongs to others. */
export function otherKeysRemedy(key: string): string {
  return `If another plugin or the service reads it, add otherConfigKeys: [${JSON.stringify(key).replaceAll('"', "'")}] to the config of the route, or to the options of the preset.`
}
