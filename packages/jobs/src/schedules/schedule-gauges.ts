import type { Gauges } from '@concordat/plugin-kit/observer'
import { resultMs } from '../options.ts'
import type { ScheduleStore } from '../stores/schedule-store.ts'

const last = {
  name: 'concordat.schedule.last_run.age',
  unit: 's',
  description: 'Time since the planned time of the last run of a schedule.'
}
const next = {
  name: 'concordat.schedule.next_run.delay',
  unit: 's',
  description: 'Time until the next run of a schedule; below 0 when it is late.'
}
const took = {
  name: 'concordat.schedule.last_run.duration',
  unit: 's',
  description: 'Duration of the last run of a schedule that ended, with its wait.'
}
const failed = { name: 'concordat.schedule.last_run.failed', unit: '1', description: 'Whether the last run of a schedule failed: 1 or 0.' }

/** Returns what operators can read of the schedules of this process. */
export function scheduleGauges(store: ScheduleStore, names: () => readonly string[], now: () => number): Gauges {
  return {
    metrics: [last, next, took, failed],
    async read() {
      const at = now()
      return (await store.list(names())).flatMap(({ name, nextAt, lastAt, lastJob, isPaused }) => {
        const attributes = { 'schedule.name': name }
        const endedAt = lastJob?.expiresAt === undefined ? undefined : lastJob.expiresAt - resultMs
        return [
          ...(lastAt === undefined ? [] : [{ metric: last, value: (at - lastAt) / 1000, attributes }]),
          ...(isPaused ? [] : [{ metric: next, value: (nextAt - at) / 1000, attributes }]),
          ...(lastJob === undefined || endedAt === undefined
            ? []
            : [{ metric: took, value: (endedAt - lastJob.createdAt) / 1000, attributes }]),
          ...(lastJob === undefined ? [] : [{ metric: failed, value: lastJob.state === 'failed' ? 1 : 0, attributes }])
        ]
      })
    }
  }
}
