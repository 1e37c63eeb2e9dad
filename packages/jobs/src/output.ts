import type { Job } from './job.ts'
import type { Settings } from './options.ts'
import { pacer } from './pace.ts'
import { requireStorable } from './storable.ts'
import type { JobStore } from './stores/store.ts'
import type { StoredJob } from './stores/stored-job.ts'

/** Reads the output of a job, each piece when the consumer requests it. */
export async function* outputOf({ id }: Pick<StoredJob, 'id'>, { store }: Pick<Settings, 'store'>): AsyncGenerator<string> {
  const pause = pacer()
  for (let number = 1; ; number += 1) {
    const piece = await store.readPiece(id, number)
    if (piece === undefined) return
    yield piece
    await pause()
  }
}

/** Creates the function that stores the output of an attempt, piece by piece. It throws once the attempt has ended. */
export function outputWriter({ name }: Pick<Job, 'name'>, { id, attempt }: StoredJob, signal: AbortSignal, store: JobStore) {
  const pause = pacer()
  let number = 0
  return async (piece: string) => {
    signal.throwIfAborted()
    requireStorable(piece, `a piece of the output of ${name}`)
    if (!(await store.append(id, attempt, (number += 1), piece)))
      throw new Error(`jobs: attempt ${attempt} of ${name} has ended and cannot write its output.`)
    await pause()
  }
}
