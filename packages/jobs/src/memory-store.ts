import { memorySchedules } from './memory-schedules.ts'
import type { JobStore, StoredJob } from './store.ts'

/** Creates a job store in the memory of this process, for use with an in-memory queue in tests and development. */
export function memoryJobStore(): JobStore {
  const jobs = new Map<string, StoredJob>()
  const outputs = new Map<string, string[]>()
  return {
    schedules: memorySchedules(jobs),
    async add(job, _transaction, maxOpen = Number.POSITIVE_INFINITY) {
      const existing = jobs.get(job.id)
      if (existing !== undefined) return existing
      const isOpen = ({ type, owner, expiresAt }: StoredJob) => type === job.type && owner === job.owner && expiresAt === undefined
      if ([...jobs.values()].filter(isOpen).length >= maxOpen) return 'full'
      jobs.set(job.id, structuredClone(job))
      return undefined
    },
    async read(id) {
      return structuredClone(jobs.get(id))
    },
    async list({ type, owner, now, descending, offset, limit }) {
      const all = [...jobs.values()]
        .filter((job) => job.type === type && job.owner === owner && (job.expiresAt ?? Number.POSITIVE_INFINITY) > now)
        .sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1))
      if (descending) all.reverse()
      const onPage = all.slice(offset, offset + limit).map(({ id, state, createdAt, ...job }) => ({
        id,
        state,
        createdAt,
        ...('result' in job && { result: structuredClone(job.result) })
      }))
      return { jobs: onPage, total: all.length }
    },
    async change(id, { states, attempt }, change) {
      const job = jobs.get(id)
      if (job === undefined || !states.includes(job.state) || (attempt !== undefined && job.attempt !== attempt)) return false
      const next: { -readonly [Name in keyof StoredJob]: StoredJob[Name] } = { ...job, ...structuredClone(change) }
      if (change.state === 'queued') for (const name of ['error', 'expiresAt'] as const) delete next[name]
      jobs.set(id, next)
      if (change.state !== undefined && change.state !== 'completed') outputs.delete(id)
      return true
    },
    async append(id, attempt, number, piece) {
      const job = jobs.get(id)
      if (job?.state !== 'processing' || job.attempt !== attempt) return false
      outputs.set(id, [...(outputs.get(id) ?? []).slice(0, number - 1), piece])
      return true
    },
    async readPiece(id, number) {
      return outputs.get(id)?.[number - 1]
    },
    async sweep(expiredBefore, maximum) {
      const isExpired = ({ expiresAt = Number.POSITIVE_INFINITY }: StoredJob) => expiresAt < expiredBefore
      const expired = [...jobs.values()].filter(isExpired).slice(0, maximum)
      for (const { id } of expired) for (const one of [jobs, outputs]) one.delete(id)
      return expired.length
    }
  }
}
