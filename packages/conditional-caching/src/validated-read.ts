import { Readable } from 'node:stream'
import { stepHook } from '@concordat/plugin-kit/steps'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CacheControl } from './cache-policy.ts'
import { contentTag } from './content-tag.ts'
import { type EntityTag, readTag, writeTag } from './entity-tag.ts'
import { preconditionFailed } from './errors.ts'
import { readHttpDate, writeHttpDate } from './http-date.ts'
import { type DatedState, representationDate, stateDate } from './modification-date.ts'
import type { Settings } from './options.ts'
import { evaluate, isConditional, tagOf } from './preconditions.ts'
import { isRead } from './route-settings.ts'
import { type CurrentState, callValidator, type TagSettings, type ValidatorFunction } from './validator.ts'
import { versionTag } from './version-tag.ts'

/** The key of the state that the route's validator returned, on a reply. */
export const validatedState: unique symbol = Symbol('concordat.validatedState')

/** The key of the version that the handler passed to `reply.entityTag`, on a reply. */
export const taggedVersion: unique symbol = Symbol('concordat.taggedVersion')

/** The key of the time of the request, on the reply to a read, in milliseconds since the Unix epoch. */
export const arrivedAt: unique symbol = Symbol('concordat.arrivedAt')

type ValidatedReply = FastifyReply & {
  [validatedState]: CurrentState | null
  [taggedVersion]: string | number | null
  [arrivedAt]: number
}

const withTag = new Set([200, 206, 304, 412])

/** Stores the time of a request. A state that is read later may be replaced at any time after it. */
export const noteArrival = stepHook('onRequest', (_request, reply) => {
  ;(reply as ValidatedReply)[arrivedAt] = Date.now()
})

/** Creates the hook that calls the validator of a route before the handler, and responds with 304 or 412 if the preconditions require it. */
export function validateBefore(validator: ValidatorFunction, options: Settings, tags: TagSettings) {
  const comparison = { ...options, isRead: true }

  return stepHook('preHandler', (request, reply) => {
    // What is included can change without the resource, so its content decides.
    if (!isRead(request.method) || options.includedText(request) !== undefined) return undefined
    const state = callValidator(validator, request, tags, (reply as ValidatedReply)[arrivedAt])
    return state instanceof Promise ? state.then((later) => decide(request, reply, later)) : decide(request, reply, state)
  })

  function decide(request: FastifyRequest, reply: FastifyReply, state: CurrentState) {
    ;(reply as ValidatedReply)[validatedState] = state
    const outcome = evaluate(request.headers, state, comparison)
    // Another response was sent meanwhile.
    if (reply.sent) return reply
    if (outcome.kind === 'proceed') {
      // Before the handler: a hook of another plugin, such as @fastify/etag, would otherwise set a tag of its own first.
      writeEntityTag(reply, tagOf(state))
      ;(reply as ValidatedReply)[taggedVersion] = state.version ?? null
      return undefined
    }
    if (outcome.kind === 'failed') return preconditionFailed(outcome.reason, tagOf(state))
    writeEntityTag(reply, outcome.tag)
    return reply.code(304).send()
  }
}

/**
 * Creates the function that sets the validators of a response to a read: those of the handler, else those of the route's validator, else a hash of
 * the content. It returns the payload to send, which is empty if the client has the content already; it throws a 412.
 */
export function validateContent(options: Settings, { representationOf }: TagSettings) {
  const comparison = { ...options, isRead: true }

  return function validate(request: FastifyRequest, reply: FastifyReply, payload: unknown, { isStored }: CacheControl): unknown {
    const known = (reply as ValidatedReply)[validatedState]
    const { statusCode } = reply
    const included = options.includedText(request)
    const date = dateOfState(reply, known)
    const dated = { date: included === undefined ? date : undefined, readAt: (reply as ValidatedReply)[arrivedAt] }
    if (dated.date !== undefined) writeDate(request, reply, dated)
    if (statusCode !== 200) {
      // The tag of the validator is about the representation, so other responses, such as a redirection, do not have it.
      if (known !== null && !withTag.has(statusCode) && reply.getHeader('etag') === tagOf(known)) reply.removeHeader('etag')
      return payload
    }
    const given = included === undefined ? tagOfHandler(request, reply) : undefined
    const tag =
      given ?? (isStored && !forbidsStoring(reply.getHeader('cache-control')) ? tagOfContent(request, reply, payload, included) : undefined)
    if (included !== undefined) reply.removeHeader('etag')
    if (tag !== undefined) reply.header('etag', writeTag(tag.opaque, tag.isWeak))
    if (!isConditional(request.headers) || !(isWhole(payload) || (given !== undefined && payload instanceof Readable))) return payload

    const state: CurrentState = { exists: true, ...tag, ...dated }
    const outcome = evaluate(request.headers, state, comparison)
    if (outcome.kind === 'proceed') return payload
    if (outcome.kind === 'failed') throw preconditionFailed(outcome.reason, tagOf(state))
    if (payload instanceof Readable) payload.destroy()
    reply.code(304)
    writeEntityTag(reply, outcome.tag)
    // Fastify's own hook for HEAD removes the body and requires one.
    return request.method === 'HEAD' ? '' : null
  }

  // The language and the media type of a response are known when the handler has set them.
  function tagOfHandler(request: FastifyRequest, reply: FastifyReply): (EntityTag & Pick<CurrentState, 'version'>) | undefined {
    const header = reply.getHeader('etag')
    if (header === undefined) return undefined
    const tag = readTag(String(header))
    const version = (reply as ValidatedReply)[taggedVersion]
    if (tag === undefined || version === null || tag.opaque !== versionTag(version, representationOf(request))) return tag
    const sent = { mediaType: reply.getHeader('content-type')?.toString(), language: reply.getHeader('content-language')?.toString() }
    return { opaque: versionTag(version, representationOf(request, sent)), isWeak: tag.isWeak, version: String(version) }
  }

  function tagOfContent(request: FastifyRequest, reply: FastifyReply, payload: unknown, included = ''): EntityTag | undefined {
    if (!isWhole(payload)) return undefined
    const tailLength = typeof payload === 'string' ? options.volatileTail(reply, payload) : 0
    const about = `${String(reply.getHeader('content-type'))}${included}${options.tenantOf(request) ?? ''}`
    return { opaque: contentTag(payload, about, tailLength), isWeak: false }
  }

  function writeDate(request: FastifyRequest, reply: FastifyReply, dated: DatedState) {
    const date = representationDate(dated, options.representationChangedAt)
    if (date === undefined) return
    if (options.representationChangedAt === undefined) options.reportDates(request)
    reply.header('last-modified', writeHttpDate(date))
  }
}

function writeEntityTag(reply: FastifyReply, tag: string | undefined) {
  if (tag !== undefined) reply.header('etag', tag)
}

function forbidsStoring(cacheControl: ReturnType<FastifyReply['getHeader']>) {
  return cacheControl !== undefined && /\bno-store\b/i.test(String(cacheControl))
}

// The content of a stream is not known before it is sent.
function isWhole(payload: unknown): payload is string | Buffer {
  return typeof payload === 'string' || Buffer.isBuffer(payload)
}

function dateOfState(reply: FastifyReply, known: CurrentState | null): number | undefined {
  const header = reply.getHeader('last-modified')
  if (header === undefined) return reply.statusCode === 200 || reply.statusCode === 304 ? known?.date : undefined
  reply.removeHeader('last-modified')
  const changedAt = readHttpDate(String(header))
  return changedAt === undefined ? undefined : stateDate(changedAt * 1000)
}
