import type { Settings } from './options.ts'
import { queueOf } from './start-job.ts'
import { transitions } from './states.ts'

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/**
 * Starts a failed job again, and returns whether it did. The record is changed first: a worker ignores a job whose record has ended. When the second step
 * is lost, the record is queued, and a repetition takes that step.
 */
export async function retryJob(id: string, { store, queue }: Settings): Promise<boolean> {
  const record = uuid.test(id) ? await store.read(id) : undefined
  if (record === undefined) return false
  const { from, to } = transitions.restart
  await store.change(id, { states: from }, { state: to, tries: 0, progress: 0 })
  return (await queue.redrive(queueOf({ name: record.type }), [id])) > 0
}
