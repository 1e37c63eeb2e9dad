import { observeErrorHandlers } from '@concordat/plugin-kit/api-error'
import { onEachRoute } from '@concordat/plugin-kit/findings'
import { measureCalls } from '@concordat/plugin-kit/observer'
import { type ParsingStep, planStep, type RequestStep, type StepRoute, warnWithoutRoutes } from '@concordat/plugin-kit/steps'
import { contractOf, contribute, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { addressKey } from './address-key.ts'
import { admitRequests } from './admit-requests.ts'
import { bodyCostNote, chargedBody, moreForBody } from './body-cost.ts'
import { identify } from './client-key.ts'
import { rateLimitingErrors } from './errors.ts'
import { guardedStore } from './guarded-store.ts'
import type { RouteLimit } from './limit.ts'
import { type RateLimitingOptions, resolveOptions } from './options.ts'
import { countsBody, type Limiter, type Plan, planKey, rateLimitsOf, routePlans } from './route-plans.ts'
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

/** As whom a request counts, and the limits of all requests of such clients. */
interface ClientCount {
  readonly key: string
  readonly general: readonly Limiter[]
  /** The requests that its body counts as, besides the cost, as far as its size is known. */
  readonly more: number
}

const countedKey: unique symbol = Symbol('concordat.rate-limiting.counted')
type Counted = FastifyRequest & { [countedKey]: ClientCount | null }
const registeredKey: unique symbol = Symbol('concordat.rate-limiting.registered')

type PlannedConfig = StepRoute['config'] & { [planKey]?: Plan | undefined; readonly directAccess?: unknown }

/** Limits the requests of each address and client per window, and adds the remaining quota to every counted response (rule X5). */
const rateLimiting: FastifyPluginAsync<RateLimitingOptions> = async (app, options) => {
  const settings = resolveOptions(options)
  const { client, overload } = settings
  requireAlone(app)
  requireKnownConfig(app, 'rate-limiting')
  warnWithoutRoutes(app, 'rate-limiting')
  contribute(app, 'errors', rateLimitingErrors)
  app.decorateRequest(countedKey, null)
  observeErrorHandlers(app)
  contribute(app, 'operations', (route) => ({
    limits: rateLimitsOf(route),
    errors: rateLimitsOf(route) ? Object.keys(rateLimitingErrors.definitions) : [],
    notes: countsBody(route) ? [bodyCostNote] : []
  }))
  const plans = routePlans(
    settings,
    guardedStore(
      { ...settings, store: settings.store && measureCalls(contractOf(app, 'observer'), 'rate-limits', settings.store) },
      app.log
    )
  )
  const generalPlan = plans.of({})
  const latePlans = new WeakMap<object, Plan>()

  onEachRoute(app, readRoute)
  const admitClient = overload ? admitRequests(app, overload, (route) => planOf(route).isExempt) : undefined
  planStep(app, 'onRequest', addressStep)
  planStep(app, 'preParsing', bodyStep)
  if (client) planStep(app, 'preParsing', clientStep)

  function readRoute(route: RouteOptions) {
    const { rateLimit, directAccess }: Partial<PlannedConfig> = route.config ?? {}
    const plan = { [planKey]: plans.of({ ...route, rateLimit, directAccess }) }
    route.config = { ...route.config, ...plan }
  }

  function addressStep(route: StepRoute): RequestStep | undefined {
    const { byAddress, cost } = planOf(route)
    if (byAddress.length === 0) return undefined
    return function countAddress(request, reply) {
      return spend(byAddress, { key: addressKey(request.ip), cost, more: moreForBody(request) ?? 0 }, reply)
    }
  }

  // Before a body is read, and after every onRequest hook, when the client is known.
  function bodyStep(route: StepRoute): ParsingStep | undefined {
    const { countsBodies, byAddress, published } = planOf(route)
    if (published === undefined) return undefined
    const ofAddress = byAddress.filter(({ isGeneral }) => isGeneral)
    return function receiveBody(request, reply, _route, body) {
      const known = client && identify(client, request)
      const key = known ? `client:${known.key}` : `address:${addressKey(request.ip)}`
      const general = known ? plans.ofTier(known.tier) : []
      const more = countsBodies ? moreForBody(request) : 0
      ;(request as Counted)[countedKey] = { key, general, more: more ?? 0 }
      if (more !== undefined) return admitClient?.(request, key, body)
      const charged = chargedBody(body, async () => {
        await spend(ofAddress, { key: addressKey(request.ip), cost: 0, more: 1 }, reply)
        await spend(general, { key, cost: 0, more: 1 }, reply)
      })
      return admitClient?.(request, key, charged) ?? charged
    }
  }

  function clientStep(route: StepRoute): RequestStep | undefined {
    const { byClient, cost, published } = planOf(route)
    if (published === undefined) return undefined
    return function countClient(request, reply) {
      const { key, general, more } = (request as Counted)[countedKey] as ClientCount
      return spend(byClient.length === 0 ? general : [...general, ...byClient], { key, cost, more }, reply)
    }
  }

  function planOf({ config }: { readonly config: PlannedConfig }): Plan {
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
