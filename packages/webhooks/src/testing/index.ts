export { webhookStoreContract } from './store-contract.ts'
