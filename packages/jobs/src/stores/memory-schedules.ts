import { type ScheduleStore, type StoredSchedule, seenMs, staleMs } from './schedule-store.ts'
import type { StoredJob } from './stored-job.ts'

type Row = Omit<StoredSchedule, 'lastJob'> & { readonly lastJobId?: string | undefined }

/** Creates a store of schedules in the memory of this process. `jobs` are those of the job store. */
export function memorySchedules(jobs: ReadonlyMap<string, StoredJob>): ScheduleStore {
  const rows = new Map<string, Row>()

  function shown({ lastJobId = '', ...row }: Row): StoredSchedule {
    const job = jobs.get(lastJobId)
    return { ...row, ...(job && { lastJob: { id: job.id, state: job.state, createdAt: job.createdAt, expiresAt: job.expiresAt } }) }
  }

  return {
    async list(names) {
      const found = [...rows.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
      return (names === undefined ? found.slice(0, 1000) : found.filter(({ name }) => names.includes(name))).map(shown)
    },
    async declare(schedules, now, isStart) {
      for (const schedule of schedules) {
        const stored = rows.get(schedule.name)
        const isSame = stored?.timing === schedule.timing
        if (stored !== undefined && !isSame && !isStart && Math.abs(now - stored.seenAt) <= staleMs) continue
        const nextAt = isSame && stored.seenAt <= now + seenMs ? stored.nextAt : schedule.nextAt
        rows.set(schedule.name, { isPaused: false, ...stored, ...schedule, nextAt, seenAt: now })
      }
    },
    async decide(name, decide) {
      const row = rows.get(name)
      const decision = row && (await decide(shown(row)))
      if (decision === undefined) return
      const { endsRequest, ...changes } = decision
      rows.set(name, { ...(rows.get(name) as Row), ...changes, ...(endsRequest && { requestedAt: undefined }) })
    },
    async change(name, change) {
      const row = rows.get(name)
      if (row !== undefined) rows.set(name, { ...row, ...change })
      return row !== undefined
    },
    async sweep(seenBefore) {
      for (const { name, seenAt } of rows.values()) if (seenAt < seenBefore) rows.delete(name)
    }
  }
}
