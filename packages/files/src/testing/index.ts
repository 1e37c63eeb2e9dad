export { fileStoreContract } from './store-contract.ts'
