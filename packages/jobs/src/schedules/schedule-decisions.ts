import type { Transaction } from '@concordat/work-queue'
import type { FastifyBaseLogger } from 'fastify'
import type { Settings } from '../options.ts'
import type { SchemaCheck } from '../schema-check.ts'
import { addJob, freshJob } from '../start-job.ts'
import type { ScheduleDecision } from '../stores/schedule-store.ts'
import { type DueRun, lateMs } from './due-run.ts'
import type { Schedule } from './schedule.ts'

/** Runs of schedules, by what became of them. */
const occurrences = {
  name: 'concordat.schedule.occurrences',
  unit: '{occurrence}',
  description: 'Occurrences of schedules: started, late, missed, skipped, paused or failed.'
}

/** A schedule with the check of its job's input. */
export interface ScheduledJob {
  readonly schedule: Schedule
  readonly checkInput: SchemaCheck
}

/** Creates the function that starts the job of a run that is due, or notes why it does not start, and returns what to store about it. */
export function scheduleDecisions(settings: Settings, log: FastifyBaseLogger) {
  const { queue, observer } = settings

  return async (job: ScheduledJob, due: Exclude<DueRun, { kind: 'wait' }>, now: number, transaction: Transaction | undefined) => {
    const { name } = job.schedule
    const { nextAt } = due
    const note = (outcome: string) => observer?.count(occurrences, { 'schedule.name': name, outcome })
    const passed: ScheduleDecision = { nextAt, endsRequest: due.kind === 'run' && due.isRequested }
    if (due.kind === 'missed' || (due.kind === 'run' && due.passed)) {
      log.warn({ schedule: name }, 'jobs: runs of a schedule were missed')
      note('missed')
    }
    if (due.kind !== 'run') {
      if (due.kind === 'skipped') log.warn({ schedule: name }, 'jobs: a run of a schedule was skipped because the last one has not ended')
      if (due.kind !== 'missed') note(due.kind)
      return passed
    }
    const fresh = freshOf(job, due)
    if (fresh === undefined) {
      note('failed')
      return passed
    }
    await addJob(job.schedule.job, fresh, queue.capabilities.transactional ? transaction : undefined, settings)
    note(now - due.at > lateMs ? 'late' : 'started')
    return { ...passed, lastAt: due.at, lastJobId: fresh.id }
  }

  // An input that is wrong does not become right with the next check.
  function freshOf({ schedule, checkInput }: ScheduledJob, { at, isRequested }: Extract<DueRun, { kind: 'run' }>) {
    const { name, job, input } = schedule
    const key = JSON.stringify([name, at, isRequested])
    try {
      return freshJob(job, checkInput, input(at), { owner: '', key }, settings)
    } catch (err) {
      log.error({ err, schedule: name, plannedAt: new Date(at) }, 'jobs: a schedule could not start its job, because its input is wrong')
      return undefined
    }
  }
}
