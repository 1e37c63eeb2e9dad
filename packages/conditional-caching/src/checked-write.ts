import type { ApiError } from '@concordat/api-error'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { writeTag } from './entity-tag.ts'
import { nothingToChange, preconditionFailed, preconditionRequired } from './errors.ts'
import { isWrite } from './method.ts'
import type { ResolvedOptions } from './options.ts'
import { comparesTags, evaluate, tagOf } from './preconditions.ts'
import { askValidator, type CurrentState, opaqueOf, type ValidatorFunction } from './validator.ts'

/** What the client asked of the state that its change is meant for, and what the check of it found. */
export interface Preconditions {
  /**
   * The version that the write has to find, for its `WHERE`: as the validator gave it, in a list of one. `'*'` is any version that exists,
   * `null` that the client set no condition. A check before the write can't stop a second writer; this can (rule O1).
   */
  versions(): readonly string[] | '*' | null
  /** The write may create and must not replace: the client sent `If-None-Match: *`. */
  readonly createOnly: boolean
  /** The 412 for a write that found another version after all; with that version, when the caller may know it. Throw it. */
  failed(currentVersion?: string | number): ApiError
}

/** On each request with preconditions that held: what they were. */
export const checkedPreconditions: unique symbol = Symbol('concordat.preconditions')

/** A request of an application with the plugin. */
export type CheckedRequest = FastifyRequest & { [checkedPreconditions]: Preconditions | null }

/** What a route says about its writes. */
export interface WriteRoute {
  readonly validator: ValidatorFunction | undefined
  readonly requireIfMatch: boolean
}

/** Makes the `request.preconditions` of a request without any. */
export function unconditional({ revision, isWeak }: ResolvedOptions): Preconditions {
  const failed = (version?: string | number) =>
    preconditionFailed('changed', version === undefined ? undefined : writeTag({ opaque: opaqueOf(version, revision), isWeak }))
  return { versions: () => null, createOnly: false, failed }
}

/**
 * Makes the check of a write: it throws 412, 428 or 404, or leaves on the request what held. It waits only where the validator does.
 */
export function writeCheck({ validator, requireIfMatch }: WriteRoute, options: ResolvedOptions) {
  const none = unconditional(options)
  const comparison = { isRead: false, takesWeak: options.takesWeak, now: options.now }

  return function check(request: FastifyRequest): void | Promise<void> {
    const { headers, method } = request
    if (!isWrite(method)) return undefined
    const isGuarded = headers['if-match'] !== undefined || (method === 'PUT' && isAny(headers['if-none-match']))
    if (requireIfMatch && !isGuarded) throw preconditionRequired()
    if (!comparesTags(headers) && headers['if-unmodified-since'] === undefined) return undefined
    if (validator === undefined) {
      // Without dates, If-Unmodified-Since is to be ignored (RFC 9110 §13.1.4). A tag is not: the client counts on it.
      if (comparesTags(headers)) throw preconditionFailed('unversioned')
      return undefined
    }
    const state = askValidator(validator, request, options)
    return state instanceof Promise ? state.then((later) => settle(request, later)) : settle(request, state)
  }

  function settle(request: FastifyRequest, state: CurrentState) {
    const { headers, method } = request
    // Only a PUT would create what is missing; anything else would be 404 without its preconditions too (RFC 9110 §13.2.1).
    if (!state.exists && method !== 'PUT' && comparesTags(headers)) throw nothingToChange()
    const outcome = evaluate(headers, state, comparison)
    if (outcome.kind === 'failed') throw preconditionFailed(outcome.reason, tagOf(state))
    const versions = isAny(headers['if-match']) ? '*' : state.version === undefined ? null : [state.version]
    const preconditions = { ...none, versions: () => versions, createOnly: isAny(headers['if-none-match']) }
    ;(request as CheckedRequest)[checkedPreconditions] = preconditions
  }
}

/** Puts a check around a handler: what it throws or rejects is answered, and the handler does not run. */
export function checkedHandler(handler: RouteHandlerMethod, check: (request: FastifyRequest) => void | Promise<void>): RouteHandlerMethod {
  return function checked(this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
    const waiting = check(request)
    if (waiting === undefined) return handler.call(this, request, reply)
    return waiting.then(() => {
      // Somebody else has answered meanwhile, as a time limit does: the client must not be told one thing and have another happen.
      if (reply.sent) return reply
      const result = handler.call(this, request, reply)
      // A handler that calls reply.send() later: to wait for the reply is what Fastify asks of a promise then.
      return result === undefined ? reply : result
    })
  }
}

function isAny(field: string | undefined) {
  return field?.trim() === '*'
}
