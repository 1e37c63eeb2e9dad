import { memoryQueue, testClock, workQueueContract } from '@concordat/work-queue'
import t from 'tap'

workQueueContract(
  (title, run) => t.test(title, run),
  () => {
    const clock = testClock()
    return { clock, queue: memoryQueue(clock) }
  }
)
