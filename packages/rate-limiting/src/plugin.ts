import { contribute, measuredStore, publish, requireKnownConfig } from '@concordat/plugin-wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, HookHandlerDoneFunction, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { addressKey } from './address-key.ts'
import { admitRequests } from './admit-requests.ts'
import { identify } from './client-key.ts'
import { rateLimitingErrors } from './errors.ts'
import { guardedStore } from './guarded-store.ts'
import type { RouteLimit } from './limit.ts'
import { type RateLimitingOptions, resolveOptions } from './options.ts'
import { type Plan, planKey, rateLimitsOf, routePlans } from './route-plans.ts'
import { spend } from './spend.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The route's own limit, in addition to the general ones, or the cost of a request. `false`: requests are neither counted nor refused under
     * overload.
     */
    rateLimit?: RouteLimit | { readonly cost: number } | false | undefined
  }
}

const registeredKey: unique symbol = Symbol('concordat.rate-limiting.registered')

type PlannedConfig = FastifyRequest['routeOptions']['config'] & { [planKey]?: Plan | undefined; readonly directAccess?: unknown }

/** Limits the requests of each address and client per window, and adds the remaining quota to every counted response (rule X5). */
const rateLimiting: FastifyPluginAsync<RateLimitingOptions> = async (app, options) => {
  const settings = resolveOptions(options)
  const { client, overload } = settings
  requireAlone(app)
  requireKnownConfig(app, 'rate-limiting')
  contribute(app, 'errors', rateLimitingErrors)
  contribute(app, 'operations', (route) => ({ errors: rateLimitsOf(route) ? Object.keys(rateLimitingErrors.definitions) : [] }))
  publish(app, { limitsOf: rateLimitsOf })
  const plans = routePlans(
    settings,
    guardedStore({ ...settings, store: settings.store && measuredStore(app, 'rate-limits', settings.store) }, app.log)
  )
  const generalPlan = plans.of({})
  const latePlans = new WeakMap<object, Plan>()

  app.addHook('onRoute', readRoute)
  if (overload) admitRequests(app, overload, (request) => planOf(request).isExempt)
  app.addHook('onRequest', countAddress)
  if (client) app.addHook('preParsing', countClient)

  function readRoute(route: RouteOptions) {
    const { rateLimit, directAccess }: Partial<PlannedConfig> = route.config ?? {}
    const plan = { [planKey]: plans.of({ ...route, rateLimit, directAccess }) }
    route.config = { ...route.config, ...plan }
  }

  function countAddress(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) {
    const { byAddress, cost } = planOf(request)
    if (byAddress.length === 0) return done()
    spend(byAddress, { key: addressKey(request.ip), cost }, reply, done)
  }

  // Runs after every onRequest hook, when the client is known, and before a body is read.
  function countClient(request: FastifyRequest, reply: FastifyReply, _body: unknown, done: HookHandlerDoneFunction) {
    const { published, byClient, cost } = planOf(request)
    if (published === undefined) return done()
    const known = client && identify(client, request)
    const general = known && plans.ofTier(known.tier)
    const key = known ? `client:${known.key}` : `address:${addressKey(request.ip)}`
    spend(general ? [general, ...byClient] : byClient, { key, cost }, reply, done)
  }

  function planOf(request: FastifyRequest): Plan {
    const config: PlannedConfig = request.routeOptions.config
    return config[planKey] ?? ((config.rateLimit ?? config.directAccess) === undefined ? generalPlan : latePlanOf(config))
  }

  // For a route that was registered before this plugin.
  function latePlanOf(config: PlannedConfig): Plan {
    const plan = latePlans.get(config) ?? plans.of(config)
    latePlans.set(config, plan)
    return plan
  }
}

function requireAlone(app: FastifyInstance) {
  if (registeredKey in app)
    throw new TypeError('rate-limiting: the plugin is already registered here and would count every request twice. Register it only once.')
  if (app.hasDecorator('createRateLimit')) {
    throw new TypeError('rate-limiting: @fastify/rate-limit is already registered here and also reads config.rateLimit. Remove it.')
  }
  app.decorate(registeredKey, true)
}

const plugin: FastifyPluginAsync<RateLimitingOptions> = fp(rateLimiting, { name: '@concordat/rate-limiting', fastify: '^5.12.1' })
export default plugin
