export { jobStoreContract } from './store-contract.ts'
