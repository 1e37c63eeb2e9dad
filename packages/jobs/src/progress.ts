import type { FastifyBaseLogger } from 'fastify'
import type { Settings } from './options.ts'
import type { StoredJob } from './stores/stored-job.ts'

const betweenProgressMs = 500

/** Creates the function that stores how much of an attempt is done, and one that waits until it is stored. */
export function progressWriter({ id, attempt }: StoredJob, { store, now }: Settings, log: FastifyBaseLogger) {
  let [percent, writtenAt] = [0, Number.NEGATIVE_INFINITY]
  let writing: Promise<unknown> = Promise.resolve()
  const write = () => store.change(id, { states: ['processing'], attempt }, { progress: percent })

  return {
    progress: (done: number, total = 100) => {
      const reached = total > 0 && Number.isFinite(done) ? Math.min(100, Math.max(0, (done / total) * 100)) : 0
      percent = Math.max(percent, Math.round(reached * 10) / 10)
      if (now() - writtenAt < betweenProgressMs) return
      writtenAt = now()
      writing = writing.then(write).catch((err: unknown) => log.warn({ err }, 'jobs: progress could not be written'))
    },
    end: () => writing
  }
}
