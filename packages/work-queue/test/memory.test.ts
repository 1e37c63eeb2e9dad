import { casesOf } from '@concordat/test-harness/contract-cases'
import { turns } from '@concordat/test-harness/until'
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

t.test('closing waits for the job that is running', async (t) => {
  const queue = memoryWorkQueue()
  await queue.define('work')
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  queue.work('work', async () => (begun.resolve(), await end.promise, { done: true }), { concurrency: 1 })
  await queue.enqueue('work', [{ payload: 1 }])
  await begun.promise
  let isClosed = false
  const closed = Promise.resolve(queue.close()).then(() => (isClosed = true))
  await turns()
  t.notOk(isClosed)
  end.resolve()
  await closed
})
