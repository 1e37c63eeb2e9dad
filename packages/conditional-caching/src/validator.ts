import { describeOptions, flag, type OptionsOf, required, value } from '@concordat/plugin-kit/options'
import type { FastifyRequest } from 'fastify'
import { type DatedState, stateDate } from './modification-date.ts'
import { type RepresentationOf, versionTag } from './version-tag.ts'

const validatorResult = describeOptions('conditional-caching', {
  /** Whether the resource exists. Also `false` if the caller is not allowed to see it: the handler then responds as for a missing resource. */
  exists: required(flag()),
  /**
   * The version of the resource, for example of a row: a value, such as a random UUID, that is new with every write and never used again, even if the
   * resource is deleted and created again. If a URL has different content for different callers, their versions must differ too.
   */
  etag: value<string | number>(),
  /**
   * The time of the last change of this state, as it is when the change becomes visible. It must not decrease. Leave it out if a URL has different
   * content for different callers, or if anything in the response can change without it: a date shows neither.
   */
  lastModified: value<Date>()
})

/** What a validator returns about the requested resource. */
export interface Validator extends OptionsOf<typeof validatorResult> {}

/**
 * Returns the state of the resource, as cheaply as possible: with a single read of its version. Its request can have the type of the
 * route, for example `(request: FastifyRequest<{ Params: { id: string } }>) => …`.
 */
// Derived from a method, because the parameter of a method may be narrower than that of a function.
export type ValidatorFunction = { validate(request: FastifyRequest): Validator | Promise<Validator> }['validate']

/** The state of a resource against which preconditions are evaluated. */
export interface CurrentState extends DatedState {
  readonly exists: boolean
  readonly version?: string | undefined
  /** The entity tag of the response without quotes and without the suffix for a content coding; `undefined` if unknown. */
  readonly opaque?: string | undefined
  /** Returns the tag of the response in the language of the request, for a response that does not exist yet. */
  readonly localized?: (() => string) | undefined
  readonly isWeak?: boolean | undefined
}

/** The settings from which the tags of a route are created. */
export interface TagSettings {
  readonly representationOf: RepresentationOf
  readonly localeOf: (request: FastifyRequest) => string
}

/** Calls a validator and returns the state, synchronously if it is synchronous. `readAt` is a time before this call. */
export function callValidator(
  validator: ValidatorFunction,
  request: FastifyRequest,
  settings: TagSettings,
  readAt: number
): CurrentState | Promise<CurrentState> {
  const found = validator(request)
  return typeof (found as Partial<Promise<Validator>> | undefined)?.then === 'function'
    ? Promise.resolve(found).then((later) => currentState(later, request, settings, readAt))
    : currentState(found as Validator, request, settings, readAt)
}

function currentState(
  found: Validator | undefined,
  request: FastifyRequest,
  { representationOf, localeOf }: TagSettings,
  readAt: number
): CurrentState {
  if (typeof found?.exists !== 'boolean') {
    throw new TypeError(
      'conditional-caching: the result of config.validator must have a property exists that is true or false. Return { exists, etag?, lastModified? }.'
    )
  }
  // A misspelt etag would switch off the protection against lost updates. A loop, because it runs in every request.
  for (const name in found) {
    if (!Object.hasOwn(validatorResult.members, name)) validatorResult.read(found, 'the result of config.validator')
  }
  if (!found.exists) return { exists: false, readAt }
  const { etag, lastModified } = found
  if (lastModified !== undefined && !(lastModified instanceof Date && lastModified.getTime() >= 0)) {
    throw new TypeError('conditional-caching: lastModified in the result of config.validator must be a valid Date since the Unix epoch.')
  }
  const dated = { exists: true, readAt, date: lastModified && stateDate(lastModified.getTime()) }
  if (etag === undefined) return dated
  return {
    ...dated,
    version: String(etag),
    opaque: versionTag(etag, representationOf(request)),
    localized: () => versionTag(etag, representationOf(request, { language: localeOf(request) }))
  }
}
