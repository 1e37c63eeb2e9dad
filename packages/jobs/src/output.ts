import type { Settings } from './options.ts'
import { pacer } from './pace.ts'
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
