import type { ApiError } from '@concordat/plugin-kit/api-error'
import { contractOf } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { createError, preconditionFailed } from './errors.ts'
import type { Settings } from './options.ts'
import { comparesTags, evaluate, tagOf } from './preconditions.ts'
import { isWrite, type RouteSettings } from './route-settings.ts'
import { type CurrentState, callValidator, type TagSettings } from './validator.ts'
import { versionTag } from './version-tag.ts'

/** The preconditions of a write: the state of the resource on which the client based its change. */
export interface Preconditions {
  /**
   * Returns the version to compare in the `WHERE` clause of the write, in an array with one element; `'*'` for any existing version; `null` without a
   * condition. A check before the write cannot stop a concurrent writer; this condition can (rule O1).
   */
  versions(): readonly string[] | '*' | null
  /** Whether the write may only create the resource, because the client sent `If-None-Match: *`. */
  readonly createOnly: boolean
  /** Returns the 412 error to throw if the write finds another version; pass that version if the caller is allowed to see it. */
  failed(currentVersion?: string | number): ApiError
}

/** The key under which the fulfilled preconditions are stored on a request. */
export const checkedPreconditions: unique symbol = Symbol('concordat.preconditions')

/** A request that stores its fulfilled preconditions, if any. */
export type CheckedRequest = FastifyRequest & { [checkedPreconditions]: Preconditions | null }

/** Returns the value of `request.preconditions` for a request without preconditions. */
export function unconditional(request: FastifyRequest, { representationOf }: TagSettings): Preconditions {
  const failed = (version?: string | number) =>
    preconditionFailed('changed', version === undefined ? undefined : `"${versionTag(version, representationOf(request))}"`)
  return { versions: () => null, createOnly: false, failed }
}

/**
 * Creates the function that checks the preconditions of a write: it throws a 412, 428 or 404 error, or stores the fulfilled preconditions
 * on the request. It is asynchronous only if the validator is.
 */
export function writeCheck({ validator, requireIfMatch }: RouteSettings, options: Settings, tags: TagSettings) {
  const comparison = { ...options, isRead: false }

  return function check(request: FastifyRequest): void | Promise<void> {
    const { headers, method } = request
    if (!isWrite(method)) return undefined
    const isGuarded = headers['if-match'] !== undefined || (method === 'PUT' && isAny(headers['if-none-match']))
    if (requireIfMatch && !isGuarded) throw createError('PRECONDITION_REQUIRED')
    if (!comparesTags(headers) && headers['if-unmodified-since'] === undefined) return undefined
    if (validator === undefined) {
      // Without dates, If-Unmodified-Since must be ignored (RFC 9110 §13.1.4). A tag must not be ignored: the client relies on it.
      if (comparesTags(headers)) throw preconditionFailed('unversioned')
      return undefined
    }
    const state = callValidator(validator, request, tags, Date.now())
    return state instanceof Promise ? state.then((later) => settle(request, later)) : settle(request, state)
  }

  function settle(request: FastifyRequest, state: CurrentState) {
    const { headers, method } = request
    // Only a PUT would create a missing resource; other methods would be 404 without preconditions too (RFC 9110 §13.2.1).
    if (!state.exists && method !== 'PUT' && comparesTags(headers)) throw createError('RESOURCE_NOT_FOUND')
    const outcome = evaluate(headers, state, comparison)
    if (outcome.kind === 'failed') throw preconditionFailed(outcome.reason, tagOf(state))
    const versions = isAny(headers['if-match']) ? '*' : state.version === undefined ? null : [state.version]
    ;(request as CheckedRequest)[checkedPreconditions] = {
      ...unconditional(request, tags),
      versions: () => versions,
      createOnly: isAny(headers['if-none-match'])
    }
  }
}

/** Returns a handler that runs the check before the original handler, which does not run if the check fails. */
export function checkedHandler(handler: RouteHandlerMethod, check: (request: FastifyRequest) => void | Promise<void>): RouteHandlerMethod {
  return function checked(this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
    let waiting: void | Promise<void>
    try {
      waiting = check(request)
    } catch (error) {
      throw unchecked(request, error)
    }
    if (waiting === undefined) return handler.call(this, request, reply)
    const proceed = () => {
      // Another response was sent meanwhile, for example by a timeout: the change must not happen after the client got an error.
      if (reply.sent) return reply
      const result = handler.call(this, request, reply)
      // The handler calls reply.send() later: Fastify then expects the promise to resolve to the reply.
      return result === undefined ? reply : result
    }
    return waiting.then(proceed, (error: unknown) => {
      throw unchecked(request, error)
    })
  }
}

// A state that cannot be read is not a result, and nothing was done: a retry with the same idempotency key may run.
function unchecked(request: FastifyRequest, error: unknown) {
  const { statusCode = 500 } = (error ?? {}) as { readonly statusCode?: number }
  if (statusCode >= 500) contractOf(request.server, 'idempotency')?.handlerNotStarted(request)
  return error
}

function isAny(field: string | undefined) {
  return field?.trim() === '*'
}
