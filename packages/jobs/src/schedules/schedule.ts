import { callback, describeOptions, integer, type OptionsOf, oneOf, required, value } from '@concordat/plugin-kit/options'
import { jobsErrors } from '../errors.ts'
import type { Job } from '../job.ts'
import type { SchemaCheck } from '../schema-check.ts'
import { cronTiming, intervalTiming, type Timing } from './occurrences.ts'

/** One of the times at which a schedule starts its job. */
export interface Occurrence {
  /** The planned time, also when the run starts later. */
  readonly plannedAt: Date
  /** The date of the planned time in the zone of the schedule: `2026-03-29`. In UTC for an interval. */
  readonly localDate: string
}

/** The description of {@link ScheduleOptions}. */
export const scheduleOptions = describeOptions('jobs', {
  /** Kebab case, for example `nightly-report`. The times are stored under it, so do not change it. */
  name: required(value<string>()),
  /** Five fields: minute, hour, day of the month, month, day of the week, for example `30 2 * * *`. */
  cron: value<string>(),
  /** The time zone of `cron`, a name such as `Europe/Berlin`, or `UTC`. */
  zone: value<string>(),
  /** In place of `cron`: the interval. The runs are at its multiples since 1970 in UTC, for example each full hour with 3600. */
  everySeconds: integer({ min: 1, max: 31_536_000 }),
  /** Returns the input of the job. By default it is null. */
  input: callback<(occurrence: Occurrence) => unknown>('returns the input of the job', { default: () => null }),
  /** What becomes of the runs that no process could start: the last of them starts late, none does, or each does. */
  missed: oneOf(['once', 'skip', 'all'], { default: 'once' }),
  /** How many missed runs start with `missed: 'all'`: the last ones, in their order. */
  maxMissed: integer({ default: 100, min: 1, max: 1000 }),
  /** Whether a run starts while the last one has not ended: no, when it has ended, or yes. By default `skip`, and `wait` with `missed: 'all'`. */
  overlap: oneOf(['skip', 'wait', 'allow'], {})
})

/** What {@link ScheduleOptions} has of its description. */
interface DescribedSchedule extends OptionsOf<typeof scheduleOptions> {}

/** Options of `app.jobs.schedule()`. */
export type ScheduleOptions<Input> = Omit<DescribedSchedule, 'input'> &
  (null extends Input
    ? { readonly input?: ((occurrence: Occurrence) => Input) | undefined }
    : { readonly input: (occurrence: Occurrence) => Input })

/** A valid schedule. */
export interface Schedule {
  readonly name: string
  readonly job: Job
  readonly timing: Timing
  readonly missed: 'once' | 'skip' | 'all'
  readonly maxMissed: number
  readonly overlap: 'skip' | 'wait' | 'allow'
  readonly input: (plannedAt: number) => unknown
}

/** Returns the schedule of the options. Throws a `TypeError` of one line when an option is invalid, or the job would refuse the input. */
export function readSchedule(job: Job, checkInput: SchemaCheck, options: OptionsOf<typeof scheduleOptions>): Schedule {
  const { name } = options
  const place = `schedule "${name}": options`
  const { cron, zone, everySeconds, input, missed, maxMissed, overlap } = scheduleOptions.read(options, place)
  if (typeof name !== 'string' || !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 100)
    throw new TypeError(
      `jobs: the schedule name "${name}" is invalid. Use kebab case and at most 100 characters, for example nightly-report.`
    )
  if ((cron === undefined) === (everySeconds === undefined))
    throw new TypeError(`jobs: ${place} must have either cron with a zone, or everySeconds.`)
  if (everySeconds !== undefined && zone !== undefined)
    throw new TypeError(`jobs: ${place}.zone is set, but an interval has no time zone. Remove it, or use cron.`)
  if (missed === 'all' && overlap === 'skip')
    throw new TypeError(`jobs: ${place}.overlap is "skip", but with missed "all" each run starts. Use "wait" or "allow".`)
  if (missed !== 'all' && options.maxMissed !== undefined)
    throw new TypeError(`jobs: ${place}.maxMissed is set, but missed is "${missed}". Remove it, or set missed to "all".`)
  const timing = everySeconds === undefined ? cronTiming(`jobs: ${place}`, String(cron), zone) : intervalTiming(everySeconds)
  const inputAt = (time: number) => input({ plannedAt: new Date(time), localDate: timing.dateOf(time) })
  requireInput(`jobs: ${place}.input`, job, checkInput, () => inputAt(timing.next(Date.now())))
  return { name, job, timing, missed, maxMissed, overlap: overlap ?? (missed === 'all' ? 'wait' : 'skip'), input: inputAt }
}

function requireInput(place: string, { name }: Job, checkInput: SchemaCheck, input: () => unknown) {
  const [problem] = jobsErrors.create('JOB_INPUT_INVALID', { errors: checkInput(input()) }).errors
  if (problem !== undefined)
    throw new TypeError(
      `${place} returns a value that the job "${name}" refuses: ${problem.field.replace('body', 'input')} ${problem.message}.`
    )
}
