import type { IncomingHttpHeaders } from 'node:http'
import { codingOf, isAcceptable } from './content-coding.ts'
import { type EntityTag, readTagList, writeTag } from './entity-tag.ts'
import type { FailureReason } from './errors.ts'
import { readHttpDate } from './http-date.ts'
import { isUnmodified, representationDate } from './modification-date.ts'
import type { Settings } from './options.ts'
import type { CurrentState } from './validator.ts'
import { isAboutVersion } from './version-tag.ts'

/** The settings, and whether the method is GET or HEAD, for which an unchanged resource results in 304. */
export type Comparison = Settings & { readonly isRead: boolean }

/** The result of evaluating the preconditions of a request. */
export type Outcome =
  | { readonly kind: 'proceed' }
  /** `tag` is the client's tag that still matches, or the current tag. */
  | { readonly kind: 'unchanged'; readonly tag: string | undefined }
  | { readonly kind: 'failed'; readonly reason: FailureReason }

const proceed: Outcome = { kind: 'proceed' }

/** Returns whether a request has a precondition that compares entity tags: `If-Match` or `If-None-Match`. */
export function comparesTags(headers: IncomingHttpHeaders): boolean {
  return headers['if-match'] !== undefined || headers['if-none-match'] !== undefined
}

/** Returns whether a request has any precondition. */
export function isConditional(headers: IncomingHttpHeaders): boolean {
  return comparesTags(headers) || headers['if-modified-since'] !== undefined || headers['if-unmodified-since'] !== undefined
}

/** Returns the entity tag of the current state, with quotes, or `undefined` if the tag is unknown. */
export function tagOf({ opaque, isWeak }: CurrentState): string | undefined {
  return opaque === undefined ? undefined : writeTag(opaque, isWeak)
}

/** Evaluates the preconditions of a request in the order of RFC 9110 §13.2.2. */
export function evaluate(headers: IncomingHttpHeaders, state: CurrentState, comparison: Comparison): Outcome {
  if (!isConditional(headers)) return proceed
  // A read of a resource without a tag gets the full response; a write must not proceed, because nothing else would stop it.
  if (comparison.isRead && state.opaque === undefined && comparesTags(headers)) return proceed
  const reason = guardFailure(headers, state, comparison)
  if (reason !== undefined) return { kind: 'failed', reason }
  if (headers['if-none-match'] !== undefined) return exclusion(headers['if-none-match'], headers, state, comparison)
  const since = comparison.isRead ? dateOf(headers['if-modified-since']) : undefined
  const date = representationDate(state, comparison.representationChangedAt)
  return since !== undefined && date !== undefined && date <= since ? { kind: 'unchanged', tag: tagOf(state) } : proceed
}

// Steps 1 and 2: the state that the client has seen must still be current.
function guardFailure(headers: IncomingHttpHeaders, state: CurrentState, comparison: Comparison): FailureReason | undefined {
  if (headers['if-match'] !== undefined) return matchFailure(headers['if-match'], state, comparison)
  const since = dateOf(headers['if-unmodified-since'])
  return since === undefined || isUnmodified(state, since) ? undefined : 'changed'
}

function matchFailure(field: string, state: CurrentState, { takesWeak }: Comparison): FailureReason | undefined {
  const list = readTagList(field)
  if (list === undefined) return 'malformed'
  if (!state.exists) return 'changed'
  if (list === '*') return undefined
  const { opaque, version } = state
  if (opaque === undefined) return 'unversioned'
  const same = list.filter((tag) => namesState(tag, opaque, version))
  if (same.length === 0) return 'changed'
  return takesWeak || (!state.isWeak && same.some(({ isWeak }) => !isWeak)) ? undefined : 'weak'
}

// Step 3: the versions that the client has already, or excludes.
function exclusion(field: string, headers: IncomingHttpHeaders, state: CurrentState, { isRead }: Comparison): Outcome {
  const list = readTagList(field)
  // A full response to a read does no harm. A write must not pass a condition that cannot be parsed.
  if (list === undefined) return isRead ? proceed : { kind: 'failed', reason: 'malformed' }
  if (!state.exists) return proceed
  if (list === '*') return isRead ? { kind: 'unchanged', tag: tagOf(state) } : { kind: 'failed', reason: 'exists' }
  const { opaque, version, isWeak } = state
  if (opaque === undefined) return { kind: 'failed', reason: 'unversioned' }
  if (!isRead) return list.some((tag) => namesState(tag, opaque, version)) ? { kind: 'failed', reason: 'exists' } : proceed
  const held = list.find((tag) => {
    const coding = codingOf(tag.opaque, opaque) ?? (state.localized && codingOf(tag.opaque, state.localized()))
    // A cache updates the response stored under exactly this tag (RFC 9111 §4.3.4), so this client must accept its coding.
    return coding !== undefined && isAcceptable(coding, headers['accept-encoding'])
  })
  return held === undefined ? proceed : { kind: 'unchanged', tag: writeTag(held.opaque, isWeak) }
}

// For a change, the state counts: a client may change a resource of which it has another representation.
function namesState(tag: EntityTag, opaque: string, version: string | undefined) {
  return version === undefined ? codingOf(tag.opaque, opaque) !== undefined : isAboutVersion(tag.opaque, version)
}

function dateOf(field: string | undefined) {
  return field === undefined ? undefined : readHttpDate(field)
}
