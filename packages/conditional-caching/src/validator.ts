import type { FastifyRequest } from 'fastify'
import { readTag } from './entity-tag.ts'
import { secondsOf } from './http-date.ts'
import type { ResolvedOptions } from './options.ts'

/** What a validator returns about the requested resource. */
export interface Validator {
  /** Whether the resource exists. Also `false` if the caller is not allowed to see it: the handler then responds as for a missing resource. */
  readonly exists: boolean
  /**
   * The version of the resource, for example of a row, from which the entity tag is created. It must change with every change of the response. If
   * a URL has several media types, or different content for different callers, their versions must differ too.
   */
  readonly etag?: string | number | undefined
  /** The time of the last change; HTTP dates have whole seconds. */
  readonly lastModified?: Date | undefined
}

/**
 * Returns the state of the resource, as cheaply as possible: with a single read of its version. Its request can have the type of the
 * route, for example `(request: FastifyRequest<{ Params: { id: string } }>) => …`.
 */
// Derived from a method, because the parameter of a method may be narrower than that of a function.
export type ValidatorFunction = { validate(request: FastifyRequest): Validator | Promise<Validator> }['validate']

/** The state of a resource that preconditions are compared with. */
export interface CurrentState {
  readonly exists: boolean
  /** The version as the validator returned it. */
  readonly version?: string | undefined
  /** The entity tag without quotes and without the suffix for a content coding; `undefined` if unknown. */
  readonly opaque?: string | undefined
  readonly isWeak: boolean
  /** The time of the last change, in seconds since 1970. */
  readonly lastModified?: number | undefined
}

/** Returns the entity tag for a version, without quotes. Throws a `TypeError` for a version that is not allowed in a tag. */
export function opaqueOf(version: string | number, revision: string): string {
  const opaque = revision === '' ? String(version) : `${version}~${revision}`
  if (readTag(`"${opaque}"`) === undefined || opaque === '') {
    throw new TypeError(
      `conditional-caching: ${JSON.stringify(version)} is not a valid version. Use a number, or a string of visible characters without spaces or quotes.`
    )
  }
  return opaque
}

/** Calls a validator and returns the state, synchronously if the validator is synchronous. Throws a `TypeError` for an invalid result. */
export function callValidator(
  validator: ValidatorFunction,
  request: FastifyRequest,
  options: ResolvedOptions
): CurrentState | Promise<CurrentState> {
  const found = validator(request)
  return isPromise(found) ? Promise.resolve(found).then((later) => currentState(later, options)) : currentState(found, options)
}

function isPromise(found: Validator | Promise<Validator>): found is Promise<Validator> {
  return typeof (found as Partial<Promise<Validator>> | undefined)?.then === 'function'
}

function currentState(found: Validator | undefined, { revision, isWeak }: ResolvedOptions): CurrentState {
  if (typeof found?.exists !== 'boolean') {
    throw new TypeError(
      'conditional-caching: the result of config.validator must have a property exists that is true or false. Return { exists, etag?, lastModified? }.'
    )
  }
  if (!found.exists) return { exists: false, isWeak }
  const { etag, lastModified } = found
  if (lastModified !== undefined && !(lastModified instanceof Date && lastModified.getTime() >= 0)) {
    throw new TypeError('conditional-caching: lastModified in the result of config.validator must be a valid Date since 1970.')
  }
  return {
    exists: true,
    version: etag === undefined ? undefined : String(etag),
    opaque: etag === undefined ? undefined : opaqueOf(etag, revision),
    isWeak,
    lastModified: lastModified && secondsOf(lastModified)
  }
}
