import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CacheControl } from './cache-policy.ts'
import { contentTag } from './content-tag.ts'
import { type EntityTag, readTag, writeTag } from './entity-tag.ts'
import { preconditionFailed } from './errors.ts'
import { readHttpDate, writeHttpDate } from './http-date.ts'
import { isRead } from './method.ts'
import type { ResolvedOptions } from './options.ts'
import { evaluate, isConditional, tagOf } from './preconditions.ts'
import { type CurrentState, callValidator, type ValidatorFunction } from './validator.ts'

/** The key under which the state returned by the route's validator is stored on a reply. */
export const validatedState: unique symbol = Symbol('concordat.validatedState')

type ValidatedReply = FastifyReply & { [validatedState]: CurrentState | null }

type Next = (error?: Error) => void

/** Creates the hook that calls the validator of a route before the handler, and responds with 304 or 412 if the preconditions require it. */
export function validateBefore(validator: ValidatorFunction, options: ResolvedOptions) {
  const comparison = comparisonOf(options)

  return function validate(request: FastifyRequest, reply: FastifyReply, next: Next): void {
    if (!isRead(request.method)) return next()
    const state = callValidator(validator, request, options)
    if (state instanceof Promise) state.then((later) => decide(request, reply, later, next), next)
    else decide(request, reply, state, next)
  }

  function decide(request: FastifyRequest, reply: FastifyReply, state: CurrentState, next: Next) {
    ;(reply as ValidatedReply)[validatedState] = state
    const outcome = evaluate(request.headers, state, comparison)
    // If another response was sent meanwhile, next() makes Fastify stop immediately.
    if (outcome.kind === 'proceed' || reply.sent) next()
    else if (outcome.kind === 'failed') next(preconditionFailed(outcome.reason, tagOf(state)))
    else {
      writeValidators(reply, outcome.tag, state.lastModified)
      reply.code(304).send()
    }
  }
}

/**
 * Creates the function that sets the entity tag of a 200 response: the handler's tag, else the tag from the route's validator, else a hash of the
 * content. It returns the payload to send, which is empty if the client has the content already; it throws a 412.
 */
export function validateContent(options: ResolvedOptions) {
  const comparison = comparisonOf(options)

  return function validate(request: FastifyRequest, reply: FastifyReply, payload: unknown, { isStored }: CacheControl): unknown {
    if (reply.statusCode !== 200) return payload
    const known = (reply as ValidatedReply)[validatedState]
    const tag = tagOfHandler(reply) ?? tagOfState(known) ?? (isStored ? tagOfContent(reply, payload) : undefined)
    writeValidators(reply, tag && writeTag(tag), known?.lastModified)
    if (!isConditional(request.headers) || !isWhole(payload)) return payload

    const { opaque, isWeak = options.isWeak } = tag ?? {}
    const outcome = evaluate(request.headers, { exists: true, opaque, isWeak, lastModified: dateOfHandler(reply) }, comparison)
    if (outcome.kind === 'proceed') return payload
    if (outcome.kind === 'failed') throw preconditionFailed(outcome.reason, tag && writeTag(tag))
    reply.code(304)
    writeValidators(reply, outcome.tag, undefined)
    // Fastify's own hook for HEAD removes the body and requires one.
    return request.method === 'HEAD' ? '' : null
  }

  function tagOfContent(reply: FastifyReply, payload: unknown): EntityTag | undefined {
    if (!isWhole(payload)) return undefined
    const tailLength = typeof payload === 'string' ? options.volatileTail(reply, payload) : 0
    return { opaque: contentTag(payload, String(reply.getHeader('content-type')), tailLength), isWeak: options.isWeak }
  }

  function dateOfHandler(reply: FastifyReply) {
    return readHttpDate(String(reply.getHeader('last-modified')), options.now)
  }
}

function comparisonOf({ takesWeak, now }: ResolvedOptions) {
  return { isRead: true, takesWeak, now }
}

function tagOfHandler(reply: FastifyReply) {
  return readTag(String(reply.getHeader('etag')))
}

function tagOfState(state: CurrentState | null): EntityTag | undefined {
  return state?.opaque === undefined ? undefined : { opaque: state.opaque, isWeak: state.isWeak }
}

function writeValidators(reply: FastifyReply, tag: string | undefined, lastModified: number | undefined) {
  if (tag !== undefined) reply.header('etag', tag)
  if (lastModified !== undefined && !reply.hasHeader('last-modified')) reply.header('last-modified', writeHttpDate(lastModified))
}

// The content of a stream is not known before it is sent.
function isWhole(payload: unknown): payload is string | Buffer {
  return typeof payload === 'string' || Buffer.isBuffer(payload)
}
