export { memoryWorkQueue } from './memory-queue.ts'
export { type Clock, type QueueSettings, readQueueSettings, readWorkOptions, systemClock, type WorkOptions } from './options.ts'
export {
  type Claim,
  type Handler,
  type Item,
  type Outcome,
  retryAfterThrowSeconds,
  type Stop,
  type Transaction,
  type WorkQueue
} from './work-queue.ts'
