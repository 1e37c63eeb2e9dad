import type { StoredSchedule } from '../schedule-store.ts'
import { isOver } from '../states.ts'
import type { Timing } from './occurrences.ts'
import type { Schedule } from './schedule.ts'

/** A run is late, or missed, when it starts this long after its planned time. */
export const lateMs = 60_000

/** What becomes of a schedule now. */
export type DueRun =
  /** The last run has not ended. */
  | { readonly kind: 'wait' }
  /** A run starts. `passed`: others before it were missed. */
  | { readonly kind: 'run'; readonly at: number; readonly nextAt: number; readonly isRequested: boolean; readonly passed: boolean }
  /** The occurrence passes without a run. */
  | { readonly kind: 'missed' | 'skipped' | 'paused'; readonly nextAt: number }

/** Returns what becomes of a schedule at a time, or undefined while nothing is due. */
export function dueRun({ timing, missed, maxMissed, overlap }: Schedule, row: StoredSchedule, now: number): DueRun | undefined {
  const { nextAt, requestedAt, isPaused, lastJob } = row
  const isRunning = overlap !== 'allow' && lastJob !== undefined && !isOver(lastJob.state)
  if (requestedAt !== undefined && !isRunning) return { kind: 'run', at: requestedAt, nextAt, isRequested: true, passed: false }
  if (nextAt > now) return requestedAt === undefined ? undefined : { kind: 'wait' }
  if (isPaused) return { kind: 'paused', nextAt: timing.next(now) }
  const due = lastDue(timing, nextAt, now, missed === 'all' ? maxMissed : 1)
  const at = due[0] ?? nextAt
  if (missed === 'skip' && now - at > lateMs) return { kind: 'missed', nextAt: timing.next(now) }
  if (isRunning) return overlap === 'wait' ? { kind: 'wait' } : { kind: 'skipped', nextAt: timing.next(at) }
  return { kind: 'run', at, nextAt: timing.next(at), isRequested: false, passed: at > nextAt }
}

/** Returns the last occurrences from `first` to `now`, at most `count`, without going through all of a long outage. */
function lastDue(timing: Timing, first: number, now: number, count: number) {
  for (let spanMs = count * 60_000; ; spanMs *= 2) {
    const start = Math.max(first - 1, now - spanMs)
    const found: number[] = []
    for (let at = timing.next(start); at <= now; at = timing.next(at)) found.push(at)
    if (found.length >= count || start === first - 1) return found.slice(-count)
  }
}
