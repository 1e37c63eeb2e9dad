export { workQueueContract } from './queue-contract.ts'
export { type TestClock, testClock } from './test-clock.ts'
