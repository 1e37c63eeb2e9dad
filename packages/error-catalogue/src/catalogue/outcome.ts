import { type Effect, effects, type Retry, retries } from '@concordat/plugin-kit/api-error'
import { contractOf } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'

/** What an error response says of the request: whether the client can send it again, and what it has changed. */
export interface Outcome {
  readonly retry: Retry
  readonly effect: Effect
}

/** What an error, or its code in the catalogue, says of its request. */
export type GivenOutcome = { readonly [Member in keyof Outcome]?: Outcome[Member] | undefined }

const safeMethods = ['GET', 'HEAD', 'OPTIONS', 'TRACE']
const finalStatuses = [403, 404, 410, 501, 505]
const transientStatuses = [408, 429]
/** The key of the request property that says whether the handler has begun. */
const hasBegun = Symbol('concordat.handlerHasBegun')
/** The key of the config member of routes whose requests have that property. */
const isNoted = Symbol('concordat.handlerIsNoted')

type NotedRequest = FastifyRequest & { [hasBegun]: boolean }

/** Notes when the handlers of routes begin, because an error that is thrown before has no effect. */
export function noteHandlers(app: FastifyInstance): (route: RouteOptions) => void {
  app.decorateRequest(hasBegun, false)
  return (route) => {
    if ([route.method].flat().every((method) => safeMethods.includes(method))) return
    const { handler } = route
    route.config = { ...route.config, [isNoted]: true } as NonNullable<RouteOptions['config']>
    route.handler = function noted(request, reply) {
      ;(request as NotedRequest)[hasBegun] = true
      return handler.call(this, request, reply)
    }
  }
}

/** Returns the usual answer of a status code to whether the request can be sent again. */
export function retryOf(statusCode: number): Retry {
  if (finalStatuses.includes(statusCode)) return 'never'
  return statusCode >= 500 || transientStatuses.includes(statusCode) ? 'later' : 'changed'
}

/** Returns what an error says of its request, or else its code. The error can come from another copy of the package or from JavaScript. */
export function givenOutcome(error: { readonly [Member in keyof Outcome]?: unknown }, known: GivenOutcome = {}): GivenOutcome {
  return {
    retry: retries.find((one) => one === error.retry) ?? known.retry,
    effect: effects.find((one) => one === error.effect) ?? known.effect
  }
}

/** Returns what the response to a failure says of its request, which is undefined if it did not reach Fastify. */
export function outcomeOf(
  { statusCode, retry = retryOf(statusCode), effect }: GivenOutcome & { readonly statusCode: number },
  request: FastifyRequest | undefined
): Outcome {
  if (effect !== undefined || request === undefined) return { retry, effect: effect ?? 'none' }
  const own = effectOn(request)
  return { retry: retry === 'later' && isLast(own, statusCode, request) ? 'never' : retry, effect: own }
}

// The outcome of a transaction is known. Otherwise a handler that has begun may have changed something before it failed.
function effectOn(request: FastifyRequest): Effect {
  const { method, server, routeOptions } = request
  const config = routeOptions.config as { readonly [isNoted]?: true } | undefined
  const isBefore = request.is404 || (config?.[isNoted] === true && !(request as NotedRequest)[hasBegun])
  if (isBefore || safeMethods.includes(method)) return 'none'
  return contractOf(server, 'transactions')?.transactionOf(request)?.isRolledBack === true ? 'none' : 'unknown'
}

// With a key, a retry can get this response again. Without one, it could repeat what the first request has changed.
function isLast(effect: Effect, statusCode: number, request: FastifyRequest): boolean {
  const idempotency = contractOf(request.server, 'idempotency')
  if (idempotency?.keyOf(request)) return idempotency.isStored(request, statusCode)
  const isRepeatable = request.method === 'PUT' || request.method === 'DELETE' || request.headers['if-match'] !== undefined
  return effect === 'unknown' && !isRepeatable
}
