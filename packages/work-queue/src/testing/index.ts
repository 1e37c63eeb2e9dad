export type { QueueUnderTest } from './contract-queue.ts'
export { workQueueContract } from './queue-contract.ts'
export { type TestClock, testClock } from './test-clock.ts'
