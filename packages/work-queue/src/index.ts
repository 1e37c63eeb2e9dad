export { memoryWorkQueue } from './memory-queue.ts'
export { type Clock, readQueueSettings, readWorkOptions, systemClock } from './options.ts'
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
