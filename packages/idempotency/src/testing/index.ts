export { idempotencyStoreContract } from './store-contract.ts'
