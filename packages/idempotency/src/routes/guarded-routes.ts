import { checkAtStart, onEachRoute } from '@concordat/plugin-kit/findings'
import { chain, type StepRoute, stepHook } from '@concordat/plugin-kit/steps'
import { contractOf } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteOptions } from 'fastify'
import { termsOf } from '../claim/claim-key.ts'
import type { Gate } from '../claim/gate.ts'
import { fingerprintOf } from '../key/fingerprint.ts'
import type { Settings } from '../options.ts'
import { idempotencyOf, policyOf, type RoutePolicy, routeName, withPolicy } from '../run/route-policy.ts'
import type { Run } from '../run/run.ts'
import type { Settlement } from '../run/settlement.ts'
import { requireShared, requireUncompressed } from './place.ts'
import { findSecrets } from './secret-routes.ts'

const fingerprintKey: unique symbol = Symbol('concordat.idempotency.fingerprint')
type ComparedRequest = FastifyRequest & { [fingerprintKey]: string }

/** Guards the routes that accept keys: their handlers pass the gate, and their responses are stored before they are sent. */
export function guardRoutes(app: FastifyInstance, settings: Settings, pass: Gate, settlement: Settlement): void {
  const isCompressed = app.hasPlugin('@fastify/compress')
  const storing = stepHook('onSend', storeResponse)
  const guarded: { readonly route: RouteOptions; readonly handler: RouteHandlerMethod }[] = []

  app.decorateRequest(fingerprintKey, '')
  onEachRoute(app, guardRoute)
  checkAtStart(app, requireScope)
  checkAtStart(app, requireOutermost)

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
export function refuseUnguarded({ routeOptions }: FastifyRequest) {
  const { idempotency: setting } = routeOptions.config
  if (setting === undefined || setting === 'off' || idempotencyOf(routeOptions) !== undefined) return undefined
  return new Error(
    `idempotency: ${routeName(routeOptions)} was registered before the plugin. Await the registration of the plugin, then register the route.`
  )
}
