import { casesOf } from '@concordat/test-harness/contract-cases'
import { memoryWorkQueue } from '@concordat/work-queue'
import { testClock, workQueueContract } from '@concordat/work-queue/testing'
import t from 'tap'

workQueueContract(casesOf(t), () => {
  const clock = testClock()
  return { clock, queue: memoryWorkQueue({ clock }) }
})

t.test('a queue with many jobs of one key finds a job of another key without scanning them, and the keys take turns', async (t) => {
  const queue = memoryWorkQueue()
  t.teardown(() => queue.close(0))
  const begun: unknown[] = []
  const { promise: over, resolve } = Promise.withResolvers<void>()
  await queue.define('work')
  const jobs = Array.from({ length: 20_000 }, () => ({ payload: 'loud', key: 'loud' }))
  for (let first = 0; first < jobs.length; first += 100) await queue.enqueue('work', jobs.slice(first, first + 100))
  await queue.enqueue('work', [{ payload: 'quiet', key: 'quiet' }])
  queue.work(
    'work',
    async ({ payload }) => {
      begun.push(payload)
      if (begun.length > jobs.length) resolve()
      return { done: true }
    },
    { concurrency: 10, perKey: 2 }
  )
  await over
  t.equal(begun.indexOf('quiet'), 1)
})
