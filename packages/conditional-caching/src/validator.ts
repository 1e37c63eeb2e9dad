import type { FastifyRequest } from 'fastify'
import { readTag } from './entity-tag.ts'
import { secondsOf } from './http-date.ts'
import type { ResolvedOptions } from './options.ts'

/** What a validator knows of the resource that a request is about. */
export interface Validator {
  /** `false` also for what this caller may not see: the handler then answers as for what is missing. */
  readonly exists: boolean
  /**
   * Its version, as the number of a row; becomes the entity tag. Another version for every change of what is answered. Where one URL answers
   * in several media types, or says different things to different callers, these differ in their versions too.
   */
  readonly etag?: string | number | undefined
  /** When it last changed; HTTP counts in whole seconds. */
  readonly lastModified?: Date | undefined
}

/**
 * Finds out about the resource, as cheaply as it can: by one read of its version. Its request may be typed by the route, as
 * `(request: FastifyRequest<{ Params: { id: string } }>) => …`.
 */
// Taken from a method, whose parameter may be narrower than that of a function.
export type ValidatorFunction = { ask(request: FastifyRequest): Validator | Promise<Validator> }['ask']

/** The state of a resource, as preconditions are compared with it. */
export interface CurrentState {
  readonly exists: boolean
  /** As the validator gave it. */
  readonly version?: string | undefined
  /** The tag without quotes and without a coding; `undefined` where none is known. */
  readonly opaque?: string | undefined
  readonly isWeak: boolean
  /** In seconds since 1970. */
  readonly lastModified?: number | undefined
}

/** The text of a tag for a version. Throws a `TypeError` for a version that can't stand in one. */
export function opaqueOf(version: string | number, revision: string): string {
  const opaque = revision === '' ? String(version) : `${version}~${revision}`
  if (readTag(`"${opaque}"`) === undefined || opaque === '') {
    throw new TypeError(
      `conditional-caching: ${JSON.stringify(version)} is no version. Give a number, or a text of visible characters without spaces and quotes.`
    )
  }
  return opaque
}

/** Asks a validator; the answer is there at once when the validator is not asynchronous. Throws a `TypeError` for what makes no sense. */
export function askValidator(
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
    throw new TypeError('conditional-caching: a validator answered without exists. Give { exists, etag?, lastModified? }.')
  }
  if (!found.exists) return { exists: false, isWeak }
  const { etag, lastModified } = found
  if (lastModified !== undefined && !(lastModified instanceof Date && lastModified.getTime() >= 0)) {
    throw new TypeError('conditional-caching: the lastModified of a validator is no date since 1970. Give a Date.')
  }
  return {
    exists: true,
    version: etag === undefined ? undefined : String(etag),
    opaque: etag === undefined ? undefined : opaqueOf(etag, revision),
    isWeak,
    lastModified: lastModified && secondsOf(lastModified)
  }
}
