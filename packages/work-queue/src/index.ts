export { type Clock, systemClock } from './clock.ts'
export { type MemoryWorkQueueOptions, memoryWorkQueue } from './memory-queue.ts'
export * from './work-queue.ts'
