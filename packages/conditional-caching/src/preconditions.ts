import type { IncomingHttpHeaders } from 'node:http'
import { codingOf, isAcceptable } from './content-coding.ts'
import { readTagList, writeTag } from './entity-tag.ts'
import type { FailureReason } from './errors.ts'
import { readHttpDate } from './http-date.ts'
import type { CurrentState } from './validator.ts'

/** How preconditions are compared. */
export interface Comparison {
  /** GET and HEAD, for which an unchanged resource is 304. */
  readonly isRead: boolean
  /** `If-Match` takes weak tags too. */
  readonly takesWeak: boolean
  readonly now: () => number
}

/** What comes of the preconditions of a request. */
export type Outcome =
  | { readonly kind: 'proceed' }
  /** `tag` is the one of the client's that still holds, or the current one. */
  | { readonly kind: 'unchanged'; readonly tag: string | undefined }
  | { readonly kind: 'failed'; readonly reason: FailureReason }

const proceed: Outcome = { kind: 'proceed' }

/** Whether a request has a precondition about tags, which only a known tag can answer. */
export function comparesTags(headers: IncomingHttpHeaders): boolean {
  return headers['if-match'] !== undefined || headers['if-none-match'] !== undefined
}

/** Whether a request has any precondition. */
export function isConditional(headers: IncomingHttpHeaders): boolean {
  return comparesTags(headers) || headers['if-modified-since'] !== undefined || headers['if-unmodified-since'] !== undefined
}

/** The tag of a state with its quotes, or `undefined` where none is known. */
export function tagOf({ opaque, isWeak }: CurrentState): string | undefined {
  return opaque === undefined ? undefined : writeTag({ opaque, isWeak })
}

/** Evaluates the preconditions of a request in the order of RFC 9110 §13.2.2. */
export function evaluate(headers: IncomingHttpHeaders, state: CurrentState, comparison: Comparison): Outcome {
  // A read of what has no tag is answered in full; a write has nothing else to stop it.
  if (comparison.isRead && state.opaque === undefined && comparesTags(headers)) return proceed
  const reason = guardFailure(headers, state, comparison)
  if (reason !== undefined) return { kind: 'failed', reason }
  if (headers['if-none-match'] !== undefined) return exclusion(headers['if-none-match'], headers, state, comparison)
  const since = comparison.isRead ? dateOf(headers['if-modified-since'], comparison) : undefined
  const isUnchanged = since !== undefined && state.lastModified !== undefined && state.lastModified <= since
  return isUnchanged ? { kind: 'unchanged', tag: tagOf(state) } : proceed
}

// Steps 1 and 2: what the client has seen must still be so.
function guardFailure(headers: IncomingHttpHeaders, state: CurrentState, comparison: Comparison): FailureReason | undefined {
  if (headers['if-match'] !== undefined) return matchFailure(headers['if-match'], state, comparison)
  const since = dateOf(headers['if-unmodified-since'], comparison)
  return since !== undefined && state.lastModified !== undefined && state.lastModified > since ? 'changed' : undefined
}

function matchFailure(field: string, state: CurrentState, { takesWeak }: Comparison): FailureReason | undefined {
  const list = readTagList(field)
  if (list === undefined) return 'malformed'
  if (!state.exists) return 'changed'
  if (list === '*') return undefined
  const { opaque } = state
  if (opaque === undefined) return 'unversioned'
  const same = list.filter((tag) => codingOf(tag.opaque, opaque) !== undefined)
  if (same.length === 0) return 'changed'
  return takesWeak || (!state.isWeak && same.some(({ isWeak }) => !isWeak)) ? undefined : 'weak'
}

// Step 3: what the client has already, or does not want to meet.
function exclusion(field: string, headers: IncomingHttpHeaders, state: CurrentState, { isRead }: Comparison): Outcome {
  const list = readTagList(field)
  // A read loses nothing when it is answered in full. A write is not let through by a guard that can't be read.
  if (list === undefined) return isRead ? proceed : { kind: 'failed', reason: 'malformed' }
  if (!state.exists) return proceed
  if (list === '*') return isRead ? { kind: 'unchanged', tag: tagOf(state) } : { kind: 'failed', reason: 'exists' }
  const { opaque, isWeak } = state
  if (opaque === undefined) return { kind: 'failed', reason: 'unversioned' }
  const held = list.find((tag) => {
    const coding = codingOf(tag.opaque, opaque)
    // A cache updates what it holds under just that tag (RFC 9111 §4.3.4), so it must be in a coding that this client reads.
    return coding !== undefined && (!isRead || isAcceptable(coding, headers['accept-encoding']))
  })
  if (held === undefined) return proceed
  return isRead ? { kind: 'unchanged', tag: writeTag({ opaque: held.opaque, isWeak }) } : { kind: 'failed', reason: 'exists' }
}

function dateOf(field: string | undefined, { now }: Comparison) {
  return field === undefined ? undefined : readHttpDate(field, now)
}
