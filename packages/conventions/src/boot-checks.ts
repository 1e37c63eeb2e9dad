import { hasServerOptions } from '@concordat/error-catalogue'
import { isRoot } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance } from 'fastify'
import type { Settings } from './options.ts'

const registeredKey: unique symbol = Symbol('concordat.conventions')

/**
 * Throws an `Error` with the remedy if the preset is registered in a child context, twice, after `@fastify/cors`, or on an instance that
 * was created without `serverOptions()` or with another server.
 */
export function requirePlace(app: FastifyInstance, { errorCatalogue, cors }: Settings): void {
  if (!isRoot(app))
    refuse(
      'the preset is registered in a child context, so it would not respond to unknown paths. Register it on the root instance: const app = Fastify(…); await app.register(conventions, …).'
    )
  if (app.hasDecorator(registeredKey)) refuse('the preset is registered twice. Remove one of the registrations.')
  app.decorate(registeredKey, true)
  if (errorCatalogue !== false && !hasServerOptions(app))
    refuse(
      'Fastify was created without serverOptions(), or with another serverFactory or clientErrorHandler. Create it with Fastify({ ...serverOptions(), logger: true }).'
    )
  if (app.hasPlugin('@fastify/cors'))
    refuse(
      cors === undefined
        ? '@fastify/cors is registered before the preset, so responses to preflight requests would not have the headers of the other responses. Remove it, and set options.cors to its options.'
        : '@fastify/cors is registered before the preset, which registers it for options.cors. Remove the registration.'
    )
}

// Plugins that the preset registers or replaces, and the option that configures or leaves out its own.
const included: Readonly<Record<string, { readonly option: keyof Settings; readonly remedy: string }>> = {
  '@fastify/compress': { option: 'compression', remedy: 'Remove the registration, and set its options in options.compression.' },
  '@fastify/rate-limit': {
    option: 'rateLimiting',
    remedy: 'It also reads config.rateLimit, and would count requests twice. Remove it, or set options.rateLimiting to false.'
  }
}

/**
 * Makes `app.register` throw an `Error` with the remedy for a plugin that the preset registers or replaces. Some of them would otherwise
 * end the process.
 */
export function refuseIncludedPlugins(app: FastifyInstance, options: Settings): void {
  const { register } = app
  const registerOthers = function (this: FastifyInstance, plugin: unknown, ...rest: unknown[]) {
    // What is not a plugin gets Fastify's own error.
    const { name = '' } = (plugin as { [key: symbol]: { name?: string } | undefined } | undefined)?.[Symbol.for('plugin-meta')] ?? {}
    const own = included[name]
    if (own !== undefined && options[own.option] !== false)
      throw new Error(`conventions: ${name} must not be registered beside the preset, which does its work. ${own.remedy}`)
    return (register as (...input: unknown[]) => unknown).call(this, plugin, ...rest)
  }
  app.register = registerOthers as FastifyInstance['register']
}

function refuse(problem: string): never {
  throw new Error(`conventions: ${problem}`)
}

/** Throws a `TypeError` for a missing part: the versions, a decision about authentication, and in production the origin of links. */
export function requireParts({ versions, versioning, authentication, publicUrl, allowedHosts }: Settings): void {
  if (authentication === undefined)
    throw new TypeError('conventions: options.authentication is missing. Set its issuers, or set it to false.')
  if (versions === undefined && versioning !== false)
    throw new TypeError(
      "conventions: options.versions is missing. Add them, for example { 1: { status: 'current' } }, or set versioning to false."
    )
  // Links would show internal host names.
  if (process.env['NODE_ENV'] !== 'production' || publicUrl !== undefined || (allowedHosts ?? []).length > 0) return
  throw new TypeError(
    'conventions: options.publicUrl is missing. Set it to the URL that clients use, for example "https://api.example.com", or set options.allowedHosts.'
  )
}

/**
 * Returns the keys of a route's `config` that need no plugin. Limits and cache policies may be left out as a whole: without them, a response is slower
 * or an attack cheaper, but no request gets a wrong response.
 */
export function keysWithoutPlugin({ rateLimiting, conditionalCaching, transportSecurity }: Settings): readonly string[] {
  return [
    ...(rateLimiting === false ? ['rateLimit'] : []),
    ...(conditionalCaching === false ? ['cache'] : []),
    ...(transportSecurity === false ? ['contentSecurityPolicy'] : [])
  ]
}
