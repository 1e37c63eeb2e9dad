import { outageLog } from '@concordat/plugin-kit/outage-log'
import { systemClock, type Transaction } from '@concordat/work-queue'
import type { FastifyBaseLogger } from 'fastify'
import type { Settings } from '../options.ts'
import type { SchemaCheck } from '../schema-check.ts'
import { addJob, freshJob, queueOf } from '../start-job.ts'
import {
  type DeclaredSchedule,
  type ScheduleDecision,
  type ScheduleStore,
  type StoredSchedule,
  seenMs,
  staleMs
} from '../stores/schedule-store.ts'
import { type DueRun, dueRun, lateMs } from './due-run.ts'
import type { Schedule } from './schedule.ts'

// A change of the clock, or of a row by another process, is found at the next check.
const [checkMs, sharedCheckMs] = [60_000, 5000]
// While another process decides, or a run waits for the last one.
const recheckMs = 1000
const retentionMs = 30 * 86_400_000

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

/** Starts the jobs of schedules when they are due. */
export function scheduler(all: readonly ScheduledJob[], store: ScheduleStore, settings: Settings, log: FastifyBaseLogger) {
  const { queue, observer } = settings
  const { clock = systemClock, capabilities } = queue
  const names = all.map(({ schedule }) => schedule.name)
  const report = outageLog(log)
  const state = { isStopped: false, isWanted: false }
  let running: Promise<void> | undefined
  let forget: (() => void) | undefined
  const unfollow = clock.follow?.({ moveBy: async () => {}, isBusy: () => running !== undefined })

  function check() {
    forget?.()
    state.isWanted = true
    running ??= checks().finally(() => {
      running = undefined
    })
  }

  async function checks() {
    let waitMs = checkMs
    while (state.isWanted && !state.isStopped) {
      state.isWanted = false
      waitMs = await checkAll().catch((error: unknown) => {
        report(error, 'jobs: the schedules could not be checked')
        return sharedCheckMs
      })
    }
    if (!state.isStopped) forget = clock.after(Math.max(waitMs, 1), check)
  }

  /** Starts what is due, and returns the time until the next check. */
  async function checkAll() {
    const now = clock.now()
    let rows = await store.list(names)
    if (!all.every(({ schedule }) => isCurrent(schedule, rows, now))) {
      await store.declare(all.map(declared), now, false)
      await store.sweep(now - retentionMs)
      rows = await store.list(names)
    }
    let nextAt = now + (capabilities.distributed ? sharedCheckMs : checkMs)
    for (const job of all) {
      const row = rows.find(({ name, timing }) => name === job.schedule.name && timing === job.schedule.timing.text)
      if (row !== undefined) nextAt = Math.min(nextAt, dueRun(job.schedule, row, now) === undefined ? row.nextAt : await runDue(job))
    }
    return nextAt - clock.now()
  }

  /** Starts each run of a schedule that is due, and returns the time of the next check. */
  async function runDue(job: ScheduledJob): Promise<number> {
    const { name, timing, job: type } = job.schedule
    for (;;) {
      let checkAt = clock.now() + recheckMs
      let isStarted = false
      await store.decide(name, async (row, transaction) => {
        const now = clock.now()
        const due = row.timing === timing.text ? dueRun(job.schedule, row, now) : undefined
        if (due === undefined || due.kind === 'wait') return undefined
        checkAt = due.nextAt
        isStarted = due.kind === 'run'
        return decisionOf(job, due, now, transaction)
      })
      if (isStarted) queue.kick(queueOf(type))
      if (checkAt > clock.now() || state.isStopped) return checkAt
    }
  }

  async function decisionOf(job: ScheduledJob, due: Exclude<DueRun, { kind: 'wait' }>, now: number, transaction: Transaction | undefined) {
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
    await addJob(job.schedule.job, fresh, capabilities.transactional ? transaction : undefined, settings)
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

  function declared({ schedule: { name, job, timing } }: ScheduledJob): DeclaredSchedule {
    return { name, job: job.name, timing: timing.text, nextAt: timing.next(clock.now()) }
  }

  return {
    check,
    async start() {
      await store.declare(all.map(declared), clock.now(), true)
      check()
    },
    async stop() {
      state.isStopped = true
      forget?.()
      await running
      unfollow?.()
    }
  }
}

/** Whether a process declared the schedule lately, by a clock that agrees with ours. Another timing is that of another release, while its processes run. */
function isCurrent({ name, timing }: Schedule, rows: readonly StoredSchedule[], now: number) {
  const row = rows.find((stored) => stored.name === name)
  return row !== undefined && Math.abs(now - row.seenAt) <= (row.timing === timing.text ? seenMs : staleMs)
}
