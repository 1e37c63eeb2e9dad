export { scheduleStoreContract } from './schedule-contract.ts'
export { jobStoreContract } from './store-contract.ts'
