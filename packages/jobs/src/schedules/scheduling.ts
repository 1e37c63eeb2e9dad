import { contribute } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance } from 'fastify'
import type { Job } from '../job.ts'
import type { Settings } from '../options.ts'
import type { ServedJobs } from '../served-jobs.ts'
import type { StoredSchedule } from '../stores/schedule-store.ts'
import { readSchedule, type ScheduleOptions } from './schedule.ts'
import type { ScheduledJob } from './schedule-decisions.ts'
import { scheduleGauges } from './schedule-gauges.ts'
import { scheduler } from './scheduler.ts'

/** API of `app.jobs.schedules`, for operators. */
export interface Schedules {
  /** Returns the stored schedules, also those that no process declares any more: at most 1,000, by name. */
  list(): Promise<readonly StoredSchedule[]>
  /** Lets the occurrences of a schedule pass. Returns false for an unknown one. */
  pause(name: string): Promise<boolean>
  /** Continues with the next occurrence. Returns false for an unknown schedule. */
  resume(name: string): Promise<boolean>
  /** Starts a run now, also of a paused schedule, or when the last run has ended. Returns false for an unknown one. */
  run(name: string): Promise<boolean>
}

/** Creates what starts jobs by schedules, and does nothing without a schedule. */
export function scheduling(app: FastifyInstance, settings: Settings, served: ServedJobs) {
  const all: ScheduledJob[] = []
  let runs: ReturnType<typeof scheduler> | undefined
  let isReady = false
  const { now } = settings

  function storeOf() {
    const { schedules } = settings.store
    if (schedules === undefined)
      throw new TypeError('jobs: options.store cannot store schedules. Add the member schedules, or use postgresJobStore(database).')
    return schedules
  }

  async function change(name: string, changes: { readonly isPaused: boolean } | { readonly requestedAt: number }) {
    const isKnown = await storeOf().change(name, changes)
    runs?.check()
    return isKnown
  }

  return {
    hasSchedules: () => all.length > 0,
    schedule<Input>(instance: FastifyInstance, job: Job<Input>, options: ScheduleOptions<Input>) {
      const store = storeOf()
      const { checkInput } = served.define(job as Job<unknown>, Object.values(instance.getSchemas()) as object[])
      const schedule = readSchedule(job, checkInput, options)
      if (isReady) throw new TypeError(`jobs: the schedule "${schedule.name}" was added after the start. Add it before app.ready().`)
      if (all.some((other) => other.schedule.name === schedule.name))
        throw new TypeError(`jobs: the schedule name "${schedule.name}" is used twice. Rename one of the schedules.`)
      if (all.length === 0)
        contribute(
          app,
          'gauges',
          scheduleGauges(store, () => all.map(({ schedule: { name } }) => name), now)
        )
      all.push({ schedule, checkInput })
    },
    schedules: {
      list: () => storeOf().list(),
      pause: (name) => change(name, { isPaused: true }),
      resume: (name) => change(name, { isPaused: false }),
      run: (name) => change(name, { requestedAt: now() })
    } satisfies Schedules,
    async begin() {
      isReady = true
      if (all.length === 0 || !settings.worker) return
      runs = scheduler(all, storeOf(), settings, app.log)
      await runs.start()
    },
    end: async () => runs?.stop()
  }
}
