/** Where a job is. The last three are final. */
export type JobState = 'queued' | 'processing' | 'completed' | 'failed' | 'cancelled'

/** What can happen to a job. */
export type JobEvent = 'begin' | 'retry' | 'handBack' | 'complete' | 'fail' | 'cancel'

/**
 * Everything that can happen to a job, the states in which it can, and the state that follows. What is not listed changes nothing: a change
 * is one comparison and one write, so that of two that happen at once exactly one does, and a crash leaves the state before or after it.
 *
 * - `begin`: a worker takes it up; also one that is processing, when its worker was lost.
 * - `retry`: its handler threw, and tries are left. `handBack`: its worker stops; that costs no try.
 * - `complete`, `fail`: its handler is through, or no try is left. `cancel`: its owner has deleted it.
 */
export const transitions: Readonly<Record<JobEvent, { readonly from: readonly JobState[]; readonly to: JobState }>> = {
  begin: { from: ['queued', 'processing'], to: 'processing' },
  retry: { from: ['processing'], to: 'queued' },
  handBack: { from: ['processing'], to: 'queued' },
  complete: { from: ['processing'], to: 'completed' },
  fail: { from: ['queued', 'processing'], to: 'failed' },
  cancel: { from: ['queued', 'processing'], to: 'cancelled' }
}

/** Nothing happens to it any more. */
export function isOver(state: JobState): boolean {
  return state !== 'queued' && state !== 'processing'
}
