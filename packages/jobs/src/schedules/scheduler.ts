import { outageLog } from '@concordat/plugin-kit/outage-log'
import { systemClock } from '@concordat/work-queue'
import type { FastifyBaseLogger } from 'fastify'
import type { Settings } from '../options.ts'
import { queueOf } from '../start-job.ts'
import { type DeclaredSchedule, type ScheduleStore, type StoredSchedule, seenMs, staleMs } from '../stores/schedule-store.ts'
import { dueRun } from './due-run.ts'
import type { Schedule } from './schedule.ts'
import { type ScheduledJob, scheduleDecisions } from './schedule-decisions.ts'

// A change of the clock, or of a row by another process, is found at the next check.
const [checkMs, sharedCheckMs] = [60_000, 5000]
// While another process decides, or a run waits for the last one.
const recheckMs = 1000
const retentionMs = 30 * 86_400_000

/** Starts the jobs of schedules when they are due. */
export function scheduler(all: readonly ScheduledJob[], store: ScheduleStore, settings: Settings, log: FastifyBaseLogger) {
  const { queue } = settings
  const { clock = systemClock, capabilities } = queue
  const names = all.map(({ schedule }) => schedule.name)
  const declaredNow = () => all.map(({ schedule }) => declared(schedule, clock.now()))
  const report = outageLog(log)
  const decide = scheduleDecisions(settings, log)
  const state = { isStopped: false, isWanted: false }
  let running: Promise<void> | undefined
  let forget: (() => void) | undefined
  const unfollow = clock.follow?.({ moveBy: async () => {}, isBusy: () => running !== undefined })

  function check() {
    forget?.()
    state.isWanted = true
    running ??= checks().finally(() => void (running = undefined))
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
      await store.declare(declaredNow(), now, false)
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
        return decide(job, due, now, transaction)
      })
      if (isStarted) queue.kick(queueOf(type))
      if (checkAt > clock.now() || state.isStopped) return checkAt
    }
  }

  return {
    check,
    async start() {
      await store.declare(declaredNow(), clock.now(), true)
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

function declared({ name, job, timing }: Schedule, now: number): DeclaredSchedule {
  return { name, job: job.name, timing: timing.text, nextAt: timing.next(now) }
}

/** Whether a process declared the schedule lately, by a clock that agrees with ours. Another timing is that of another release, while its processes run. */
function isCurrent({ name, timing }: Schedule, rows: readonly StoredSchedule[], now: number) {
  const row = rows.find((stored) => stored.name === name)
  return row !== undefined && Math.abs(now - row.seenAt) <= (row.timing === timing.text ? seenMs : staleMs)
}
