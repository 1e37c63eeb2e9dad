export { auditTrailStoreContract } from './store-contract.ts'
