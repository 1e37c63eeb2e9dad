import { type AttemptResult, verdictOf } from './attempt-result.ts'

/** The schedule of Standard Webhooks 1.0: the seconds before each of ten attempts, 75 hours and 35 minutes in all. */
export const standardSchedule: readonly number[] = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]

const longestWaitSeconds = 86_400
const longestDelaySeconds = 30 * 86_400
// Up to a fifth later and never earlier, so that what failed together doesn't come back together.
const jitter = 0.2

/**
 * The milliseconds until the next attempt after `attempts` have failed, or undefined when the schedule has no more. What a throttled
 * receiver asks for counts when it is longer than the schedule, up to a day.
 */
export function retryDelay(schedule: readonly number[], attempts: number, result: AttemptResult, random: () => number): number | undefined {
  const planned = schedule[attempts]
  if (planned === undefined) return undefined
  const asked = verdictOf(result) === 'throttled' ? Math.min(result.retryAfterSeconds ?? 0, longestWaitSeconds) : 0
  return withJitter(Math.max(planned, asked) * 1000, random)
}

/** That long, or up to a fifth longer. */
export function withJitter(milliseconds: number, random: () => number): number {
  return Math.ceil(milliseconds * (1 + jitter * random()))
}

/** Throws a `TypeError` of one line for a schedule that makes no sense. */
export function requireSchedule(schedule: readonly number[]): readonly number[] {
  const isList = Array.isArray(schedule) && schedule.length > 0 && schedule.length <= 50
  if (isList && schedule.every((seconds) => Number.isFinite(seconds) && seconds >= 0 && seconds <= longestDelaySeconds))
    return [...schedule]
  throw new TypeError(`webhooks: scheduleSeconds is ${JSON.stringify(schedule)}. Give 1 to 50 numbers of seconds, as [0, 5, 300].`)
}
