import type { Stop } from '@concordat/work-queue'
import type { FastifyInstance } from 'fastify'
import type { Settings } from './options.ts'
import { runJob } from './run-job.ts'
import type { scheduling } from './schedules/scheduling.ts'
import type { ServedJobs } from './served-jobs.ts'
import { queueOf, slotsOf } from './start-job.ts'

/** Creates the functions that start the workers of the jobs, and stop them. */
export function workers(app: FastifyInstance, settings: Settings, served: ServedJobs, scheduled: ReturnType<typeof scheduling>) {
  const { queue, worker, stopGraceSeconds, knowsOwners } = settings
  const stops: Stop[] = []

  return {
    async begin() {
      const isForSchedules = scheduled.hasSchedules() && served.all.every(({ places }) => places.length === 0)
      if (!knowsOwners() && !isForSchedules)
        throw new TypeError(
          "jobs: options.owner is missing. Set it to a function that returns the client's id, or register authentication."
        )
      for (const { job, checkResult } of served.all) {
        await queue.define(queueOf(job))
        if (worker) stops.push(queue.work(queueOf(job), runJob(job, checkResult, settings, app.log), slotsOf(job)))
      }
      await scheduled.begin()
    },
    async end() {
      await scheduled.end()
      await Promise.all(stops.map((stop) => stop(stopGraceSeconds)))
    }
  }
}
