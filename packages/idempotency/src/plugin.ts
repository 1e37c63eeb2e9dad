import { observeErrorHandlers } from '@concordat/plugin-kit/api-error'
import { checkAtStart, onEachRoute } from '@concordat/plugin-kit/findings'
import { addStep, chain, type StepRoute, stepHook, warnWithoutRoutes } from '@concordat/plugin-kit/steps'
import { contractOf, contribute, earlierRoutes, publish, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { keyClaimer, termsOf } from './claim-key.ts'
import { idempotencyErrors } from './errors.ts'
import { fingerprintOf } from './fingerprint.ts'
import { gateOf } from './gate.ts'
import { Heartbeat } from './heartbeat.ts'
import { MissedCalls } from './missed-calls.ts'
import { operationParts } from './operation-parts.ts'
import { type IdempotencyOptions, type RouteIdempotency, resolveOptions } from './options.ts'
import { requirePlace, requireShared, requireUncompressed } from './place.ts'
import { idempotencyOf, policyOf, type RoutePolicy, routeName, withPolicy } from './route-policy.ts'
import type { RequestIdempotency, Run } from './run.ts'
import { findSecrets } from './secret-routes.ts'
import { settlementOf } from './settlement.ts'
import { tendStore } from './store-care.ts'
import { isReplay, replayKey } from './stored-response.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether an `Idempotency-Key` is required, accepted or ignored on this POST or PATCH route. @default 'off' */
    idempotency?: 'required' | 'accepted' | 'off' | RouteIdempotency | undefined
  }
  interface FastifyRequest {
    /** The key and its claim, in a request that runs under an idempotency key; `null` in all other requests. */
    idempotency: RequestIdempotency | null
  }
}

const fingerprintKey: unique symbol = Symbol('concordat.idempotency.fingerprint')
type ComparedRequest = FastifyRequest & { [fingerprintKey]: string }

/** Runs a request with a key once: its response is stored before it is sent, and a retry gets the stored response (rules I1 to I5). */
const idempotency: FastifyPluginAsync<IdempotencyOptions> = async (app, options) => {
  const settings = resolveOptions(options, app)
  requirePlace(app)
  const heartbeat = new Heartbeat(settings, app.log)
  const missedCalls = new MissedCalls(settings.storeTimeoutMs, app.log)
  const settlement = settlementOf(settings, heartbeat, missedCalls, app.log)
  const pass = gateOf(settings, { claimKey: keyClaimer(settings, missedCalls, app.log), settlement, heartbeat })
  const isCompressed = app.hasPlugin('@fastify/compress')
  const storing = stepHook('onSend', storeResponse)
  const guarded: { readonly route: RouteOptions; readonly handler: RouteHandlerMethod }[] = []

  requireKnownConfig(app, 'idempotency')
  warnWithoutRoutes(app, 'idempotency')
  contribute(app, 'errors', idempotencyErrors)
  observeErrorHandlers(app)
  contribute(app, 'operations', operationParts)
  publish(app, {
    idempotency: { keyOf: ({ idempotency }) => idempotency, isReplay, handlerNotStarted: ({ idempotency }) => idempotency?.release() }
  })
  app.decorateRequest('idempotency', null)
  app.decorateRequest(fingerprintKey, '')
  app.decorateRequest(replayKey, false)
  onEachRoute(app, guardRoute)
  checkAtStart(app, requireScope)
  checkAtStart(app, requireOutermost)
  app.addHook('onClose', async () => {
    heartbeat.stop()
    missedCalls.stop()
  })
  tendStore(app, settings)
  // The hook runs for each request and costs as much as a hash of its key, so it is added only if routes exist already.
  if (earlierRoutes(app).length > 0) addStep(app, 'onRequest', refuseUnguarded)

  function guardRoute(this: FastifyInstance, route: RouteOptions) {
    const policy = policyOf(route, settings.policy)
    if (policy === undefined) return
    if (isCompressed) requireUncompressed(route, routeName(route))
    requireShared(settings)
    route.config = withPolicy(route.config, policy)
    route.preValidation = chain('preValidation', takeFingerprint(this, policy), route.preValidation)
    route.handler = guardedHandler(route.handler, policy)
    route.onSend = chain('onSend', route.onSend, storing)
    guarded.push({ route, handler: route.handler })
    checkAtStart(this, () => findSecrets(this, route, policy), route)
  }

  function requireScope() {
    const [first] = guarded
    if (first === undefined || settings.knowsClients()) return
    throw new TypeError(
      `idempotency: options.scope is required because ${routeName(first.route)} accepts keys. Set it to a function that returns the client's id, or register authentication.`
    )
  }

  function requireOutermost() {
    const wrapped = guarded.find(({ route, handler }) => route.handler !== handler)
    if (wrapped === undefined) return
    throw new Error(
      `idempotency: the handler of ${routeName(wrapped.route)} is also wrapped by a plugin that is registered after idempotency. Register that plugin before idempotency.`
    )
  }

  // Before validation, which may write defaults into the body.
  function takeFingerprint(context: FastifyInstance, { comparedBody }: RoutePolicy) {
    const comparedParts = contractOf(context, 'comparedParts')
    return stepHook('preValidation', (request) => {
      if (request.headers['idempotency-key'] === undefined) return
      const compared = comparedParts?.(request) ?? comparedBody(request)
      ;(request as ComparedRequest)[fingerprintKey] = fingerprintOf(request.method, request.url, compared)
    })
  }

  function guardedHandler(handler: RouteHandlerMethod, policy: RoutePolicy): RouteHandlerMethod {
    const terms = termsOf(policy, settings)
    return function (request, reply) {
      const handle = () => handler.call(this, request, reply)
      return pass({ request, reply, policy, terms, fingerprint: (request as ComparedRequest)[fingerprintKey], handle })
    }
  }

  // Runs after the hooks that format the response and before the hook that compresses it.
  function storeResponse(request: FastifyRequest, reply: FastifyReply, _route: StepRoute, payload: unknown) {
    const run = request.idempotency as Run | null
    const isNone = run === null || run.isSettled || run.isInTransaction
    return isNone ? undefined : settlement.byLease(run, reply, payload)
  }
}

// A route that was registered before this plugin would run without protection.
function refuseUnguarded({ routeOptions }: FastifyRequest) {
  const { idempotency: setting } = routeOptions.config
  if (setting === undefined || setting === 'off' || idempotencyOf(routeOptions) !== undefined) return undefined
  return new Error(
    `idempotency: ${routeName(routeOptions)} was registered before the plugin. Await the registration of the plugin, then register the route.`
  )
}

const plugin: FastifyPluginAsync<IdempotencyOptions> = fp(idempotency, { name: '@concordat/idempotency', fastify: '^5.12.1' })
export default plugin
