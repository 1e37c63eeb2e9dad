export { rateLimitStoreContract } from './store-contract.ts'
