/** State of a job. The last three are final, except that an operator can start a failed job again. */
export type JobState = 'queued' | 'processing' | 'completed' | 'failed' | 'cancelled'

/** Event that changes the state of a job. */
export type JobEvent = 'begin' | 'retry' | 'handBack' | 'complete' | 'fail' | 'cancel' | 'restart'

/**
 * All events, the states in which each is allowed, and the state that follows. `begin`: a worker starts the job, also after the previous worker was lost.
 * `retry`: the handler threw an error, and attempts remain. `handBack`: the worker stops, which does not count as an attempt.
 * `restart`: an operator starts a failed job again.
 */
export const transitions: Readonly<Record<JobEvent, { readonly from: readonly JobState[]; readonly to: JobState }>> = {
  begin: { from: ['queued', 'processing'], to: 'processing' },
  retry: { from: ['processing'], to: 'queued' },
  handBack: { from: ['processing'], to: 'queued' },
  complete: { from: ['processing'], to: 'completed' },
  fail: { from: ['queued', 'processing'], to: 'failed' },
  cancel: { from: ['queued', 'processing'], to: 'cancelled' },
  restart: { from: ['failed'], to: 'queued' }
}

/** Returns whether the state is final. */
export function isOver(state: JobState): boolean {
  return state !== 'queued' && state !== 'processing'
}
