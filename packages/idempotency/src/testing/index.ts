export type { StoreContractOptions } from './store-contract/scene.ts'
export { idempotencyStoreContract } from './store-contract.ts'
