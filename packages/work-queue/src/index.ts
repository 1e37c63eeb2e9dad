export { memoryWorkQueue } from './memory-queue.ts'
export { observedQueue, queueGauges } from './observed-queue.ts'
export { type Clock, readQueueSettings, readWorkOptions, systemClock } from './options.ts'
export {
  type Claim,
  type Handler,
  type Item,
  type Outcome,
  type QueueBacklog,
  retryAfterThrowSeconds,
  type Stop,
  type Transaction,
  type WorkQueue
} from './work-queue.ts'
