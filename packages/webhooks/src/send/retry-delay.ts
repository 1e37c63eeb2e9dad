import { type AttemptResult, isFinal, outcomeOf } from './attempt-result.ts'

/** The schedule of Standard Webhooks 1.0 with more attempts at the start, for receivers that are restarted. */
export const defaultSchedule = [0, 5, 30, 120, 600, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]

const longestWaitSeconds = 86_400
const longestDelaySeconds = 30 * 86_400
// Up to a fifth later and never earlier, so that deliveries that failed together are not retried together.
const jitter = 0.2

/** Returns the pause that a throttled receiver asks for, in seconds, up to a day; 0 for none. */
export function requestedPauseSeconds(result: AttemptResult): number {
  return outcomeOf(result) === 'throttled' ? Math.min(result.retryAfterSeconds ?? 0, longestWaitSeconds) : 0
}

/** Returns the milliseconds until the next attempt after `attempts`, at least the requested pause; undefined when no attempt follows. */
export function retryDelay(schedule: readonly number[], attempts: number, result: AttemptResult): number | undefined {
  const planned = schedule[attempts]
  if (isFinal(result) || planned === undefined) return undefined
  return withJitter(Math.max(planned, requestedPauseSeconds(result)) * 1000)
}

/** Returns the delay, up to a fifth longer. */
export function withJitter(milliseconds: number): number {
  return Math.ceil(milliseconds * (1 + jitter * Math.random()))
}

/** Returns a copy of a valid schedule. */
export function requireSchedule(schedule: readonly number[]): readonly number[] {
  const isList = Array.isArray(schedule) && schedule.length > 0 && schedule.length <= 50
  if (isList && schedule.every((seconds) => Number.isFinite(seconds) && seconds >= 0 && seconds <= longestDelaySeconds))
    return [...schedule]
  throw new TypeError(
    `webhooks: options.scheduleSeconds must be an array of 1 to 50 numbers of seconds, for example [0, 5, 300], but is ${JSON.stringify(schedule)}.`
  )
}
